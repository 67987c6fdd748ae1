#include <fmt/format.h>

#include <algorithm>

#include "bench/facts/collectors.hpp"
#include "bench/facts/text_files.hpp"

namespace netbench::facts {

namespace {

constexpr const char* kSource = "netfilter netlink NFT_MSG_GETCHAIN";

// What iptables-legacy has loaded.
std::string legacy_tables(const FactList& facts) {
  std::string tables;
  for (const char* file : {"/proc/net/ip_tables_names", "/proc/net/ip6_tables_names"}) {
    const auto text = read_text_file(facts.root(), file);
    for (const auto name : text ? split_words(*text) : std::vector<std::string_view>{}) {
      tables += fmt::format("{}{}", tables.empty() ? "" : ",", name);
    }
  }
  return tables;
}

void add_hook(FactList& facts, const std::vector<FirewallChain>& chains, std::string_view hook) {
  const auto meets = [&](const FirewallChain& chain) { return chain.hook == hook; };
  std::int64_t rules = 0;
  bool drops = false;
  bool refuses = false;
  for (const auto& chain : chains) {
    if (meets(chain)) {
      rules += chain.rules;
      drops = drops || chain.policy == "drop";
      refuses = refuses || chain.refuses;
    }
  }
  const std::string prefix = fmt::format("firewall.{}_", hook);
  facts.add(prefix + "policy", std::string(drops ? "drop" : "accept"), kSource);
  facts.add(prefix + "rules", rules, "netfilter netlink NFT_MSG_GETRULE");
  facts.add(prefix + "refuses", refuses, "netfilter netlink NFT_MSG_GETRULE");
}

/// "2 base chains, 7 rules".
std::string count_text(const std::vector<FirewallChain>& chains) {
  std::int64_t rules = 0;
  for (const auto& chain : chains) {
    rules += chain.rules;
  }
  return fmt::format("{} base chains, {} rules", chains.size(), rules);
}

// The rules of the older filter; the tables that are loaded but cannot be read are told too.
Result<std::vector<FirewallChain>> add_legacy(Place& place) {
  constexpr const char* kLegacySource = "getsockopt IPT_SO_GET_ENTRIES";
  FactList& facts = place.facts;
  const auto tables = legacy_tables(facts);
  facts.add("firewall.legacy_tables", tables.empty() ? "none seen" : tables,
            "/proc/net/ip_tables_names");
  if (tables.empty()) {
    return std::vector<FirewallChain>{};
  }
  auto chains = place.network.legacy_firewall();
  if (!chains) {
    facts.add_unknown(
        "firewall.legacy_rules", kLegacySource,
        fmt::format("tables {} in use, rules unread: {}", tables, chains.error().message));
    return chains;
  }
  facts.add("firewall.legacy_rules", count_text(*chains), kLegacySource);
  return chains;
}

}  // namespace

void collect_firewall(Place& place) {
  FactList& facts = place.facts;
  const auto legacy = add_legacy(place);
  const auto chains = place.network.firewall();
  const bool without = !chains && chains.error().slug == "no-nf-tables";
  if ((!chains && !without) || !legacy) {
    const std::string why = legacy ? chains.error().message : legacy.error().message;
    facts.add_unknown("firewall.ruleset", kSource, why);
    facts.add_unknown("firewall.input_policy", kSource, why);
    return;
  }
  auto known = chains ? *chains : std::vector<FirewallChain>{};
  std::string text = known.empty() ? "" : "nf_tables: " + count_text(known);
  if (!legacy->empty()) {
    text += fmt::format("{}iptables-legacy: {}", text.empty() ? "" : "; ", count_text(*legacy));
  }
  known.insert(known.end(), legacy->begin(), legacy->end());
  facts.add("firewall.ruleset", text.empty() ? std::string("none") : text, kSource);
  for (const char* hook : {"input", "forward", "output"}) {
    add_hook(facts, known, hook);
  }
}

}  // namespace netbench::facts
