#include "bench/facts/legacy_firewall.hpp"

#include <arpa/inet.h>  // netinet/in.h must come before the kernel's own linux/in.h
#include <gtest/gtest.h>
#include <linux/netfilter_ipv4/ip_tables.h>
#include <sys/socket.h>

#include <cstring>
#include <random>

#include "bench/core/unique_fd.hpp"
#include "tests/unit/facts/namespaces.hpp"

namespace netbench::facts {
namespace {

constexpr int kAccept = -2;
constexpr int kDrop = -1;
constexpr int kReturn = -5;

/// Appends a rule without matches: a verdict or jump, or an extension's target.
std::uint32_t append(LegacyTable& table, int verdict, const char* target = "") {
  const auto offset = static_cast<std::uint32_t>(table.entries.size());
  ipt_entry entry{};
  entry.target_offset = sizeof(ipt_entry);
  entry.next_offset = sizeof(ipt_entry) + sizeof(xt_entry_target) + 8;
  xt_entry_target head{};
  head.u.user.target_size = sizeof(xt_entry_target) + 8;
  std::strncpy(head.u.user.name, target, sizeof(head.u.user.name) - 1);
  const std::size_t place = table.entries.size();
  table.entries.resize(place + entry.next_offset);
  std::memcpy(table.entries.data() + place, &entry, sizeof(entry));
  std::memcpy(table.entries.data() + place + entry.target_offset, &head, sizeof(head));
  std::memcpy(table.entries.data() + place + entry.target_offset + sizeof(head), &verdict,
              sizeof(verdict));
  return offset;
}

/// filter as iptables lays it out: INPUT with a jump to a chain of the user's, FORWARD and OUTPUT.
LegacyTable filter() {
  LegacyTable table;
  table.name = "filter";
  table.valid_hooks = 0b01110;
  table.hook_entry[1] = append(table, kAccept);
  const std::uint32_t jump = append(table, 0);
  table.underflow[1] = append(table, kDrop);
  table.hook_entry[2] = table.underflow[2] = append(table, kAccept);
  table.hook_entry[3] = append(table, 0, "LOG");
  table.underflow[3] = append(table, kAccept);
  append(table, 0, XT_ERROR_TARGET);  // names the chain
  const auto chain = static_cast<int>(append(table, 0, "REJECT"));
  append(table, kReturn);
  append(table, 0, XT_ERROR_TARGET);  // the end of the table
  const std::size_t verdict = jump + sizeof(ipt_entry) + sizeof(xt_entry_target);
  std::memcpy(table.entries.data() + verdict, &chain, sizeof(chain));
  return table;
}

TEST(LegacyFirewall, FollowsJumpsAndKnowsPolicies) {
  const auto chains = parse_legacy_table(filter());
  ASSERT_EQ(chains.size(), 3U);
  EXPECT_EQ(chains[0].table, "filter (legacy)");
  EXPECT_EQ(chains[0].hook, "input");
  EXPECT_EQ(chains[0].policy, "drop");
  EXPECT_EQ(chains[0].rules, 3);
  EXPECT_TRUE(chains[0].refuses);
  EXPECT_EQ(chains[1].hook, "forward");
  EXPECT_EQ(chains[1].policy, "accept");
  EXPECT_EQ(chains[1].rules, 0);
  EXPECT_EQ(chains[2].rules, 1);
  EXPECT_FALSE(chains[2].refuses);
}

TEST(LegacyFirewall, SurvivesDamagedBytes) {
  std::mt19937 random(3);
  for (int i = 0; i < 3000; ++i) {
    LegacyTable table = filter();
    for (int hit = 0; hit < 6; ++hit) {
      table.entries[random() % table.entries.size()] = static_cast<std::uint8_t>(random());
    }
    table.entries.resize(random() % (table.entries.size() + 1));
    table.ipv6 = i % 2 == 1;
    EXPECT_EQ(parse_legacy_table(table).size(), 3U);
  }
}

TEST(LegacyFirewall, IsReadFromTheKernelWhereATableIsLoaded) {
  SKIP_WITHOUT_NAMESPACES();
  const Namespace here;
  const Namespace::Stay stay(here);
  const auto none = read_legacy_firewall();
  ASSERT_TRUE(none) << none.error().message;
  EXPECT_TRUE(none->empty()) << "asking must load no table";
  const UniqueFd socket(::socket(AF_INET, SOCK_RAW | SOCK_CLOEXEC, IPPROTO_RAW));
  ipt_getinfo info{};
  std::strncpy(info.name, "filter", sizeof(info.name) - 1);
  socklen_t length = sizeof(info);
  if (::getsockopt(socket.get(), IPPROTO_IP, IPT_SO_GET_INFO, &info, &length) != 0) {
    GTEST_SKIP() << "this kernel has no iptables of the older kind";
  }
  const auto chains = read_legacy_firewall();
  ASSERT_TRUE(chains) << chains.error().message;
  ASSERT_EQ(chains->size(), 3U);
  EXPECT_EQ(chains->front().hook, "input");
  EXPECT_EQ(chains->front().policy, "accept");
  EXPECT_EQ(chains->front().rules, 0);
}

}  // namespace
}  // namespace netbench::facts
