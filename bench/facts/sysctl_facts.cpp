#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "bench/facts/collectors.hpp"
#include "bench/facts/text_files.hpp"

namespace netbench::facts {

namespace {

enum class Kind { integer, text, triple };

struct Sysctl {
  std::string_view name;
  Kind kind;
  std::string_view unit;  // suffix of the key
};

// Documentation/networking/ip-sysctl.rst and Documentation/admin-guide/sysctl/net.rst of Linux.
constexpr std::array kSysctls{
    Sysctl{"net.core.rmem_default", Kind::integer, "_bytes"},
    Sysctl{"net.core.rmem_max", Kind::integer, "_bytes"},
    Sysctl{"net.core.wmem_default", Kind::integer, "_bytes"},
    Sysctl{"net.core.wmem_max", Kind::integer, "_bytes"},
    Sysctl{"net.core.optmem_max", Kind::integer, "_bytes"},
    Sysctl{"net.core.netdev_max_backlog", Kind::integer, "_packets"},
    Sysctl{"net.core.netdev_budget", Kind::integer, "_packets"},
    Sysctl{"net.core.busy_poll", Kind::integer, "_us"},
    Sysctl{"net.core.busy_read", Kind::integer, "_us"},
    Sysctl{"net.core.default_qdisc", Kind::text, ""},
    Sysctl{"net.ipv4.tcp_rmem", Kind::triple, "_bytes"},
    Sysctl{"net.ipv4.tcp_wmem", Kind::triple, "_bytes"},
    Sysctl{"net.ipv4.tcp_congestion_control", Kind::text, ""},
    Sysctl{"net.ipv4.tcp_available_congestion_control", Kind::text, ""},
    Sysctl{"net.ipv4.tcp_allowed_congestion_control", Kind::text, ""},
    Sysctl{"net.ipv4.tcp_timestamps", Kind::integer, ""},
    Sysctl{"net.ipv4.tcp_window_scaling", Kind::integer, ""},
    Sysctl{"net.ipv4.tcp_sack", Kind::integer, ""},
    Sysctl{"net.ipv4.tcp_dsack", Kind::integer, ""},
    Sysctl{"net.ipv4.tcp_ecn", Kind::integer, ""},
    Sysctl{"net.ipv4.tcp_mtu_probing", Kind::integer, ""},
    Sysctl{"net.ipv4.tcp_base_mss", Kind::integer, "_bytes"},
    Sysctl{"net.ipv4.tcp_min_snd_mss", Kind::integer, "_bytes"},
    Sysctl{"net.ipv4.tcp_moderate_rcvbuf", Kind::integer, ""},
    Sysctl{"net.ipv4.tcp_adv_win_scale", Kind::integer, ""},
    Sysctl{"net.ipv4.tcp_slow_start_after_idle", Kind::integer, ""},
    Sysctl{"net.ipv4.tcp_no_metrics_save", Kind::integer, ""},
    Sysctl{"net.ipv4.tcp_autocorking", Kind::integer, ""},
    Sysctl{"net.ipv4.tcp_limit_output_bytes", Kind::integer, ""},
    Sysctl{"net.ipv4.tcp_notsent_lowat", Kind::integer, "_bytes"},
    Sysctl{"net.ipv4.ip_no_pmtu_disc", Kind::integer, ""},
    Sysctl{"net.ipv4.tcp_mem", Kind::triple, "_pages"},
    Sysctl{"net.ipv4.tcp_shrink_window", Kind::integer, ""},
    Sysctl{"net.ipv4.tcp_retries2", Kind::integer, ""},
    Sysctl{"net.ipv4.tcp_tw_reuse", Kind::integer, ""},
    Sysctl{"net.ipv4.tcp_max_syn_backlog", Kind::integer, ""},
    Sysctl{"net.ipv4.ip_local_port_range", Kind::text, ""},
    Sysctl{"net.ipv4.ip_forward", Kind::integer, ""},
    Sysctl{"net.ipv4.conf.all.rp_filter", Kind::integer, ""},
    Sysctl{"net.ipv4.conf.all.arp_filter", Kind::integer, ""},
    Sysctl{"net.ipv4.conf.all.arp_ignore", Kind::integer, ""},
    Sysctl{"net.ipv4.conf.all.arp_announce", Kind::integer, ""},
    Sysctl{"net.ipv6.conf.all.forwarding", Kind::integer, ""},
    Sysctl{"net.core.somaxconn", Kind::integer, ""},
    Sysctl{"net.core.netdev_budget_usecs", Kind::integer, ""},
    Sysctl{"net.core.rps_sock_flow_entries", Kind::integer, ""},
    Sysctl{"kernel.numa_balancing", Kind::integer, ""},
    Sysctl{"vm.zone_reclaim_mode", Kind::integer, ""},
};

std::string path_of(std::string_view name) {
  std::string path = fmt::format("/proc/sys/{}", name);
  std::ranges::replace(path, '.', '/');
  return path;
}

void add_triple(FactList& facts, const Sysctl& sysctl) {
  constexpr std::array<std::string_view, 3> kParts{"_min", "_default", "_max"};
  const std::string path = path_of(sysctl.name);
  const auto text = read_text_file(facts.root(), path);
  const auto words = text ? split_words(*text) : std::vector<std::string_view>{};
  for (std::size_t i = 0; i < kParts.size(); ++i) {
    const auto key = fmt::format("sysctl.{}{}{}", sysctl.name, kParts.at(i), sysctl.unit);
    const auto number = i < words.size() ? to_integer(words[i]) : std::nullopt;
    if (number) {
      facts.add(key, *number, path);
    } else {
      facts.add_unknown(key, path,
                        text ? path + " does not hold three numbers" : text.error().message);
    }
  }
}

}  // namespace

void collect_sysctls(FactList& facts) {
  for (const auto& sysctl : kSysctls) {
    const auto key = fmt::format("sysctl.{}{}", sysctl.name, sysctl.unit);
    switch (sysctl.kind) {
      case Kind::integer:
        facts.add_integer_file(key, path_of(sysctl.name));
        break;
      case Kind::text:
        facts.add_text_file(key, path_of(sysctl.name));
        break;
      case Kind::triple:
        add_triple(facts, sysctl);
        break;
    }
  }
}

}  // namespace netbench::facts
