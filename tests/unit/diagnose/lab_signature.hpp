#pragma once

#include <cmath>
#include <string>

#include "tests/unit/diagnose/builder.hpp"

/// Streams as they were measured in network namespaces with one thing wrong at a time: the same
/// columns, so that a fixture is one line of that table.
namespace netbench::report::test {

struct Signature {
  double mbps = 0;
  double srtt_us = 0;
  double min_us = 0;
  double busy = 1;      // share of the elapsed time
  double rwnd = 0;      // share of the elapsed time
  double sndbuf = 0;    // share of the elapsed time
  double resent = 0;    // share of the segments
  double spurious = 0;  // segments
  double notsent_bytes = 0;
  double sender_blocked = 1;
  double receiver_blocked = 1;
  double sender_cpu = 0.05;
  double receiver_cpu = 0.05;
  double sender_wait = 0;
  double receiver_wait = 0;
  double mss = 1448;
  std::string congestion = "cubic";
  double window_bytes = 3e6;
  double seconds = 5;
};

inline double left_of(double one, double two, double three) {
  return std::max(0.0, 1 - one - two - three);
}

inline RowBuilder row_of(const Signature& s) {
  const double payload = std::floor(s.mbps * 1e6 / 8 * s.seconds / s.mss);
  const double resent = std::floor(payload * s.resent / (1 - s.resent));
  const double elapsed_us = s.seconds * 1e6;
  RowBuilder row = RowBuilder::stream(s.mbps * 1e6).elapsed_s(s.seconds);
  row.effective("tcp.congestion", s.congestion)
      .effective("tcp.streams", std::int64_t{1})
      .sending({s.sender_cpu, s.sender_wait, left_of(s.sender_cpu, s.sender_wait, s.sender_blocked),
                s.sender_blocked})
      .receiving({s.receiver_cpu, s.receiver_wait,
                  left_of(s.receiver_cpu, s.receiver_wait, s.receiver_blocked), s.receiver_blocked})
      .sender({{"tcp_info.rtt_us", s.srtt_us},
               {"tcp_info.min_rtt_us", s.min_us},
               {"tcp_info.busy_time_us", s.busy * elapsed_us},
               {"tcp_info.rwnd_limited_us", s.rwnd * elapsed_us},
               {"tcp_info.sndbuf_limited_us", s.sndbuf * elapsed_us},
               {"tcp_info.total_retrans", std::max(resent, s.spurious)},
               {"tcp_info.dsack_dups", s.spurious},
               {"tcp_info.data_segs_out", payload + std::max(resent, s.spurious)},
               {"tcp_info.bytes_acked", payload * s.mss},
               {"tcp_info.backoff", 0},
               {"tcp_info.reord_seen", 0},
               {"tcp_info.options", 7},
               {"tcp_info.snd_mss", s.mss},
               {"tcp_info.snd_wnd", s.window_bytes},
               {"tcp_info.notsent_bytes", s.notsent_bytes},
               {"tcp_info.max_pacing_rate", 1.8446744073709552e19},
               {"netstat.TCPHPAcks", 1000},
               {"payload.sent_bytes", payload * s.mss},
               {"calls.send", payload * s.mss / (1 << 20)}})
      .receiver({{"tcp_info.data_segs_in", payload + s.spurious},
                 {"payload.received_bytes", payload * s.mss},
                 {"netstat.TCPHPHits", 1000},
                 {"softnet.processed", payload}});
  return row;
}

/// The hosts of those runs: Debian 12 on veth, autotuned buffers far from their ceilings.
inline DocumentBuilder lab() {
  DocumentBuilder builder;
  builder.fact("sysctl.net.ipv4.tcp_moderate_rcvbuf", std::int64_t{1})
      .fact("sysctl.net.ipv4.tcp_window_scaling", std::int64_t{1})
      .fact("sysctl.net.ipv4.tcp_rmem_max_bytes", std::int64_t{33'554'432})
      .fact("sysctl.net.ipv4.tcp_wmem_max_bytes", std::int64_t{4'194'304})
      .fact("if.eth0.kind", std::string("veth"))
      .fact("if.eth0.mtu_bytes", std::int64_t{1500})
      .fact("cpu.logical_count", std::int64_t{2})
      .unknown_fact("h0", "if.eth0.speed_bps", "a veth pair has no wire")
      .unknown_fact("h1", "if.eth0.speed_bps", "a veth pair has no wire");
  return builder;
}

/// Classes that fire on the document's first row, nearest first, "W01 W05".
inline std::string classes_of(const Document& document, Scope scope = Scope::stream) {
  std::string text;
  for (const Fired& one : fired(document, scope)) {
    text += std::string(text.empty() ? "" : " ") + std::string(one.class_id);
  }
  return text;
}

/// Classes among them that are worse than information.
inline std::string serious_classes_of(const Document& document, Scope scope = Scope::stream) {
  std::string text;
  for (const Fired& one : fired(document, scope)) {
    if (one.verdict.severity.value_or(one.severity) != Severity::info) {
      text += std::string(text.empty() ? "" : " ") + std::string(one.class_id);
    }
  }
  return text;
}

}  // namespace netbench::report::test
