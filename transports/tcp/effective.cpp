#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <fstream>
#include <string>

#include "transports/tcp/bulk_flow.hpp"
#include "transports/tcp/session.hpp"
#include "transports/tcp/socket.hpp"
#include "transports/tcp/tcp_info.hpp"

namespace netbench::tcp {
namespace {

/// What an effective value is told from: the point, one of its connections (−1: none), the sink.
struct Report {
  const Options& options;
  int fd;
  const sdk::EffectiveSink& sink;
};

std::string sysctl_value(const std::string& name) {
  std::ifstream file("/proc/sys/net/core/" + name);
  std::string value;
  return file >> value ? value : "unknown";
}

/// The kernel keeps twice what was asked for, and at most twice the sysctl (socket(7)).
void report_buffer(const Report& report, const char* name, int option,
                   const std::optional<std::int64_t>& asked, const std::string& sysctl) {
  const std::int64_t effective = get_option<int>(report.fd, SOL_SOCKET, option).value_or(0);
  if (!asked || effective >= 2 * *asked) {
    report.sink.number(name, effective);
    return;
  }
  report.sink.capped(name, effective,
                     "asked for " + std::to_string(*asked) +
                         " B (kept doubled), limited by net.core." + sysctl + "=" +
                         sysctl_value(sysctl) + "; raise it: sysctl -w net.core." + sysctl + "=" +
                         std::to_string(*asked));
}

void report_sndbuf(const Report& report) {
  report_buffer(report, "sndbuf", SO_SNDBUF, report.options.sndbuf, "wmem_max");
}

void report_rcvbuf(const Report& report) {
  report_buffer(report, "rcvbuf", SO_RCVBUF, report.options.rcvbuf, "rmem_max");
}

/// IP and TCP headers without options.
std::int64_t header_bytes(int fd) {
  return get_option<int>(fd, SOL_SOCKET, SO_DOMAIN).value_or(AF_INET) == AF_INET6 ? 60 : 40;
}

/// Timestamps take 12 bytes of every segment (RFC 7323, appendix A), which TCP_MAXSEG includes and
/// snd_mss does not.
void report_mss(const Report& report) {
  constexpr std::int64_t kTimestampBytes = 12;
  const TcpInfo info = TcpInfo::read(report.fd);
  const auto effective = static_cast<std::int64_t>(info.snd_mss().value_or(0));
  const std::int64_t on_wire = effective + (info.has_timestamps() ? kTimestampBytes : 0);
  const auto& asked = report.options.mss;
  if (asked && on_wire < *asked) {
    report.sink.capped("mss", effective,
                       "asked for " + std::to_string(*asked) +
                           " B, limited by the path MTU or the peer; raise the MTU of both "
                           "interfaces: ip link set dev <interface> mtu " +
                           std::to_string(*asked + header_bytes(report.fd)));
  } else if (asked && effective < *asked) {
    report.sink.noted("mss", effective, "12 B of each segment hold the timestamp option");
  } else {
    report.sink.number("mss", effective);
  }
}

void report_nodelay(const Report& report) {
  report.sink.number("nodelay",
                     get_option<int>(report.fd, IPPROTO_TCP, TCP_NODELAY).value_or(0) != 0 ? 1 : 0);
}

void report_congestion(const Report& report) {
  report.sink.text("congestion", congestion_of(report.fd));
}

void report_streams(const Report& report) { report.sink.number("streams", report.options.streams); }

template <std::size_t N>
void report_choice(const Report& report, const char* name, const std::array<nb_choice, N>& choices,
                   std::int64_t index) {
  report.sink.choice(name, index, choices[static_cast<std::size_t>(index)].name);
}

void report_wait(const Report& report) {
  report_choice(report, "wait", kWaitChoices, static_cast<std::int64_t>(report.options.wait));
}

void report_mode(const Report& report) {
  report_choice(report, "mode", kModeChoices, static_cast<std::int64_t>(report.options.mode));
}

void report_receive(const Report& report) {
  report_choice(report, "receive", kReceiveChoices,
                static_cast<std::int64_t>(report.options.receive));
}

void report_lowat(const Report& report) {
  const std::int64_t effective = get_option<int>(report.fd, SOL_SOCKET, SO_RCVLOWAT).value_or(1);
  const auto& asked = report.options.lowat;
  if (asked && report.options.receives_bulk() && effective < *asked) {
    report.sink.capped("lowat", effective,
                       "asked for " + std::to_string(*asked) +
                           " B, limited to half the receive buffer: raise rcvbuf, or "
                           "net.ipv4.tcp_rmem");
  } else {
    report.sink.number("lowat", effective);
  }
}

void report_cpu(const Report& report) { report.sink.text("cpu", report.options.cpu_text); }

/// The address the first connection really has on this end.
void report_bind(const Report& report) {
  Address local;
  local.length = sizeof local.storage;
  if (report.fd < 0 ||
      ::getsockname(report.fd, reinterpret_cast<sockaddr*>(&local.storage), &local.length) != 0) {
    report.sink.text("bind", report.options.bind.value_or("auto"));
    return;
  }
  report.sink.text("bind", local.text());
}

void report_dscp(const Report& report) {
  const auto v4 = get_option<int>(report.fd, IPPROTO_IP, IP_TOS);
  const auto v6 = get_option<int>(report.fd, IPPROTO_IPV6, IPV6_TCLASS);
  const int traffic_class = std::max(v4.value_or(0), v6.value_or(0));
  report.sink.number("dscp", report.fd < 0 ? report.options.dscp : traffic_class >> 2);
}

void report_pacing(const Report& report) {
  const auto rate = get_option<std::uint64_t>(report.fd, SOL_SOCKET, SO_MAX_PACING_RATE);
  const bool limited = rate && *rate != UINT64_MAX && *rate != UINT32_MAX;
  report.sink.number("pacing", limited ? static_cast<std::int64_t>(*rate) * 8 : NB_AUTO);
}

/// Without a NAPI instance behind the connection there is no queue to poll (loopback, veth).
void report_busy_poll(const Report& report) {
  const auto microseconds = get_option<int>(report.fd, SOL_SOCKET, SO_BUSY_POLL).value_or(0);
  const auto napi = get_option<unsigned>(report.fd, SOL_SOCKET, SO_INCOMING_NAPI_ID).value_or(0);
  const std::int64_t effective = std::int64_t{microseconds} * 1000;
  if (effective > 0 && napi == 0) {
    report.sink.noted("busy_poll", effective, "not effective: no NIC queue behind the connection");
  } else {
    report.sink.number("busy_poll", effective);
  }
}

void report_load(const Report& report) { report.sink.number("load", report.options.load); }

void report_load_direction(const Report& report) {
  report_choice(report, "load_direction", kLoadDirectionChoices,
                static_cast<std::int64_t>(report.options.load_direction));
}

void report_rate(const Report& report) { report.sink.number("rate", report.options.rate_hz); }

/// Nothing in the kernel shows them: what the threads keep to.
void report_read_rate(const Report& report) {
  report.sink.number("read_rate", report.options.read_rate_bps.value_or(NB_AUTO));
}
void report_write_rate(const Report& report) {
  report.sink.number("write_rate", report.options.write_rate_bps.value_or(NB_AUTO));
}

void report_writes(const Report& report) { report.sink.number("writes", report.options.writes); }

/// In the order of kTunableRows.
constexpr std::array<void (*)(const Report&), kTunableRows.size()> kReports = {
    &report_sndbuf,  &report_rcvbuf,         &report_mss,  &report_nodelay,   &report_congestion,
    &report_streams, &report_wait,           &report_mode, &report_receive,   &report_lowat,
    &report_cpu,     &report_bind,           &report_dscp, &report_pacing,    &report_busy_poll,
    &report_load,    &report_load_direction, &report_rate, &report_read_rate, &report_write_rate,
    &report_writes};

}  // namespace

void report_effective(const Options& options, std::span<const int> fds,
                      const sdk::EffectiveSink& sink) {
  // The last connection: of a loaded latency, a bulk stream where there is one.
  const Report report{options, fds.empty() ? -1 : fds.back(), sink};
  for (std::size_t index = 0; index < kReports.size(); ++index) {
    const std::uint64_t workloads = kTunableRows[index].workloads;
    if (workloads == 0 || (workloads & bit(options.workload)) != 0) {
      kReports[index](report);
    }
  }
}

}  // namespace netbench::tcp
