#include "bench/model/facts.hpp"

#include <algorithm>

namespace netbench {

const Fact* find_fact(const HostInfo& host, std::string_view key) {
  const auto found = std::ranges::find(host.facts, key, &Fact::key);
  return found == host.facts.end() ? nullptr : &*found;
}

}  // namespace netbench
