#include "transports/rdma/preflight.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

namespace netbench::rdma {
namespace {

namespace fs = std::filesystem;

/// The words of the line of `file` that begins with `prefix`, without it.
std::vector<std::string> words_after(const fs::path& file, std::string_view prefix) {
  std::ifstream stream(file);
  for (std::string line; std::getline(stream, line);) {
    if (line.starts_with(prefix)) {
      std::istringstream rest(line.substr(prefix.size()));
      return {std::istream_iterator<std::string>(rest), {}};
    }
  }
  return {};
}

template <class Number>
std::optional<Number> parse(const std::string& text, int base = 10) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  return error == std::errc{} && end == text.data() + text.size() ? std::optional(value)
                                                                  : std::nullopt;
}

Check failed(const char* id, const char* slug, std::string message, std::string remedy) {
  return {id, Verdict::failed, std::move(message), std::move(remedy), slug};
}

struct StateText {
  PortState state;
  LinkLayer layer;
  const char* meaning;
  const char* remedy;
};

constexpr std::array kStates = {
    StateText{PortState::down, LinkLayer::infiniband, "no link",
              "see phys_state: cable, transceiver, or the switch's port"},
    StateText{PortState::init, LinkLayer::infiniband,
              "the link is up, but no subnet manager has configured it",
              "start a subnet manager (opensm, or the switch's)"},
    StateText{PortState::armed, LinkLayer::infiniband, "the subnet manager has not finished",
              "see the subnet manager's log"},
    StateText{PortState::down, LinkLayer::ethernet, "its interface is down or has no carrier",
              "ip link set the interface up; see its carrier"},
    StateText{PortState::down, LinkLayer::iwarp, "its interface is down or has no carrier",
              "ip link set the interface up; see its carrier"},
};

std::string first_interface(const PortDescription& port) {
  const auto at =
      std::ranges::find_if(port.gids, [](const GidEntry& gid) { return !gid.interface.empty(); });
  return at != port.gids.end() ? at->interface : "";
}

}  // namespace

PinLimit read_pin_limit(const std::string& root) {
  constexpr unsigned int kCapIpcLock = 14;  // capability.h
  const fs::path self = fs::path(root) / "proc/self";
  const std::vector<std::string> limit = words_after(self / "limits", "Max locked memory");
  const std::vector<std::string> caps = words_after(self / "status", "CapEff:");
  PinLimit found;
  if (!caps.empty()) {
    const std::optional<std::uint64_t> mask = parse<std::uint64_t>(caps[0], 16);
    found.cap_ipc_lock = mask && ((*mask >> kCapIpcLock) & 1) != 0;
  }
  if (limit.empty() || caps.empty()) {
    found.unknown_because = "cannot read limits and CapEff in " + self.string();
  } else if (limit[0] != "unlimited") {
    found.memlock_bytes = parse<std::uint64_t>(limit[0]);
    found.unknown_because = found.memlock_bytes ? "" : "cannot read \"" + limit[0] + "\"";
  }
  return found;
}

Check check_pin_limit(const PinLimit& limit, std::uint64_t bytes_to_pin) {
  const std::string wanted = std::to_string(bytes_to_pin) + " B to pin";
  if (limit.cap_ipc_lock) {
    return {"memlock", Verdict::passed, wanted + ", with CAP_IPC_LOCK", "", ""};
  }
  if (!limit.unknown_because.empty()) {
    return {"memlock", Verdict::unknown, limit.unknown_because, "", ""};
  }
  if (!limit.memlock_bytes || *limit.memlock_bytes >= bytes_to_pin) {
    return {"memlock", Verdict::passed,
            wanted + ", the limit is " +
                (limit.memlock_bytes ? std::to_string(*limit.memlock_bytes) + " B" : "unlimited"),
            "", ""};
  }
  return failed("memlock", "rdma-memlock",
                wanted + ", but this process may lock " + std::to_string(*limit.memlock_bytes) +
                    " B (RLIMIT_MEMLOCK) and has no CAP_IPC_LOCK",
                "ulimit -l " + std::to_string((bytes_to_pin + 1023) / 1024) +
                    " where this process starts (limits.conf, or LimitMEMLOCK= of its unit)");
}

Check check_port_state(const PortDescription& port) {
  const std::string what = rail_name(port) + " is " + name_of(port.state);
  if (port.state == PortState::active || port.state == PortState::unknown) {
    return {"port-state", port.state == PortState::active ? Verdict::passed : Verdict::unknown,
            what, "", ""};
  }
  const auto* row = std::ranges::find_if(kStates, [&port](const StateText& text) {
    return text.state == port.state && text.layer == port.link_layer;
  });
  return row != kStates.end()
             ? failed("port-state", "rdma-port-not-active", what + ": " + row->meaning, row->remedy)
             : failed("port-state", "rdma-port-not-active", what, "see `rdma link`");
}

Check check_mtu(const PortDescription& port, const std::string& root) {
  // What the kernel takes off the interface's MTU before it picks a path MTU: iboe_get_mtu() in
  // include/rdma/ib_addr.h (GRH, UDP, BTH, XRC, atomic header and ICRC).
  constexpr std::uint32_t kHeaderBytes = 40 + 8 + 12 + 4 + 28 + 4;
  const std::string interface = first_interface(port);
  const std::string active =
      rail_name(port) + " has a path MTU of " + std::to_string(port.active_mtu_bytes) + " B";
  if (port.link_layer != LinkLayer::ethernet || port.active_mtu_bytes >= port.max_mtu_bytes) {
    return {"mtu", Verdict::passed, active, "", ""};
  }
  const std::vector<std::string> words =
      words_after(fs::path(root) / "sys/class/net" / interface / "mtu", "");
  if (interface.empty() || words.empty()) {
    return {"mtu", Verdict::unknown, active + "; its interface's MTU cannot be read", "", ""};
  }
  const std::string needed = std::to_string(port.max_mtu_bytes + kHeaderBytes);
  return {
      "mtu", Verdict::warning,
      active + " of " + std::to_string(port.max_mtu_bytes) + " B, since " + interface +
          " has an MTU of " + words[0] + " B",
      "ip link set " + interface + " mtu " + needed + " or more, on both hosts and on the switch",
      ""};
}

std::vector<Check> preflight(const PreflightNeeds& needs, const std::string& root) {
  std::vector<Check> checks;
  if (needs.port != nullptr) {
    checks.push_back(check_device_node(needs.port->device, root));
    checks.push_back(check_port_state(*needs.port));
  }
  checks.push_back(check_pin_limit(read_pin_limit(root), needs.bytes_to_pin));
  if (needs.port != nullptr) {
    checks.push_back(check_mtu(*needs.port, root));
  }
  return checks;
}

Result<void> require(const std::vector<Check>& checks) {
  const auto at = std::ranges::find(checks, Verdict::failed, &Check::verdict);
  if (at == checks.end()) {
    return {};
  }
  return fail(NB_UNAVAILABLE, at->slug, at->message, at->remedy);
}

}  // namespace netbench::rdma
