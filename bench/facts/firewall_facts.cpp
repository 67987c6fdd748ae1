#include <fmt/format.h>

#include <algorithm>

#include "bench/facts/collectors.hpp"
#include "bench/facts/text_files.hpp"

namespace netbench::facts {

namespace {

constexpr const char* kSource = "netfilter netlink NFT_MSG_GETCHAIN";

// What iptables-legacy has loaded; its rules can only be had by iptables itself.
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

}  // namespace

void collect_firewall(Place& place) {
  FactList& facts = place.facts;
  const auto legacy = legacy_tables(facts);
  facts.add("firewall.legacy_tables", legacy.empty() ? "none seen" : legacy,
            "/proc/net/ip_tables_names");
  const auto chains = place.network.firewall();
  if (!chains && chains.error().slug != "no-nf-tables") {
    facts.add_unknown("firewall.ruleset", kSource, chains.error().message);
    facts.add_unknown("firewall.input_policy", kSource, chains.error().message);
    return;
  }
  const auto known = chains ? *chains : std::vector<FirewallChain>{};
  std::int64_t rules = 0;
  for (const auto& chain : known) {
    rules += chain.rules;
  }
  facts.add("firewall.ruleset",
            known.empty() ? std::string("none")
                          : fmt::format("nf_tables: {} base chains, {} rules", known.size(), rules),
            kSource);
  for (const char* hook : {"input", "forward", "output"}) {
    add_hook(facts, known, hook);
  }
}

}  // namespace netbench::facts
