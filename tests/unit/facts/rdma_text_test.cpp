#include "bench/facts/rdma_text.hpp"

#include <gtest/gtest.h>
#include <linux/dcbnl.h>

#include <cstring>
#include <limits>
#include <vector>

#include "bench/facts/rdma_flow.hpp"
#include "bench/facts/rtnetlink.hpp"

namespace netbench::facts {
namespace {

TEST(RdmaText, ReadsTheRateAndItsLanes) {
  const auto rate = parse_rdma_rate("200 Gb/sec (4X HDR)\n");
  ASSERT_TRUE(rate.has_value());
  EXPECT_DOUBLE_EQ(rate->bps, 200e9);
  EXPECT_EQ(rate->lanes, "4X HDR");
  EXPECT_DOUBLE_EQ(parse_rdma_rate("2.5 Gb/sec (1X SDR)")->bps, 2.5e9);
  EXPECT_EQ(parse_rdma_rate("100 Gb/sec")->lanes, "");
}

TEST(RdmaText, RefusesWhatIsNoRate) {
  for (const char* text : {"", "Gb/sec", "-1 Gb/sec (4X)", "200 Mb/sec", "0 Gb/sec"}) {
    EXPECT_FALSE(parse_rdma_rate(text).has_value()) << text;
  }
}

TEST(RdmaText, DropsTheNumberOfAState) {
  EXPECT_EQ(parse_rdma_state("4: ACTIVE"), "ACTIVE");
  EXPECT_EQ(parse_rdma_state("5: LinkUp\n"), "LinkUp");
  EXPECT_EQ(parse_rdma_state("ACTIVE"), "ACTIVE");
}

TEST(RdmaText, ReadsIdentifiersInBothBases) {
  EXPECT_EQ(parse_rdma_number("0xffff"), 65535);
  EXPECT_EQ(parse_rdma_number("29"), 29);
  EXPECT_FALSE(parse_rdma_number("0x").has_value());
  EXPECT_FALSE(parse_rdma_number("none").has_value());
}

TEST(RdmaText, WritesGidsAsAddressesAndSkipsUnusedOnes) {
  EXPECT_EQ(parse_gid("0000:0000:0000:0000:0000:ffff:c0a8:0164"), "::ffff:192.168.1.100");
  EXPECT_EQ(parse_gid("fe80:0000:0000:0000:0e42:a1ff:fe5b:7c2a\n"), "fe80::e42:a1ff:fe5b:7c2a");
  EXPECT_FALSE(parse_gid("0000:0000:0000:0000:0000:0000:0000:0000").has_value());
  EXPECT_FALSE(parse_gid("no gid").has_value());
}

TEST(RdmaText, MakesAGuidOfAnAddress) {
  EXPECT_EQ(guid_of_address("52:54:00:12:34:57"), "5054:00ff:fe12:3457");
  EXPECT_EQ(guid_of_address("52:54:00:12:34"), "");
  EXPECT_EQ(guid_of_address("52-54-00-12-34-57"), "");
}

TEST(RdmaText, ReadsTheLimitOfLockedMemory) {
  EXPECT_EQ(parse_locked_memory("Max cpu time  1 1 seconds\nMax locked memory   65536   65536   "
                                "bytes\n"),
            65536);
  EXPECT_EQ(parse_locked_memory("Max locked memory unlimited unlimited bytes\n"),
            std::numeric_limits<std::int64_t>::max());
  EXPECT_FALSE(parse_locked_memory("Max open files 1 1 files\n").has_value());
}

TEST(RdmaText, FindsACapability) {
  EXPECT_EQ(parse_capability("CapEff:\t0000000000004000\n", 14), true);
  EXPECT_EQ(parse_capability("CapEff:\t000001ffffffbfff\n", 14), false);
  EXPECT_FALSE(parse_capability("Name:\tx\n", 14).has_value());
}

TEST(RdmaText, ReadsTheVendorsTrafficClass) {
  EXPECT_EQ(parse_traffic_class("Global tclass=106"), 106);
  EXPECT_FALSE(parse_traffic_class("Global").has_value());
}

/// The answer to DCB_CMD_IEEE_GET, behind its dcbmsg.
std::vector<std::uint8_t> flow_answer(std::uint8_t mask) {
  std::vector<std::uint8_t> applications;
  const dcb_app roce{IEEE_8021QAZ_APP_SEL_DSCP, 3, 26};
  const dcb_app iscsi{IEEE_8021QAZ_APP_SEL_STREAM, 4, 3260};
  for (const dcb_app& app : {roce, iscsi}) {
    append_attribute(applications, DCB_ATTR_IEEE_APP,
                     {reinterpret_cast<const std::uint8_t*>(&app), sizeof(app)});
  }
  ieee_pfc pfc{};
  pfc.pfc_cap = 8;
  pfc.pfc_en = mask;
  std::vector<std::uint8_t> ieee;
  append_attribute(ieee, DCB_ATTR_IEEE_PFC,
                   {reinterpret_cast<const std::uint8_t*>(&pfc), sizeof(pfc)});
  append_attribute(ieee, DCB_ATTR_IEEE_APP_TABLE, applications);
  std::vector<std::uint8_t> body;
  append_attribute(body, DCB_ATTR_IFNAME, std::string("eth0"));
  append_attribute(body, DCB_ATTR_IEEE, ieee);
  return body;
}

TEST(RdmaFlow, ReadsLosslessPrioritiesAndThoseOfDscps) {
  const FlowControl flow = parse_flow_control(flow_answer(0x08));
  EXPECT_EQ(flow.pfc_mask, 0x08);
  EXPECT_EQ(dscp_text(flow), "26:3");
}

TEST(RdmaFlow, IsEmptyWhereTheKernelTellsNothing) {
  EXPECT_FALSE(parse_flow_control({}).pfc_mask.has_value());
  EXPECT_EQ(dscp_text(parse_flow_control({})), "");
}

TEST(RdmaFlow, SurvivesEveryShortenedAnswer) {
  const auto whole = flow_answer(0xff);
  for (std::size_t length = 0; length < whole.size(); ++length) {
    const std::vector<std::uint8_t> part(whole.begin(),
                                         whole.begin() + static_cast<std::ptrdiff_t>(length));
    const FlowControl flow = parse_flow_control(part);
    EXPECT_LE(flow.priority_of_dscp.size(), 1U);
  }
}

TEST(RdmaFlow, SaysWhyAnInterfaceTellsNone) {
  const auto flow = read_flow_control("lo");
  ASSERT_FALSE(flow.has_value());
  EXPECT_EQ(flow.error().slug, "dcb-unsupported");
}

}  // namespace
}  // namespace netbench::facts
