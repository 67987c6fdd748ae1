#include "bench/facts/firewall_reader.hpp"

#include <arpa/inet.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nf_tables_compat.h>
#include <linux/netfilter/nfnetlink.h>

#include <array>
#include <cerrno>
#include <map>
#include <set>

namespace netbench::facts {

namespace {

// Hooks of the families inet, ip and ip6 (linux/netfilter.h).
constexpr std::array<std::string_view, 6> kHooks{"prerouting", "input",       "forward",
                                                 "output",     "postrouting", "ingress"};

std::uint32_t big_endian(ByteSpan attributes, std::uint16_t type) {
  return ntohl(attribute_u32(attributes, type).value_or(0));
}

/// The rules of one chain: how many, whether one refuses packets, and where they lead.
struct ChainRules {
  std::int64_t count = 0;
  bool refuses = false;
  std::set<std::string> targets;  // chains of the same table
};

// "immediate" into the verdict register: drop, or a jump to another chain.
void take_verdict(ByteSpan data, ChainRules& rules) {
  const ByteSpan verdict =
      find_attribute(find_attribute(data, NFTA_IMMEDIATE_DATA), NFTA_DATA_VERDICT);
  if (find_attribute(verdict, NFTA_VERDICT_CODE).empty()) {
    return;
  }
  rules.refuses = rules.refuses || big_endian(verdict, NFTA_VERDICT_CODE) == NF_DROP;
  if (auto chain = attribute_string(verdict, NFTA_VERDICT_CHAIN); !chain.empty()) {
    rules.targets.insert(std::move(chain));
  }
}

void take_rule(ByteSpan rule, ChainRules& rules) {
  ++rules.count;
  for (const ByteSpan expression :
       all_attributes(find_attribute(rule, NFTA_RULE_EXPRESSIONS), NFTA_LIST_ELEM)) {
    const std::string name = attribute_string(expression, NFTA_EXPR_NAME);
    const ByteSpan data = find_attribute(expression, NFTA_EXPR_DATA);
    // "target": an extension of iptables behind iptables-nft.
    const std::string target =
        name == "target" ? attribute_string(data, NFTA_TARGET_NAME) : std::string{};
    if (name == "reject" || target == "REJECT" || target == "DROP") {
      rules.refuses = true;
    } else if (name == "immediate") {
      take_verdict(data, rules);
    }
  }
}

using ChainKey = std::pair<std::string, std::string>;  // family and table; chain
using RuleMap = std::map<ChainKey, ChainRules>;

std::string table_key(ByteSpan body, const std::string& table) {
  return std::to_string(header_of<nfgenmsg>(body).nfgen_family) + " " + table;
}

RuleMap map_rules(std::span<const NetlinkMessage> rules) {
  RuleMap map;
  for (const auto& message : rules) {
    const ByteSpan rule = attributes_after(message.body, sizeof(nfgenmsg));
    const auto table = table_key(message.body, attribute_string(rule, NFTA_RULE_TABLE));
    take_rule(rule, map[{table, attribute_string(rule, NFTA_RULE_CHAIN)}]);
  }
  return map;
}

// Adds up the chain and those that it leads to.
void follow(const RuleMap& map, const std::string& table, FirewallChain& base) {
  std::set<std::string> seen{base.name};
  std::vector<std::string> waiting{base.name};
  while (!waiting.empty()) {
    const auto found = map.find({table, waiting.back()});
    waiting.pop_back();
    if (found == map.end()) {
      continue;
    }
    base.rules += found->second.count;
    base.refuses = base.refuses || found->second.refuses;
    for (const auto& target : found->second.targets) {
      if (seen.insert(target).second) {
        waiting.push_back(target);
      }
    }
  }
}

Result<std::vector<NetlinkMessage>> dump(RtNetlink& socket, std::uint16_t command) {
  std::vector<std::uint8_t> body;
  append_header(body, nfgenmsg{NFPROTO_UNSPEC, NFNETLINK_V0, 0});
  const auto type = static_cast<std::uint16_t>((NFNL_SUBSYS_NFTABLES << 8) | command);
  auto reply = socket.talk(type, NLM_F_DUMP, body);
  if (reply.error_number == EPERM) {
    return fail("not-permitted", "asking for firewall rules needs CAP_NET_ADMIN");
  }
  if (reply.error_number == EINVAL || reply.error_number == EOPNOTSUPP) {
    return fail("no-nf-tables", "the kernel has no nf_tables");
  }
  if (reply.error_number != 0) {
    return fail_errno("netlink", "cannot list the firewall's rules", reply.error_number);
  }
  return std::move(reply.messages);
}

}  // namespace

std::vector<FirewallChain> parse_firewall(std::span<const NetlinkMessage> chains,
                                          std::span<const NetlinkMessage> rules) {
  const RuleMap map = map_rules(rules);
  std::vector<FirewallChain> found;
  for (const auto& message : chains) {
    const ByteSpan chain = attributes_after(message.body, sizeof(nfgenmsg));
    const ByteSpan hook = find_attribute(chain, NFTA_CHAIN_HOOK);
    if (hook.empty()) {
      continue;  // met only by a jump
    }
    const auto number = big_endian(hook, NFTA_HOOK_HOOKNUM);
    const bool drops = !find_attribute(chain, NFTA_CHAIN_POLICY).empty() &&
                       big_endian(chain, NFTA_CHAIN_POLICY) == NF_DROP;
    FirewallChain base;
    base.table = attribute_string(chain, NFTA_CHAIN_TABLE);
    base.name = attribute_string(chain, NFTA_CHAIN_NAME);
    base.hook = number < kHooks.size() ? kHooks.at(number) : "unknown";
    base.policy = drops ? "drop" : "accept";
    follow(map, table_key(message.body, base.table), base);
    found.push_back(std::move(base));
  }
  return found;
}

Result<std::vector<FirewallChain>> read_firewall() {
  auto socket = RtNetlink::open(NETLINK_NETFILTER);
  if (!socket) {
    return fail("no-nf-tables", "the kernel has no netfilter netlink");
  }
  const auto chains = dump(*socket, NFT_MSG_GETCHAIN);
  if (!chains) {
    return tl::unexpected(chains.error());
  }
  const auto rules = dump(*socket, NFT_MSG_GETRULE);
  if (!rules) {
    return tl::unexpected(rules.error());
  }
  return parse_firewall(*chains, *rules);
}

}  // namespace netbench::facts
