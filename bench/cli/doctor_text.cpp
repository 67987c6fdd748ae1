#include "bench/cli/doctor_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <vector>

#include "report/render/table.hpp"
#include "report/render/verdict_evidence.hpp"

namespace netbench::cli {

namespace {

using report::Tone;
using report::toned;

struct Row {
  std::string_view label;
  std::string_view form;
};

constexpr std::array kHostRows{
    Row{"system", "[{os.name}, ][kernel {kernel.release}]"},
    Row{"machine",
        "[{host.vendor} ][{host.product}, ][{host.virtual_machine?virtual machine}, ]"
        "[container: {host.container!none seen}]"},
    Row{"processor", "[{cpu.model}][, {cpu.online_count} CPUs][, NUMA nodes: {numa.node_count}]"},
    Row{"clock",
        "[{cpu.governor}, ][{cpu.frequency_cur_hz}][ of {cpu.frequency_max_hz}]"
        "[, idle states to {cpu.cstate_deepest_latency_us}]"},
    Row{"CPU limit", "[{cgroup.cpu_limit_cpus} CPUs]"},
    Row{"TCP",
        "[{sysctl.net.ipv4.tcp_congestion_control}][, receive to "
        "{sysctl.net.ipv4.tcp_rmem_max_bytes}][, send to {sysctl.net.ipv4.tcp_wmem_max_bytes}]"},
    Row{"firewall",
        "[{firewall.ruleset}][, input {firewall.input_policy}][, refuses{firewall.input_refuses? }]"
        "[, conntrack {conntrack.count}][ of {conntrack.max}]"},
    Row{"security", "[SELinux {security.selinux!off}, ][AppArmor {security.apparmor!off}]"},
    Row{"GPU software",
        "[driver {nvidia.driver}, ][CUDA {cuda.version}, ][NCCL {nccl.version}, ]"
        "[OFED {ofed.version}]"},
};

constexpr std::array kPathRows{
    Row{"interface", "{if.*.stack}"},
    Row{"address",
        "[{@address}][ /{path.prefix_length}][, router {path.gateway!none: on the "
        "link}][, {path.same_subnet?same subnet}]"},
    Row{"neighbour", "[{neighbour.state}][, {neighbour.mac}]"},
    Row{"peer's name", "[{name.peer}][ is {name.peer_resolves_to}]"},
    Row{"link",
        "[{if.*.speed_bps}][ of {if.*.speed_max_bps}][, {if.*.duplex} duplex]"
        "[, {if.*.downshift?stepped down}][, carrier {if.*.carrier}]"},
    Row{"MTU", "[{if.*.mtu_bytes}][ (at most {if.*.max_mtu_bytes})]"},
    Row{"driver", "[{if.*.driver}][ {if.*.driver_version}][, firmware {if.*.firmware}]"},
    Row{"offloads", "[TSO {if.*.offload.tso}][, GSO {if.*.offload.gso}][, GRO {if.*.offload.gro}]"},
    Row{"rings",
        "[receive {if.*.ring.rx_descriptors} of {if.*.ring.rx_max_descriptors}]"
        "[, {if.*.channels.combined!0} channels]"},
    Row{"flow, FEC",
        "[pause receive {if.*.pause.rx}][ send {if.*.pause.tx}][, FEC {if.*.fec.active}]"
        "[, EEE {if.*.eee.enabled}]"},
    Row{"queueing", "[{qdisc.*.kind}][ of {qdisc.*.children}][, {qdisc.*.rate_bps}]"},
    Row{"bond", "[{bond.*.mode}][, {bond.*.xmit_hash_policy}][, members {bond.*.members}]"},
    Row{"module",
        "[{if.*.module.kind}][ {if.*.module.part}][, {if.*.module.temperature_c}]"
        "[, light in {if.*.module.rx_power_dbm}]"},
    Row{"switch", "[{if.*.lldp.system}][, port {if.*.lldp.port}]"},
    Row{"slot",
        "[x{if.*.pcie.width_lanes}][ of x{if.*.pcie.max_width_lanes}]"
        "[, {if.*.pcie.speed_gtps}][ of {if.*.pcie.max_speed_gtps} GT/s]"
        "[, node {if.*.numa_node}][, IOMMU {if.*.iommu_group_type}]"},
    Row{"interrupts",
        "[{if.*.irq.count}][ on CPUs {if.*.irq.cpus}][, of them far: "
        "{if.*.irq.far_cpus!none}]"},
};

struct Column {
  std::string_view heading;
  std::string_view form;
};
constexpr std::array kInterfaceColumns{
    Column{"interface", "{if.*.stack}"},
    Column{"driver", "{if.*.driver}"},
    Column{"carrier", "{if.*.carrier}"},
    Column{"speed", "[{if.*.speed_bps}][ of {if.*.speed_max_bps}]"},
    Column{"MTU", "{if.*.mtu_bytes}"},
    Column{"slot", "[x{if.*.pcie.width_lanes}][ of x{if.*.pcie.max_width_lanes}]"},
    Column{"node", "{if.*.numa_node}"},
    Column{"interrupts", "[CPUs {if.*.irq.cpus}]"},
    Column{"queueing", "{qdisc.*.kind}"},
    Column{"switch", "[{if.*.lldp.system}][ {if.*.lldp.port}]"},
};

constexpr std::size_t kLabelWidth = 14;
constexpr std::size_t kGap = 2;
constexpr int kLeastWidth = 40;
constexpr std::string_view kBoth = "  (both)";

std::string cut(const std::string& text, std::size_t width) {
  const std::string plain = report::printable(text);
  if (report::display_width(plain) <= width) {
    return plain;
  }
  std::string shorter = plain.substr(0, width - 1);
  while (!shorter.empty() && (static_cast<unsigned char>(plain[shorter.size()]) & 0xC0U) == 0x80U) {
    shorter.pop_back();  // not inside a character
  }
  return shorter + "…";
}

std::string padded(const std::string& text, std::size_t width) {
  const auto used = report::display_width(text);
  return text + std::string(width > used ? width - used : 0, ' ');
}

/// The hosts beside each other, a line a row.
class SideBySide {
 public:
  SideBySide(const Document& document, const DoctorTextOptions& options) : color_(options.color) {
    for (const auto& [id, host] : document.hosts) {
      hosts_.push_back(&host);
    }
    width_ = static_cast<std::size_t>(std::max(options.width, kLeastWidth));
    column_ = (width_ - kLabelWidth) / std::max<std::size_t>(hosts_.size(), 1) - kGap;
  }

  void heading() {
    std::vector<std::string> names;
    for (const auto* host : hosts_) {
      names.push_back(host->name.empty() ? "unnamed" : host->name);
    }
    add_line("", names, Tone::strong);
  }

  template <std::size_t N>
  void rows(const std::array<Row, N>& rows) {
    for (const auto& row : rows) {
      std::vector<std::string> cells;
      for (const auto* host : hosts_) {
        cells.push_back(filled_in(row.form, *host, host->interface));
      }
      if (std::ranges::any_of(cells, [](const auto& cell) { return !cell.empty(); })) {
        add_line(row.label, cells, Tone::plain);
      }
    }
  }

  [[nodiscard]] std::string take() { return std::move(text_); }

 private:
  // What is the same on both hosts stands once, so that what differs stands out.
  void add_line(std::string_view label, const std::vector<std::string>& cells, Tone tone) {
    std::string line = padded(std::string(label), kLabelWidth);
    const bool row = tone == Tone::plain && cells.size() > 1;
    const bool same = row && std::ranges::count(cells, cells.front()) == std::ssize(cells);
    if (same) {
      line += cut(cells.front(), width_ - kLabelWidth - kBoth.size());
      line += toned(std::string(kBoth), Tone::faint, color_);
    }
    for (std::size_t i = 0; !same && i < cells.size(); ++i) {
      const std::string cell = cut(cells[i].empty() ? "unknown" : cells[i], column_);
      line += toned(i + 1 < cells.size() ? padded(cell, column_ + kGap) : cell,
                    row ? Tone::strong : tone, color_);
    }
    text_ += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }

  std::vector<const HostInfo*> hosts_;
  std::size_t width_ = 0;
  std::size_t column_ = 0;  // of one host
  bool color_;
  std::string text_;
};

std::vector<std::string> interfaces_of(const HostInfo& host) {
  constexpr std::string_view kPrefix = "if.";
  constexpr std::string_view kSuffix = ".stack";
  std::vector<std::string> names;
  for (const auto& fact : host.facts) {
    if (fact.key.starts_with(kPrefix) && fact.key.ends_with(kSuffix)) {
      names.push_back(
          fact.key.substr(kPrefix.size(), fact.key.size() - kPrefix.size() - kSuffix.size()));
    }
  }
  return names;
}

std::string interface_table(const HostInfo& host, const DoctorTextOptions& options) {
  report::Table table;
  for (const auto& column : kInterfaceColumns) {
    table.columns.push_back({std::string(column.heading), "", true});
  }
  for (const auto& name : interfaces_of(host)) {
    report::TableRow row;
    for (const auto& column : kInterfaceColumns) {
      row.cells.push_back(report::printable(filled_in(column.form, host, name)));
    }
    table.rows.push_back(std::move(row));
  }
  report::drop_empty_columns(table);
  return report::table_text(std::move(table), options.width, options.color);
}

std::string counted(const Document& document) {
  std::size_t known = 0;
  std::size_t unknown = 0;
  for (const auto& [id, host] : document.hosts) {
    for (const auto& fact : host.facts) {
      ++(fact.value == Value{} ? unknown : known);
    }
  }
  return fmt::format("{} facts, {} more unknown; --all shows each with its source or the reason\n",
                     known, unknown);
}

std::string every_fact(const Document& document, const DoctorTextOptions& options) {
  std::string text;
  for (const auto& [id, host] : document.hosts) {
    text += toned(fmt::format("{} ({})", report::printable(host.name), id), Tone::strong,
                  options.color) +
            "\n";
    for (const auto& fact : host.facts) {
      const bool known = fact.value != Value{};
      const std::string value =
          known ? report::quantity_text(fact.key, fact.value) : "unknown: " + fact.unknown_because;
      text += fmt::format(
          "  {:<46} {}  {}\n", report::printable(fact.key), report::printable(value),
          toned("[" + report::printable(fact.source) + "]", Tone::faint, options.color));
    }
    text += "\n";
  }
  return text;
}

}  // namespace

std::string doctor_text(const Document& document, const DoctorTextOptions& options) {
  if (options.all) {
    return every_fact(document, options);
  }
  SideBySide hosts(document, options);
  hosts.heading();
  hosts.rows(kHostRows);
  const bool several =
      document.hosts.size() == 1 && interfaces_of(document.hosts.begin()->second).size() > 1;
  if (!several) {
    hosts.rows(kPathRows);
  }
  std::string text = hosts.take();
  if (several) {
    text += interface_table(document.hosts.begin()->second, options);
  }
  return text + counted(document);
}

}  // namespace netbench::cli
