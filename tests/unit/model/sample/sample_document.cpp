#include "tests/unit/model/sample/sample_document.hpp"

#include <utility>

namespace netbench::test {

namespace {

constexpr double kCeiling1500 = 10e9 * 1448 / 1538;
constexpr double kCeiling9000 = 10e9 * 8948 / 9038;

HostInfo host(const std::string& name, const std::string& last_byte, const std::string& boot_id) {
  HostInfo info;
  info.name = name;
  info.addresses = {"192.168.1.1" + last_byte, "2001:db8::1" + last_byte};
  info.boot_id = boot_id;
  info.interface = "eth1";
  info.facts = {
      {"kernel.release", std::string("6.1.0-18-amd64"), "uname(2)", ""},
      {"if.eth1.mtu_bytes", std::int64_t{9000}, "netlink IFLA_MTU", ""},
      {"if.eth1.speed_bps", std::int64_t{10'000'000'000}, "ethtool link settings", ""},
      {"if.eth1.mac", "0c:42:a1:00:00:" + last_byte, "netlink IFLA_ADDRESS", ""},
      {"dmi.product_serial", "SN" + last_byte + "-77", "/sys/class/dmi/id/product_serial", ""},
      {"cpu0.governor", {}, "/sys/devices/system/cpu/cpu0/cpufreq", "no cpufreq driver is loaded"},
      {"offload.tso", true, "ethtool features", ""},
      {"load.one_minute", 0.25, "/proc/loadavg", ""},
  };
  return info;
}

EndRecord end_record(double cpu_s, double retransmits) {
  EndRecord record;
  record.counters = {{"tcp_info.total_retrans", retransmits}, {"if.eth1.rx_bytes", 1.25e9}};
  record.cpu_s = cpu_s;
  record.softirq_s = 0.11;
  record.steal_s = 0.01;
  record.foreign_cpu_s = 0.02;
  record.elapsed_s = 1.0;
  return record;
}

StreamRecord stream_record(double goodput_bps) {
  StreamRecord record;
  record.series = {{500'000'000, 500'000'000, 580'000'000},
                   {1'000'000'000, 500'000'000, 588'000'000}};
  record.warmup_cut_ns = 500'000'000;
  record.measured_bytes = 588'000'000;
  record.measured_ns = 500'000'000;
  record.messages = 560;
  record.goodput_bps = goodput_bps;
  record.low_bps = goodput_bps * 0.999;
  record.high_bps = goodput_bps * 1.001;
  record.stop_reason = "converged";
  return record;
}

LatencyRecord latency_record(double p50_ns) {
  LatencyRecord record;
  record.histogram.record(200, 3);  // single-value buckets, so that sums survive a round trip
  record.histogram.record(231, 900);
  record.histogram.record(255, 97);
  record.warmup_samples = 64;
  record.warmup_cut_ns = 1'000'000;
  record.measured_ns = 250'000'000;
  record.median_ns = p50_ns;
  record.low_ns = p50_ns * 0.99;
  record.high_ns = p50_ns * 1.01;
  record.stop_reason = "noise_converged";
  record.no_steady_state = true;
  return record;
}

Round make_round(std::uint32_t index) {
  Round round;
  round.index = index;
  round.started_utc = "2026-11-30T20:15:00.123Z";
  round.duration_ns = 1'020'000'000;
  round.initiator = end_record(0.42, 3);
  round.responder = end_record(0.55, 0);
  round.wire_disagreement = 0.0004;
  return round;
}

void set_buffers(Measurement& row, const Value& requested, std::int64_t effective) {
  row.tunables.requested = {{"tcp.sndbuf", requested}, {"tcp.rcvbuf", requested}};
  row.tunables.effective_initiator = {{"tcp.sndbuf", effective},
                                      {"tcp.congestion", std::string("cubic")}};
  row.tunables.effective_responder = {{"tcp.rcvbuf", effective}};
}

Measurement capped_row() {
  Measurement row = stream_row("tcp.bandwidth.fwd.1M.buf16M", 1 << 20, 9.409e9);
  set_buffers(row, std::int64_t{16 << 20}, 8 << 20);
  row.flags = {"capped"};
  row.tunables.notes = {
      "tcp.rcvbuf capped at 8 MiB on the responder: sysctl -w net.core.rmem_max=16777216"};
  return row;
}

Measurement emulated_mtu_row() {
  Measurement row = stream_row("tcp.bandwidth.fwd.1M.mtu1500", 1 << 20, 9.38e9);
  row.mtu_bytes = 1500;
  row.flags = {"emulated_mtu", "foreign_load"};
  row.summary.ceiling_bps = kCeiling1500;
  row.summary.wire_disagreement = 0.031;
  row.summary.stop_reasons = {"converged", "max_time"};
  return row;
}

Measurement both_row() {
  Measurement row = stream_row("tcp.bandwidth.both.1M", 1 << 20, 18.1e9);
  row.direction = Direction::both;
  row.summary.forward_bps = 9.2e9;
  row.summary.reverse_bps = 8.9e9;
  row.summary.ceiling_bps = 2 * kCeiling9000;
  row.rounds[0].reverse = stream_record(8.9e9);
  row.rounds[0].reverse->stop_reason = "max_time";
  return row;
}

Measurement rate_row() {
  Measurement row = stream_row("tcp.message_rate.64", 64, 1.2e9);
  row.workload = "message_rate";
  row.summary.messages_per_s = 2.34e6;
  row.summary.messages_low_per_s = 2.30e6;
  row.summary.messages_high_per_s = 2.37e6;
  return row;
}

Measurement connect_row() {
  Measurement row = latency_row("tcp.connect", 0, 41'000);
  row.workload = "connect";
  row.summary.messages_per_s = 19'200;
  return row;
}

Measurement udp_row() {
  Measurement row = stream_row("udp.bandwidth.fwd.1472", 1472, 4.9e9);
  row.transport = "udp";
  row.tunables = {};
  row.summary.retransmitted_segments.reset();
  row.summary.spurious_retransmits.reset();
  row.summary.lost_datagrams = 12;
  row.summary.socket_drops = 340;
  row.summary.reordered_datagrams = 2;
  row.summary.duplicate_datagrams = 1;
  row.summary.jitter_ns = 5300;
  row.summary.ceiling_bps.reset();
  row.summary.ceiling_note = "unknown, because veth reports a fictional speed";
  return row;
}

Measurement failed_row() {
  Measurement row;
  row.id = "tcp.bandwidth.rev.1M";
  row.transport = "tcp";
  row.workload = "bandwidth";
  row.direction = Direction::reverse;
  row.size_bytes = 1 << 20;
  row.status = MeasurementStatus::failed;
  row.error = Error{"peer-vanished", "receiving from 192.168.1.101: no data for 5 s",
                    "Look at the agent's log on gpu1.", ExitClass::partial};
  return row;
}

Measurement skipped_row() {
  Measurement row = failed_row();
  row.id = "tcp.bandwidth.fwd.1M.mtu9000";
  row.direction = Direction::forward;
  row.mtu_bytes = 9216;
  row.status = MeasurementStatus::skipped;
  row.error =
      Error{"mtu-not-varied", "the agent was not started with --allow-knobs", "", ExitClass::error};
  return row;
}

Finding sample_finding() {
  Finding finding;
  finding.id = "tcp.receive-buffer";
  finding.class_id = "W01";
  finding.severity = Severity::warning;
  finding.confidence = Confidence::likely;
  finding.cause = "The receive buffer of gpu1 is capped below the product of bandwidth and delay.";
  finding.evidence = {"/measurements/4/tunables/effective/responder/tcp.rcvbuf"};
  finding.remedy = {"sysctl -w net.core.rmem_max=16777216"};
  finding.ruled_out = {"tcp.loss"};
  finding.not_evaluated = {"pcie.width: no PCIe device"};
  return finding;
}

Intervention sample_intervention() {
  Intervention intervention;
  intervention.id = "larger-rcvbuf";
  intervention.row = "tcp.bandwidth.fwd.1M";
  intervention.change = "tcp.rcvbuf of 8192 KiB instead of the kernel's own tuning";
  intervention.metric = "goodput_bps";
  intervention.base = 9.4e9;
  intervention.changed = 9.42e9;
  intervention.ratio = 1.002;
  intervention.ratio_low = 0.998;
  intervention.ratio_high = 1.006;
  intervention.n_pairs = 5;
  return intervention;
}

RunInfo sample_run() {
  RunInfo run;
  run.id = "00c0ffee00c0ffee";
  run.started_utc = "2026-11-30T20:14:58.000Z";
  run.finished_utc = "2026-11-30T20:15:41.500Z";
  run.netbench_version = "0.1.0";
  run.command_line = {"netbench", "pair", "--peer", "192.168.1.101", "--quick"};
  run.path_mtu = {9000, 9000, "udp-df", "", false};
  run.harness_ns_per_message = 18.5;
  run.clock_ns = 22.0;
  return run;
}

}  // namespace

Measurement stream_row(const std::string& id, std::int64_t size_bytes, double goodput_bps) {
  Measurement row;
  row.id = id;
  row.transport = "tcp";
  row.workload = "bandwidth";
  row.direction = Direction::forward;
  row.size_bytes = size_bytes;
  row.method = "receiver bytes over receiver clock";
  set_buffers(row, std::string("auto"), 6 << 20);
  Summary& summary = row.summary;
  summary.n_rounds = 5;
  summary.n_samples = 50;
  summary.goodput_bps = goodput_bps;
  summary.goodput_low_bps = goodput_bps * 0.999;
  summary.goodput_high_bps = goodput_bps * 1.001;
  summary.cpu_s_per_gb_initiator = 0.121;
  summary.cpu_s_per_gb_responder = 0.143;
  summary.softirq_s_per_gb_initiator = 0.031;
  summary.softirq_s_per_gb_responder = 0.052;
  summary.steal_share_initiator = 0.0;
  summary.steal_share_responder = 0.004;
  summary.ceiling_bps = kCeiling9000;
  summary.ceiling_note = "10 Gb/s x 8948 B / 9038 B";
  summary.retransmitted_segments = 14;
  summary.spurious_retransmits = 1;
  summary.wire_disagreement = 0.0004;
  summary.round_cv = 0.002;
  summary.transfer_time_ratio = kCeiling9000 / goodput_bps;
  summary.tcp_efficiency = 0.9985;
  summary.rfc6349_note =
      "buffer delay unknown, because the sender's TCP_INFO has no rtt_us and min_rtt_us";
  summary.stop_reasons = {"converged"};
  row.rounds = {make_round(0), make_round(1)};
  for (Round& round : row.rounds) {
    round.forward = stream_record(goodput_bps);
  }
  row.rounds[1].flags = {"foreign_load"};
  return row;
}

Measurement latency_row(const std::string& id, std::int64_t size_bytes, double p50_ns) {
  Measurement row;
  row.id = id;
  row.transport = "tcp";
  row.workload = "latency";
  row.size_bytes = size_bytes;
  row.method = "closed-loop ping-pong, round trip, initiator's clock";
  row.tunables.requested = {{"tcp.wait", std::string("spin")}};
  Summary& summary = row.summary;
  summary.n_rounds = 5;
  summary.n_samples = 51'200;
  summary.rtt_min_ns = p50_ns * 0.8;
  summary.rtt_p50_ns = p50_ns;
  summary.rtt_p50_low_ns = p50_ns * 0.98;
  summary.rtt_p50_high_ns = p50_ns * 1.03;
  summary.rtt_p90_ns = p50_ns * 1.2;
  summary.rtt_p99_ns = p50_ns * 2;
  summary.rtt_p999_ns = p50_ns * 5;
  summary.rtt_max_ns = p50_ns * 40;
  summary.stop_reasons = {"converged"};
  row.rounds = {make_round(0)};
  row.rounds[0].latency = latency_record(p50_ns);
  return row;
}

Document sample_document() {
  Document document;
  document.run = sample_run();
  document.config = {{"seed", std::int64_t{42}},
                     {"rounds", std::int64_t{5}},
                     {"budget_s", 60.0},
                     {"profile", std::string("default")},
                     {"insecure", false}};
  document.hosts = {{"h0", host("gpu0", "00", "5f1c7d52-0b9e-4d1c-9d52-2f4c8a3b1e00")},
                    {"h1", host("gpu1", "01", "a81e02c4-61a7-4f6e-8a35-7c1d9e5f0b01")}};
  document.measurements = {latency_row("tcp.latency.64", 64, 22'400),
                           latency_row("tcp.latency.64K", 64 << 10, 81'000),
                           stream_row("tcp.bandwidth.fwd.64K", 64 << 10, 9.1e9),
                           stream_row("tcp.bandwidth.fwd.1M", 1 << 20, 9.412e9),
                           capped_row(),
                           emulated_mtu_row(),
                           both_row(),
                           failed_row(),
                           skipped_row(),
                           rate_row(),
                           connect_row(),
                           udp_row()};
  document.interventions = {sample_intervention()};
  document.findings = {sample_finding()};
  return document;
}

Document failed_document() {
  Document document;
  document.status = DocumentStatus::failed;
  document.error = Error{"peer-refused", "connecting to 192.168.1.101:18550: connection refused",
                         "Start \"netbench agent\" there.", ExitClass::error};
  document.run.id = "00c0ffee00c0ffee";
  document.run.started_utc = "2026-11-30T20:14:58.000Z";
  document.run.finished_utc = "2026-11-30T20:14:59.000Z";
  document.run.netbench_version = "0.1.0";
  document.run.path_mtu.method = "not probed";
  return document;
}

}  // namespace netbench::test
