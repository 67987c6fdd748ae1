#include <gtest/gtest.h>

#include "report/bounds/pcie.hpp"
#include "static_pair.hpp"

namespace netbench::report {
namespace {

using namespace test;

Verdict bus(std::string_view id, const Document& document) {
  const auto rule = std::ranges::find(bus_rules(), id, &Rule::id);
  return judge(bus_rules(), id, document, row_of(rule->scope));
}

TEST(PcieUsable, FollowsGenerationAndWidth) {
  EXPECT_NEAR(pcie_usable_bps(5, 4) * 1e-9, 14.5, 0.1);
  EXPECT_NEAR(pcie_usable_bps(8, 16) * 1e-9, 114.4, 0.1);
  EXPECT_NEAR(pcie_usable_bps(32, 16) * 1e-9, 457.6, 0.1);
}

TEST(BusRules, AreSilentAboutAHealthyPair) {
  for (const Rule& rule : bus_rules()) {
    const auto verdict =
        bus(rule.id, with_fact(healthy_pair(), "h0", "nvidia.driver", text("550")));
    EXPECT_EQ(verdict.outcome, Outcome::silent) << rule.id << ": " << verdict.why;
  }
}

TEST(BusRules, AreUnknownWithoutEvidence) {
  expect_all(bus_rules(), without_evidence(), Outcome::unknown);
}

TEST(SlotNarrow, FiresWhereTheSlotCarriesLessThanTheLink) {
  Document document = pair_with("h1", "if.eth0.pcie.width_lanes", whole(1));
  const auto verdict = expect_fires(bus_rules(), "bus.slot-narrow", document);
  EXPECT_EQ(verdict.confidence, Confidence::likely);
  EXPECT_NE(verdict.cause.find("8 GT/s x1 of 8 GT/s x8"), std::string::npos) << verdict.cause;
}

TEST(SlotNarrow, SeesTheBridgesAboveTheCard) {
  const auto verdict = expect_fires(bus_rules(), "bus.slot-narrow",
                                    pair_with("h0", "pcie.0000:00:01.0.width", whole(1)));
  EXPECT_NE(verdict.cause.find("bridge 0000:00:01.0 of nb-a"), std::string::npos);
}

TEST(SlotDegraded, IsANoteWhereTheLinkStillFits) {
  Document document = pair_with("h0", "if.eth0.pcie.max_speed_gtps", 16.0);
  EXPECT_EQ(bus("bus.slot-narrow", document).outcome, Outcome::silent);
  expect_fires(bus_rules(), "bus.slot-degraded", document);
}

TEST(SlotFull, FiresNearTheSlotsBandwidth) {
  Document document = pair_with("h0", "if.eth0.pcie.width_lanes", whole(1));
  document = with_fact(std::move(document), "h0", "if.eth0.speed_bps", whole(25 * kGiga));
  document.measurements[0].summary.goodput_bps = 6.9e9;
  document.measurements[0].summary.ceiling_bps = 9.9e9;
  expect_fires(bus_rules(), "bus.slot-full", document);
}

TEST(Numa, IsConfirmedByAnotherCoreAndUnknownWithout) {
  Document document = pair_with("numa.node_count", whole(2));
  EXPECT_EQ(bus("bus.numa", document).outcome, Outcome::unknown);
  document.interventions.push_back({"other-core", document.measurements[0].id, "CPU 8 instead of 0",
                                    "goodput_bps", 6e9, 9e9, 1.5, 1.4, 1.6, 5, ""});
  EXPECT_EQ(expect_fires(bus_rules(), "bus.numa", document).confidence, Confidence::confirmed);
}

TEST(Numa, IsSuspectedWhereTheBusyCpuIsNotTheCards) {
  Document document = pair_with("numa.node_count", whole(2));
  document.measurements[0].rounds[0].initiator.counters["cpu.17.busy_s"] = 4.5;
  const auto verdict = expect_fires(bus_rules(), "bus.numa", document);
  EXPECT_EQ(verdict.severity, Severity::info);
  EXPECT_NE(verdict.why.find("CPU 17 was the busiest"), std::string::npos) << verdict.why;
  document.measurements[0].rounds[0].initiator.counters = {{"cpu.2.busy_s", 4.5}};
  EXPECT_NE(bus("bus.numa", document).outcome, Outcome::fires);
}

TEST(Payload, FiresOnFastLinksAlone) {
  Document document = pair_with("h0", "if.eth0.pcie.max_payload_bytes", whole(128));
  EXPECT_EQ(bus("bus.payload", document).outcome, Outcome::silent);
  expect_fires(bus_rules(), "bus.payload",
               with_fact(std::move(document), "h0", "if.eth0.speed_bps", whole(100 * kGiga)));
}

TEST(Iommu, FiresOnATranslatedFastLinkWithAFullCore) {
  Document document = healthy_pair(healthy_stream().sending({.cpu = 0.98, .blocked = 0.02}));
  document = with_fact(std::move(document), "h0", "if.eth0.iommu_group_type", text("DMA-FQ"));
  EXPECT_EQ(bus("bus.iommu", document).outcome, Outcome::silent);
  document = with_fact(std::move(document), "h0", "if.eth0.speed_bps", whole(200 * kGiga));
  EXPECT_TRUE(mentions(expect_fires(bus_rules(), "bus.iommu", document).remedy, "iommu=pt"));
}

TEST(Acs, FiresWhereGpusTalkThroughTheRoot) {
  Document document = pair_with("h0", "pcie.0000:00:01.0.acs_redirects", true);
  EXPECT_EQ(bus("bus.acs", document).outcome, Outcome::silent);
  document = with_fact(std::move(document), "h0", "nvidia.driver", text("550.54"));
  const auto verdict = expect_fires(bus_rules(), "bus.acs", document);
  EXPECT_TRUE(mentions(verdict.remedy, "setpci -s 0000:00:01.0 ECAP_ACS+0x6.w=0000"));
}

TEST(Acs, IsNeededInAVirtualMachine) {
  Document document = pair_with("pcie.0000:00:01.0.acs_redirects", true);
  document = with_fact(std::move(document), "h0", "nvidia.driver", text("550.54"));
  document = with_fact(std::move(document), "h0", "host.virtual_machine", true);
  EXPECT_EQ(bus("bus.acs", document).outcome, Outcome::silent);
}

TEST(BusErrors, FireAndAreMilderWhereCorrectedOnceOrTwice) {
  const auto many = expect_fires(bus_rules(), "bus.errors",
                                 healthy_pair(healthy_stream().sender({{"aer.eth0.nonfatal", 1}})));
  EXPECT_FALSE(many.severity.has_value());
  const auto few =
      expect_fires(bus_rules(), "bus.errors",
                   healthy_pair(healthy_stream().sender({{"aer.eth0.correctable", 2}})));
  EXPECT_EQ(few.severity, Severity::info);
}

TEST(Aspm, FiresOnPowerSaving) {
  expect_fires(bus_rules(), "bus.aspm",
               pair_with("h0", "pcie.aspm_policy", text("powersupersave")));
}

TEST(SharedUplink, FiresWhereTwoCardsWantMoreThanTheirBridge) {
  Document document = pair_with("h0", "if.eth1.pcie.path", text("0000:00:01.0 > 0000:01:00.1"));
  document = with_fact(std::move(document), "h0", "if.eth1.speed_bps", whole(100 * kGiga));
  const auto verdict = expect_fires(bus_rules(), "bus.shared-uplink", document);
  EXPECT_NE(verdict.cause.find("eth0 and eth1"), std::string::npos) << verdict.cause;
}

TEST(SharedUplink, IsANoteWhereOtherDevicesShareIt) {
  Document document =
      pair_with("h0", "pcie.0000:00:01.0.others", text("0000:02:00.0 (display, 16 GT/s x16)"));
  document = with_fact(std::move(document), "h0", "pcie.0000:00:01.0.others_raw_bps", 256e9);
  const auto verdict = expect_fires(bus_rules(), "bus.shared-uplink", document);
  EXPECT_EQ(verdict.severity, Severity::info);
  EXPECT_NE(verdict.why.find("display"), std::string::npos);
}

TEST(BackPressure, FiresOnTheCardsOwnCounters) {
  expect_fires(bus_rules(), "bus.back-pressure",
               healthy_pair(healthy_stream().receiver(
                   {{"ethtool.eth0.outbound_pci_stalled_wr_events", 4}})));
}

}  // namespace
}  // namespace netbench::report
