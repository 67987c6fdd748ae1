#pragma once

#include <gtest/gtest.h>

#include <string>

#include "builder.hpp"

/// A pair of hosts with nothing wrong, and what a family says of documents as a whole.
namespace netbench::report::test {

inline constexpr std::int64_t kGiga = 1'000'000'000;

/// Numbers and flags of a healthy 10 Gb/s interface named eth0.
inline void add_link_facts(DocumentBuilder& document) {
  for (const auto& [key, value] : std::initializer_list<std::pair<const char*, Value>>{
           {"speed_bps", 10 * kGiga},
           {"speed_max_bps", 10 * kGiga},
           {"duplex", std::string("full")},
           {"autonegotiation", true},
           {"downshift", false},
           {"carrier", true},
           {"carrier_changes", std::int64_t{2}},
           {"kind", std::string("device")},
           {"driver", std::string("mlx5_core")},
           {"driver_version", std::string("6.1")},
           {"firmware", std::string("14.32.1010")},
           {"eee.enabled", false},
           {"offload.tso", true},
           {"offload.gso", true},
           {"offload.gro", true},
           {"offload.lro", false},
           {"offload.tx_checksum", true},
           {"offload.rx_checksum", true},
           {"ring.rx_descriptors", std::int64_t{1024}},
           {"ring.rx_max_descriptors", std::int64_t{8192}},
           {"coalesce.rx_us", std::int64_t{3}},
           {"module.rx_power_dbm", -2.1},
           {"module.rx_power_min_dbm", -12.3},
           {"mtu_bytes", std::int64_t{9000}},
           {"max_mtu_bytes", std::int64_t{9978}},
           {"cable.pair_a", std::string("ok")},
           {"lldp.max_frame_bytes", std::int64_t{9216}},
           {"local_cpus", std::string("0-3")}}) {
    document.fact(std::string("if.eth0.") + key, value);
  }
}

/// Slot, bridges and policies of a healthy host.
inline void add_platform_facts(DocumentBuilder& document) {
  for (const auto& [key, value] : std::initializer_list<std::pair<const char*, Value>>{
           {"if.eth0.pcie.speed_gtps", 8.0},
           {"if.eth0.pcie.max_speed_gtps", 8.0},
           {"if.eth0.pcie.width_lanes", std::int64_t{8}},
           {"if.eth0.pcie.max_width_lanes", std::int64_t{8}},
           {"if.eth0.pcie.max_payload_bytes", std::int64_t{256}},
           {"if.eth0.pcie.max_read_request_bytes", std::int64_t{512}},
           {"if.eth0.pcie.path", std::string("0000:00:01.0 > 0000:01:00.0")},
           {"pcie.0000:00:01.0.speed_gts", 8.0},
           {"pcie.0000:00:01.0.max_speed_gts", 8.0},
           {"pcie.0000:00:01.0.width", std::int64_t{8}},
           {"pcie.0000:00:01.0.max_width", std::int64_t{8}},
           {"pcie.0000:00:01.0.acs_redirects", false},
           {"pcie.aspm_policy", std::string("default")},
           {"if.eth0.iommu_group_type", std::string("identity")},
           {"if.eth0.numa_node", std::int64_t{0}},
           {"numa.node_count", std::int64_t{1}},
           {"qdisc.eth0.kind", std::string("fq")},
           {"kernel.release", std::string("6.1.0")},
           {"sysctl.net.ipv4.tcp_rmem_max_bytes", std::int64_t{33554432}},
           {"conntrack.count", std::int64_t{100}},
           {"conntrack.max", std::int64_t{262144}},
           {"path.same_subnet", true},
           {"rdma.mlx5_0.active_mtu_bytes", std::int64_t{4096}},
           {"rdma.mlx5_0.interface", std::string("eth0")},
           {"clock.offset_s", 1e-5}}) {
    document.fact(key, value);
  }
  document.fact("h0", "name.peer_resolves_to", std::string("192.168.1.101"));
  document.fact("h1", "name.peer_resolves_to", std::string("192.168.1.100"));
}

/// A stream of 6 Gb/s over five seconds whose counters say nothing bad.
inline RowBuilder healthy_stream() {
  RowBuilder row = RowBuilder::stream(6e9);
  row.sender({{"if.eth0.tx_bytes", 3.8e9},
              {"if.eth0.tx_packets", 4.2e5},
              {"if.eth0.rx_packets", 1e5},
              {"ethtool.eth0.tx_bytes_phy", 3.8e9},
              {"qdisc.eth0.packets", 4.2e5},
              {"qdisc_max.eth0.backlog_bytes", 3000},
              {"snmp.Ip.OutRequests", 4.2e5},
              {"snmp.Tcp.OutSegs", 4.2e5},
              {"aer.eth0.correctable", 0},
              {"tcp_info.data_segs_out", 4.2e5},
              {"tcp_info.total_retrans", 0},
              {"tcp_info.dsack_dups", 0},
              {"tcp_info.reord_seen", 0},
              {"tcp_info.snd_mss", 8948},
              {"tcp_info.pmtu", 9000},
              {"tcp_info_max.backoff", 0},
              {"tcp_info_max.snd_wnd", 3e6}});
  row.receiver({{"if.eth0.rx_bytes", 3.8e9},
                {"if.eth0.rx_packets", 4.2e5},
                {"ethtool.eth0.rx_bytes_phy", 3.8e9},
                {"payload.received_bytes", 3.75e9},
                {"snmp.Ip.InReceives", 4.2e5},
                {"snmp.Tcp.InSegs", 4.2e5},
                {"aer.eth0.correctable", 0},
                {"cpu.0.busy_s", 1},
                {"cpu.0.softirq_s", 0.5},
                {"sock_max.rcvbuf_bytes", 6e6}});
  row.sending({.cpu = 0.2, .blocked = 0.8}).receiving({.cpu = 0.3, .blocked = 0.7});
  return row.effective("tcp.streams", std::int64_t{1}).effective("tcp.mss", std::int64_t{8948});
}

/// Rows: 0 a stream, 1 round trips, 2 datagrams.
inline Document healthy_pair(const RowBuilder& stream = healthy_stream()) {
  DocumentBuilder builder;
  add_link_facts(builder);
  add_platform_facts(builder);
  Document document = builder.row(stream)
                          .row(RowBuilder::round_trips(30e3))
                          .row(RowBuilder::datagrams(6e9))
                          .build();
  document.run.path_mtu = {9000, 9000, "udp-df", "", false};
  document.measurements[1].summary.rtt_p99_ns = 36e3;
  return document;
}

/// The document with one fact of a host changed or added.
inline Document with_fact(Document document, const std::string& host, const std::string& key,
                          Value value) {
  auto& facts = document.hosts.at(host).facts;
  const auto found = std::ranges::find(facts, key, &Fact::key);
  if (found == facts.end()) {
    facts.push_back({key, std::move(value), "test", ""});
  } else {
    found->value = std::move(value);
  }
  return document;
}

inline Document pair_with(const std::string& host, const std::string& key, const Value& value) {
  return with_fact(healthy_pair(), host, key, value);
}

/// The healthy pair with one fact changed at both ends.
inline Document pair_with(const std::string& key, const Value& value) {
  return with_fact(pair_with("h0", key, value), "h1", key, value);
}

/// Text, since a bare literal would become a flag.
inline Value text(const char* words) { return std::string(words); }
inline Value whole(std::int64_t number) { return number; }

inline int row_of(Scope scope) {
  switch (scope) {
    case Scope::stream:
      return 0;
    case Scope::round_trips:
      return 1;
    case Scope::datagrams:
      return 2;
    case Scope::hosts:
    case Scope::connection:
    case Scope::verbs_stream:
    case Scope::verbs_round_trips:
    case Scope::verbs_failure:
      break;
  }
  return -1;
}

/// Every rule of a family has this outcome.
inline void expect_all(RuleTable rules, const Document& document, Outcome outcome) {
  ASSERT_FALSE(rules.empty());
  for (const Rule& rule : rules) {
    const Verdict verdict = judge(rules, rule.id, document, row_of(rule.scope));
    EXPECT_EQ(verdict.outcome, outcome) << rule.id << ": " << verdict.why;
    EXPECT_FALSE(verdict.why.empty()) << rule.id;
  }
}

/// Two hosts without facts and three rows without counters.
inline Document without_evidence() {
  Document document = DocumentBuilder()
                          .row(RowBuilder::stream(6e9))
                          .row(RowBuilder::round_trips(30e3))
                          .row(RowBuilder::datagrams(6e9))
                          .build();
  document.run.path_mtu.method = "not probed";
  return document;
}

/// The rule fires, and tells its cause and what to do.
inline Verdict expect_fires(RuleTable rules, std::string_view id, const Document& document) {
  const auto rule = std::ranges::find(rules, id, &Rule::id);
  Verdict verdict = rule == rules.end() ? unknown("no such rule")
                                        : judge(rules, id, document, row_of(rule->scope));
  EXPECT_EQ(verdict.outcome, Outcome::fires) << id << ": " << verdict.why;
  EXPECT_FALSE(verdict.cause.empty()) << id;
  EXPECT_FALSE(verdict.remedy.empty()) << id;
  EXPECT_GT(verdict.nearness, 0) << id;
  EXPECT_LE(verdict.nearness, 1) << id;
  return verdict;
}

inline bool mentions(const std::vector<std::string>& texts, std::string_view part) {
  return std::ranges::any_of(
      texts, [&](const std::string& text) { return text.find(part) != std::string::npos; });
}

}  // namespace netbench::report::test
