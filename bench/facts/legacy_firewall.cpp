#include "bench/facts/legacy_firewall.hpp"

#include <arpa/inet.h>  // netinet/in.h must come before the kernel's own linux/in.h
#include <fmt/format.h>
#include <linux/netfilter_ipv4/ip_tables.h>
#include <linux/netfilter_ipv6/ip6_tables.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <optional>
#include <set>
#include <string_view>

#include "bench/core/unique_fd.hpp"
#include "bench/facts/text_files.hpp"

namespace netbench::facts {

namespace {

constexpr std::array<const char*, LegacyTable::kHooks> kHookNames{"prerouting", "input", "forward",
                                                                  "output", "postrouting"};
/// Tables with more rules than this many bytes are not read.
constexpr std::uint32_t kMostBytes = 64U << 20U;
// Verdicts of a standard target, as the kernel keeps them: -NF_x - 1.
constexpr int kDrop = -1;
constexpr int kReturn = -5;

template <class T>
std::optional<T> read_at(std::span<const std::uint8_t> bytes, std::size_t offset) {
  if (offset > bytes.size() || bytes.size() - offset < sizeof(T)) {
    return std::nullopt;
  }
  T value{};
  std::memcpy(&value, bytes.data() + offset, sizeof(T));
  return value;
}

/// One rule: where the next one is, and what it does.
struct LegacyRule {
  std::size_t next = 0;
  std::string target;  // "" for a verdict or a jump, else the extension's name
  int verdict = 0;     // of a target without a name: below 0 a verdict, else the offset of a chain
};

std::optional<LegacyRule> rule_at(const LegacyTable& table, std::size_t offset) {
  const std::size_t offsets =
      table.ipv6 ? offsetof(ip6t_entry, target_offset) : offsetof(ipt_entry, target_offset);
  const std::size_t least = table.ipv6 ? sizeof(ip6t_entry) : sizeof(ipt_entry);
  const auto to_target = read_at<std::uint16_t>(table.entries, offset + offsets);
  const auto to_next = read_at<std::uint16_t>(table.entries, offset + offsets + sizeof(*to_target));
  if (!to_target || !to_next || *to_target < least ||
      *to_next < *to_target + sizeof(xt_entry_target) || offset + *to_next > table.entries.size()) {
    return std::nullopt;
  }
  LegacyRule rule;
  rule.next = offset + *to_next;
  const std::size_t target = offset + *to_target;
  const auto* name = reinterpret_cast<const char*>(table.entries.data()) + target +
                     offsetof(xt_entry_target, u.user.name);
  rule.target.assign(name, ::strnlen(name, XT_EXTENSION_MAXNAMELEN));
  rule.verdict = read_at<int>(table.entries, target + sizeof(xt_entry_target)).value_or(0);
  return rule;
}

bool refuses(const LegacyRule& rule) {
  return rule.target == "REJECT" || rule.target == "DROP" ||
         (rule.target.empty() && rule.verdict == kDrop);
}

/// Adds the rules from `offset` up to `end`; a chain of the user's ends where the next one is
/// named, by a rule with the target ERROR.
void add_rules(const LegacyTable& table, std::size_t offset, std::size_t end,
               FirewallChain& chain) {
  std::set<std::size_t> seen{offset};
  std::vector<std::pair<std::size_t, std::size_t>> waiting{{offset, end}};
  while (!waiting.empty()) {
    auto [at, until] = waiting.back();
    waiting.pop_back();
    while (at < until) {
      const auto rule = rule_at(table, at);
      if (!rule || rule->target == XT_ERROR_TARGET) {
        break;
      }
      const bool last =
          until == table.entries.size() && rule->target.empty() && rule->verdict == kReturn;
      chain.rules += last ? 0 : 1;
      chain.refuses = chain.refuses || refuses(*rule);
      const bool jumps = rule->target.empty() && rule->verdict >= 0;
      const auto to = static_cast<std::size_t>(std::max(rule->verdict, 0));
      if (jumps && to != rule->next && seen.insert(to).second) {
        waiting.emplace_back(to, table.entries.size());
      }
      at = rule->next;
    }
  }
}

// The kernel's two socket options differ in the structures' names alone.
static_assert(sizeof(ipt_getinfo) == sizeof(ip6t_getinfo));
static_assert(offsetof(ipt_get_entries, entrytable) == offsetof(ip6t_get_entries, entrytable));
static_assert(IPT_SO_GET_INFO == IP6T_SO_GET_INFO && IPT_SO_GET_ENTRIES == IP6T_SO_GET_ENTRIES);

Result<LegacyTable> read_table(int socket, const std::string& name, bool ipv6) {
  const int level = ipv6 ? static_cast<int>(IPPROTO_IPV6) : static_cast<int>(IPPROTO_IP);
  ipt_getinfo info{};
  name.copy(info.name, sizeof(info.name) - 1);
  socklen_t length = sizeof(info);
  if (::getsockopt(socket, level, IPT_SO_GET_INFO, &info, &length) != 0 || info.size > kMostBytes) {
    return fail_errno("netlink", "cannot read the table " + name, errno);
  }
  LegacyTable table{name, ipv6, info.valid_hooks, {}, {}, {}};
  std::copy_n(info.hook_entry, LegacyTable::kHooks, table.hook_entry.begin());
  std::copy_n(info.underflow, LegacyTable::kHooks, table.underflow.begin());
  constexpr std::size_t kHead = offsetof(ipt_get_entries, entrytable);
  std::vector<std::uint8_t> reply(kHead + info.size);
  std::memcpy(reply.data(), info.name, sizeof(info.name));
  std::memcpy(reply.data() + offsetof(ipt_get_entries, size), &info.size, sizeof(info.size));
  length = static_cast<socklen_t>(reply.size());
  if (::getsockopt(socket, level, IPT_SO_GET_ENTRIES, reply.data(), &length) != 0) {
    return fail_errno("netlink", "cannot read the rules of " + name, errno);
  }
  table.entries.assign(reply.begin() + static_cast<std::ptrdiff_t>(kHead), reply.end());
  return table;
}

Status add_family(bool ipv6, std::vector<FirewallChain>& chains) {
  const auto names = read_text_file("/", ipv6 ? "/proc/thread-self/net/ip6_tables_names"
                                              : "/proc/thread-self/net/ip_tables_names");
  const auto listed = names ? split_words(*names) : std::vector<std::string_view>{};
  if (listed.empty()) {
    return {};
  }
  const UniqueFd socket(::socket(ipv6 ? AF_INET6 : AF_INET, SOCK_RAW | SOCK_CLOEXEC, IPPROTO_RAW));
  if (!socket.valid()) {
    return errno == EPERM
               ? Status(fail("not-permitted", "reading legacy firewall rules needs root"))
               : Status(fail_errno("netlink", "cannot open a raw socket", errno));
  }
  for (const auto name : listed) {
    const auto table = read_table(socket.get(), std::string(name), ipv6);
    if (!table) {
      return tl::unexpected(table.error());
    }
    const auto more = parse_legacy_table(*table);
    chains.insert(chains.end(), more.begin(), more.end());
  }
  return {};
}

}  // namespace

std::vector<FirewallChain> parse_legacy_table(const LegacyTable& table) {
  std::vector<FirewallChain> chains;
  for (std::size_t hook = 0; hook < LegacyTable::kHooks; ++hook) {
    if ((table.valid_hooks & (1U << hook)) == 0) {
      continue;
    }
    FirewallChain chain;
    chain.table = fmt::format("{} (legacy)", table.name);
    chain.name = table.ipv6 ? "IPv6" : "IPv4";
    chain.hook = kHookNames.at(hook);
    const auto policy = rule_at(table, table.underflow.at(hook));
    chain.policy = policy && refuses(*policy) ? "drop" : "accept";
    add_rules(table, table.hook_entry.at(hook), table.underflow.at(hook), chain);
    chains.push_back(std::move(chain));
  }
  return chains;
}

Result<std::vector<FirewallChain>> read_legacy_firewall() {
  std::vector<FirewallChain> chains;
  for (const bool ipv6 : {false, true}) {
    if (const auto added = add_family(ipv6, chains); !added) {
      return tl::unexpected(added.error());
    }
  }
  return chains;
}

}  // namespace netbench::facts
