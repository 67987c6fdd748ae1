// What the rules of RDMA make of counters: meanings by driver, loss, flow control, link.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <set>
#include <string>

#include "builder.hpp"
#include "report/diagnose/diagnose.hpp"
#include "report/diagnose/rdma_meanings.hpp"
#include "report/diagnose/rdma_signals.hpp"

namespace netbench::report::test {
namespace {

using M = RdmaMeaning;

/// A pair with one rail of this driver at each end, on eth0.
DocumentBuilder pair_of(const std::string& rail, const std::string& driver, bool software = false) {
  DocumentBuilder builder;
  const std::string prefix = "rdma." + rail + ".";
  builder.fact(prefix + "driver", driver)
      .fact(prefix + "software", software)
      .fact(prefix + "state", std::string("ACTIVE"))
      .fact(prefix + "link_layer", std::string("Ethernet"))
      .fact(prefix + "interface", std::string("eth0"))
      .fact(prefix + "rate_bps", 200e9)
      .fact(prefix + "active_mtu_bytes", std::int64_t{4096})
      .fact(prefix + "counter_names",
            std::string("packet_seq_err local_ack_timeout_err out_of_sequence out_of_seq_request "
                        "rcvd_seq_err sent_pkts rcvd_pkts completer_retry_err duplicate_request "
                        "rnr_nak_retry_err out_of_buffer np_cnp_sent rp_cnp_handled symbol_error "
                        "port_xmit_wait port_xmit_packets rx_write_requests rx_icrc_encapsulated"));
  return builder;
}

RowBuilder row_on(const std::string& rail, double bps = 190e9) {
  return RowBuilder::verbs(bps).effective("verbs.device", Value(rail));
}

Document mlx5(const RowBuilder& row) { return pair_of("mlx5_0", "mlx5").row(row).build(); }
Document rxe(const RowBuilder& row) { return pair_of("rxe0", "rxe", true).row(row).build(); }

Verdict say(std::string_view rule, const Document& document) {
  return judge(rdma_rules(), rule, document);
}

TEST(RdmaMeanings, AreTakenFromEveryDriverThatCounts) {
  std::set<std::string_view> drivers;
  for (const RdmaCounterName& one : rdma_counter_names()) {
    drivers.insert(one.driver);
  }
  for (const char* driver : {"", "mlx5", "bnxt_re", "irdma", "efa", "mana", "rxe"}) {
    EXPECT_TRUE(drivers.contains(driver)) << driver;
  }
}

TEST(RdmaMeanings, NameACounterOfADriverOncePerMeaning) {
  std::set<std::tuple<M, std::string_view, std::string_view>> seen;
  for (const RdmaCounterName& one : rdma_counter_names()) {
    EXPECT_TRUE(seen.insert({one.meaning, one.driver, one.name}).second) << one.name;
    EXPECT_GT(one.unit, 0) << one.name;
  }
}

struct Lost {
  const char* driver;
  const char* counter;
};

class LossOf : public testing::TestWithParam<Lost> {};

TEST_P(LossOf, EveryDriverIsSeen) {
  const auto [driver, counter] = GetParam();
  const Document document =
      pair_of("dev0", driver)
          .row(row_on("dev0").sender({{std::string("rdma.dev0.") + counter, 40}}))
          .build();
  const Verdict verdict = say("rdma.loss", document);
  EXPECT_EQ(verdict.outcome, Outcome::fires) << verdict.why;
  EXPECT_NE(verdict.why.find(counter), std::string::npos) << verdict.why;
  EXPECT_FALSE(verdict.remedy.empty());
}

INSTANTIATE_TEST_SUITE_P(
    Drivers, LossOf,
    testing::Values(Lost{"mlx5", "packet_seq_err"}, Lost{"mlx5", "local_ack_timeout_err"},
                    Lost{"bnxt_re", "seq_err_naks_rcvd"}, Lost{"bnxt_re", "to_retransmits"},
                    Lost{"irdma", "RetransSegs"}, Lost{"efa", "retrans_pkts"},
                    Lost{"mana", "requester_timeout"}, Lost{"rxe", "rcvd_seq_err"}));

TEST(RdmaLoss, IsConfirmedWhereBothEndsCountIt) {
  const Document document = mlx5(
      row_on("mlx5_0")
          .sender({{"rdma.mlx5_0.packet_seq_err", 12}})
          .receiver({{"rdma.mlx5_0.out_of_sequence", 14}, {"rdma.mlx5_0.port_rcv_packets", 1e5}}));
  const Verdict verdict = say("rdma.loss", document);
  EXPECT_EQ(verdict.confidence, Confidence::confirmed) << verdict.why;
  EXPECT_GE(verdict.nearness, 0.9);
}

TEST(RdmaLoss, OfPacketsOutOfOrderAloneIsOnlyPossible) {
  const Document document = mlx5(row_on("mlx5_0").receiver({{"rdma.mlx5_0.out_of_sequence", 14}}));
  EXPECT_EQ(say("rdma.loss", document).confidence, Confidence::possible);
}

TEST(RdmaLoss, IsNotSeenInACleanRunOfSoftRoce) {
  const Document document =
      rxe(row_on("rxe0", 1e9)
              .sender({{"rdma.rxe0.sent_pkts", 1e6},
                       {"rdma.rxe0.completer_retry_err", 90},
                       {"rdma.rxe0.duplicate_request", 12}})
              .receiver({{"rdma.rxe0.rcvd_pkts", 1e6}, {"rdma.rxe0.duplicate_request", 800}}));
  for (const Finding& finding : diagnose(document).findings) {
    EXPECT_EQ(finding.severity, Severity::info) << finding.id << ": " << finding.cause;
  }
  EXPECT_EQ(say("rdma.loss", document).outcome, Outcome::silent);
}

TEST(RdmaLoss, OfSoftRoceIsSeenByItsSequenceErrors) {
  const Document document =
      rxe(row_on("rxe0", 1e8)
              .sender({{"rdma.rxe0.sent_pkts", 1e5}, {"rdma.rxe0.rcvd_seq_err", 900}})
              .receiver({{"rdma.rxe0.rcvd_pkts", 1e5}, {"rdma.rxe0.out_of_seq_request", 1100}}));
  const Verdict verdict = say("rdma.loss", document);
  EXPECT_EQ(verdict.confidence, Confidence::confirmed) << verdict.why;
  EXPECT_EQ(diagnose(document).findings.front().id, "rdma.loss");
}

TEST(RdmaLoss, IsUnknownWhereNothingCounts) {
  const Document document = pair_of("siw0", "siw", true).row(row_on("siw0", 1e9)).build();
  EXPECT_EQ(say("rdma.loss", document).outcome, Outcome::unknown);
}

TEST(RdmaCounters, ThatDidNotMoveAreZeroOnlyWhereTheirNameIsKnown) {
  const Document document = mlx5(row_on("mlx5_0").sender({{"rdma.mlx5_0.rx_write_requests", 3}}));
  Look look(document, &document.measurements[0], {});
  const auto known = rdma_count(look, End::sender, {M::sequence_naks});
  ASSERT_TRUE(known.has_value());
  EXPECT_EQ(known->total, 0);
  EXPECT_FALSE(rdma_count(look, End::sender, {M::slow_restarts}).has_value());
}

TEST(RdmaCounters, OfReadsAreTheRequestersWhereThePayloadArrives) {
  const Document document = mlx5(row_on("mlx5_0")
                                     .effective("verbs.op", std::string("read"))
                                     .receiver({{"rdma.mlx5_0.packet_seq_err", 5}}));
  EXPECT_EQ(say("rdma.loss", document).confidence, Confidence::likely);
}

TEST(RdmaReceiver, WithoutReceivesIsNamed) {
  const Document document = mlx5(row_on("mlx5_0")
                                     .sender({{"rdma.mlx5_0.rnr_nak_retry_err", 5}})
                                     .receiver({{"rdma.mlx5_0.out_of_buffer", 5}}));
  EXPECT_EQ(say("rdma.receiver-not-ready", document).confidence, Confidence::confirmed);
  const Document well = mlx5(row_on("mlx5_0").sender({{"rdma.mlx5_0.port_xmit_packets", 5}}));
  EXPECT_EQ(say("rdma.receiver-not-ready", well).outcome, Outcome::silent);
}

TEST(RdmaCongestion, IsNamedBelowTheWireAndMildOnAFullOne) {
  const auto row = [](double bps) {
    return row_on("mlx5_0", bps)
        .sender({{"rdma.mlx5_0.rp_cnp_handled", 500}})
        .receiver({{"rdma.mlx5_0.np_cnp_sent", 510}})
        .ceiling(195e9);
  };
  EXPECT_EQ(say("rdma.congestion", mlx5(row(90e9))).severity, std::nullopt);
  EXPECT_EQ(say("rdma.congestion", mlx5(row(190e9))).severity, Severity::info);
}

TEST(RdmaPriority, WithoutFlowControlIsTheCauseWherePacketsAreLost) {
  const auto row = row_on("mlx5_0", 20e9)
                       .sender({{"rdma.mlx5_0.local_ack_timeout_err", 2705},
                                {"ethtool.eth0.tx_prio0_bytes", 9e9},
                                {"ethtool.eth0.tx_prio3_bytes", 1e3}});
  const Document lossy =
      pair_of("mlx5_0", "mlx5").fact("rdma.mlx5_0.pfc_mask", std::int64_t{8}).row(row).build();
  EXPECT_EQ(say("rdma.priority", lossy).outcome, Outcome::fires) << say("rdma.priority", lossy).why;
  EXPECT_EQ(say("rdma.priority", lossy).confidence, Confidence::confirmed);
  EXPECT_EQ(diagnose(lossy).findings.front().id, "rdma.priority");
  const Document lossless =
      pair_of("mlx5_0", "mlx5").fact("rdma.mlx5_0.pfc_mask", std::int64_t{1}).row(row).build();
  EXPECT_EQ(say("rdma.priority", lossless).outcome, Outcome::silent);
}

TEST(RdmaPause, OverAPercentOfTheTimeIsNamed) {
  const auto row = row_on("mlx5_0").sender({{"ethtool.eth0.rx_prio3_pause_duration", 400000}});
  EXPECT_EQ(say("rdma.pause", mlx5(row)).outcome, Outcome::fires);
  const auto little = row_on("mlx5_0").sender({{"ethtool.eth0.rx_prio3_pause_duration", 40}});
  EXPECT_NE(say("rdma.pause", mlx5(little)).outcome, Outcome::fires);
}

TEST(RdmaLink, ErrorsDuringARunAreConfirmed) {
  const auto row = row_on("mlx5_0").receiver({{"rdma.mlx5_0.symbol_error", 7}});
  EXPECT_EQ(say("rdma.link-errors", mlx5(row)).confidence, Confidence::confirmed);
  const auto damaged = row_on("mlx5_0").receiver({{"rdma.mlx5_0.rx_icrc_encapsulated", 1}});
  EXPECT_EQ(say("rdma.damaged", mlx5(damaged)).confidence, Confidence::confirmed);
}

TEST(RdmaCredits, AreJudgedOnInfinibandAlone) {
  const auto row =
      row_on("mlx5_0", 50e9)
          .sender({{"rdma.mlx5_0.port_xmit_wait", 9e9}, {"rdma.mlx5_0.port_xmit_packets", 1e6}})
          .ceiling(195e9);
  EXPECT_EQ(say("rdma.credits", mlx5(row)).outcome, Outcome::silent);
  const Document fabric = pair_of("mlx5_0", "mlx5")
                              .fact("rdma.mlx5_0.link_layer", std::string("InfiniBand"))
                              .row(row)
                              .build();
  Document only_fabric = fabric;
  for (auto& [key, host] : only_fabric.hosts) {
    std::erase_if(host.facts, [](const Fact& fact) {
      return fact.key.ends_with("link_layer") && fact.value == Value(std::string("Ethernet"));
    });
  }
  EXPECT_EQ(say("rdma.credits", only_fabric).outcome, Outcome::fires);
}

TEST(RdmaData, ThatArrivedWrongIsAProblem) {
  const Document document = mlx5(row_on("mlx5_0")
                                     .effective("verbs.relaxed_ordering", true)
                                     .receiver({{"verbs.check_failed", 2}}));
  const Verdict verdict = say("rdma.wrong-data", document);
  EXPECT_EQ(verdict.outcome, Outcome::fires);
  EXPECT_NE(verdict.cause.find("relaxed ordering"), std::string::npos);
}

TEST(RdmaCounters, OfAnotherPortAreSaidToBe) {
  const auto row = [](double words) {
    return row_on("mlx5_0").receiver(
        {{"payload.received_bytes", 8e9}, {"rdma.mlx5_0.port_rcv_data", words}});
  };
  EXPECT_EQ(say("rdma.counters-foreign", mlx5(row(2.1e9))).outcome, Outcome::silent);
  EXPECT_EQ(say("rdma.counters-foreign", mlx5(row(1e6))).outcome, Outcome::fires);
}

}  // namespace
}  // namespace netbench::report::test
