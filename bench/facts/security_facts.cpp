#include "bench/facts/collectors.hpp"
#include "bench/facts/text_files.hpp"

namespace netbench::facts {

namespace {

void add_selinux(FactList& facts) {
  const std::string path = "/sys/fs/selinux/enforce";
  if (const auto text = read_line_file(facts.root(), path); text) {
    facts.add("security.selinux", std::string(*text == "1" ? "enforcing" : "permissive"), path);
  } else {
    facts.add("security.selinux", std::string("off"), path);
  }
}

// The profile of this very process, as the module names it: "docker-default (enforce)".
void add_apparmor(FactList& facts) {
  const std::string enabled = "/sys/module/apparmor/parameters/enabled";
  const auto text = read_line_file(facts.root(), enabled);
  if (!text || *text != "Y") {
    facts.add("security.apparmor", std::string("off"), enabled);
    return;
  }
  for (const char* path : {"/proc/self/attr/apparmor/current", "/proc/self/attr/current"}) {
    if (const auto profile = read_line_file(facts.root(), path); profile && !profile->empty()) {
      facts.add("security.apparmor", *profile, path);
      return;
    }
  }
  facts.add_unknown("security.apparmor", enabled, "it is on, and does not tell this profile");
}

void add_entries(FactList& facts, const char* key, const std::string& path) {
  const auto text = read_line_file(facts.root(), path);
  const auto number = text ? to_integer(*text) : std::nullopt;
  if (number) {
    facts.add(key, *number, path);
  } else {
    facts.add_unknown(key, path, "connection tracking is not loaded");
  }
}

}  // namespace

void collect_security(FactList& facts) {
  add_selinux(facts);
  add_apparmor(facts);
}

void collect_conntrack(FactList& facts) {
  add_entries(facts, "conntrack.count", "/proc/sys/net/netfilter/nf_conntrack_count");
  add_entries(facts, "conntrack.max", "/proc/sys/net/netfilter/nf_conntrack_max");
}

}  // namespace netbench::facts
