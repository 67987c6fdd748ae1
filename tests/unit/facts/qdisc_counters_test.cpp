#include "bench/facts/qdisc_counters.hpp"

#include <gtest/gtest.h>
#include <linux/gen_stats.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>

#include <array>

#include "tests/unit/facts/namespaces.hpp"

namespace netbench::facts {
namespace {

constexpr std::uint16_t kPackets64 = 8;  // TCA_STATS_PKT64

ByteSpan span_of(const std::vector<std::uint8_t>& bytes) { return {bytes.data(), bytes.size()}; }

template <class T>
void append_value(std::vector<std::uint8_t>& body, std::uint16_t type, const T& value) {
  append_attribute(body, type,
                   ByteSpan(reinterpret_cast<const std::uint8_t*>(&value), sizeof(value)));
}

std::vector<std::uint8_t> message(const gnet_stats_queue& queue, bool wide_packets) {
  std::vector<std::uint8_t> body;
  tcmsg header{};
  header.tcm_ifindex = 3;
  header.tcm_handle = 0x10000;
  header.tcm_parent = TC_H_ROOT;
  append_header(body, header);
  append_attribute(body, TCA_KIND, std::string("tbf"));
  std::vector<std::uint8_t> statistics;
  append_value(statistics, TCA_STATS_BASIC, gnet_stats_basic{123456, 90});
  append_value(statistics, TCA_STATS_QUEUE, queue);
  if (wide_packets) {
    append_value(statistics, kPackets64, std::uint64_t{5'000'000'000});
  }
  append_attribute(body, TCA_STATS2, span_of(statistics));
  return body;
}

QdiscCounts counts(std::uint32_t handle, std::uint32_t parent, std::uint64_t drops) {
  QdiscCounts one;
  one.handle = handle;
  one.parent = parent;
  one.kind = "fq_codel";
  one.drops = drops;
  return one;
}

TEST(QdiscCounts, AreReadFromAMessage) {
  const auto body = message({7, 9000, 11, 2, 5}, false);
  const auto read = parse_qdisc_counts(span_of(body));
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(read->interface_index, 3);
  EXPECT_EQ(read->kind, "tbf");
  EXPECT_EQ(read->bytes, 123456);
  EXPECT_EQ(read->packets, 90);
  EXPECT_EQ(read->queued_packets, 7);
  EXPECT_EQ(read->backlog_bytes, 9000);
  EXPECT_EQ(read->drops, 11);
  EXPECT_EQ(read->requeues, 2);
  EXPECT_EQ(read->overlimits, 5);
}

TEST(QdiscCounts, PreferTheWideCountOfPackets) {
  const auto body = message({}, true);
  EXPECT_EQ(parse_qdisc_counts(span_of(body))->packets, 5'000'000'000);
}

TEST(QdiscCounts, AreNoneInACutMessage) {
  const auto whole = message({7, 9000, 11, 2, 5}, true);
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const auto read = parse_qdisc_counts(span_of(whole).first(size));
    EXPECT_FALSE(read.has_value()) << size;
  }
}

TEST(QdiscTotals, DoNotCountChildrenTwice) {
  // The default of a device with several queues: mq with handle 0 sums its children.
  const std::array mq{counts(0, TC_H_ROOT, 8), counts(0, 1, 5), counts(0, 2, 3)};
  EXPECT_EQ(qdisc_totals(mq)->drops, 8);
  const std::array three_levels{counts(0x10000, TC_H_ROOT, 8), counts(0x20000, 0x10001, 8),
                                counts(0x30000, 0x20001, 8)};
  EXPECT_EQ(qdisc_totals(three_levels)->drops, 8);
}

TEST(QdiscTotals, SeeWhatOnlyALeafCounts) {
  const std::array shaped{counts(0x10000, TC_H_ROOT, 0), counts(0x20000, 0x10001, 4)};
  EXPECT_EQ(qdisc_totals(shaped)->drops, 4);
}

TEST(QdiscTotals, KeepTheReceivingSideApart) {
  const std::array both{counts(0x10000, TC_H_ROOT, 1), counts(0xffff0000, TC_H_INGRESS, 70)};
  const auto totals = qdisc_totals(both);
  EXPECT_EQ(totals->drops, 1);
  EXPECT_EQ(totals->ingress_drops, 70);
}

TEST(QdiscTotals, AreNoneWherePacketsPassNoQueue) {
  EXPECT_FALSE(qdisc_totals({}).has_value());
  std::array none{counts(0, TC_H_ROOT, 0)};
  none[0].kind = "noqueue";
  EXPECT_FALSE(qdisc_totals(none).has_value());
}

TEST(QdiscReader, ReadsTheInterfaceItWasOpenedFor) {
  SKIP_WITHOUT_NAMESPACES();
  const Namespace host;
  host.run(
      "ip link add a0 type veth peer name b0 && ip link set a0 up && "
      "ip link set b0 up && tc qdisc add dev a0 root pfifo limit 10 && "
      "tc qdisc add dev b0 root bfifo limit 20000");
  const Namespace::Stay inside(host);
  const auto reader = open_qdisc_reader("a0");
  ASSERT_TRUE(reader.has_value()) << reader.error().message;
  const auto queues = (*reader)();
  ASSERT_TRUE(queues.has_value()) << queues.error().message;
  ASSERT_EQ(queues->size(), 1u);
  EXPECT_EQ(queues->front().kind, "pfifo");
}

TEST(QdiscReader, RefusesAnInterfaceThatIsNotThere) {
  const auto reader = open_qdisc_reader("no-such0");
  ASSERT_FALSE(reader.has_value());
  EXPECT_EQ(reader.error().slug, "interface-unknown");
}

}  // namespace
}  // namespace netbench::facts
