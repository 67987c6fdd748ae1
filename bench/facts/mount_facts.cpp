#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "bench/facts/addresses.hpp"
#include "bench/facts/collectors.hpp"
#include "bench/facts/text_files.hpp"

namespace netbench::facts {

namespace {

constexpr const char* kSource = "/proc/self/mounts";
constexpr std::size_t kMostServers = 64;

// The server's address among the options: nfs(5), mount.cifs(8).
std::string server_address(std::string_view options) {
  constexpr std::string_view kKey = "addr=";
  while (!options.empty()) {
    const auto comma = std::min(options.find(','), options.size());
    const auto option = options.substr(0, comma);
    options.remove_prefix(std::min(comma + 1, options.size()));
    if (option.starts_with(kKey)) {
      return std::string(option.substr(kKey.size()));
    }
  }
  return {};
}

// Servers of network file systems, and how many mounts each has.
std::map<std::string, int> servers_of(std::string_view mounts) {
  constexpr std::array<std::string_view, 4> kKinds{"nfs", "nfs4", "cifs", "smb3"};
  std::map<std::string, int> servers;
  for (const auto line : split_lines(mounts)) {
    const auto words = split_words(line);  // device, folder, kind, options: fstab(5)
    if (words.size() > 3 && std::ranges::find(kKinds, words[2]) != kKinds.end()) {
      if (const auto address = server_address(words[3]); !address.empty()) {
        ++servers[address];
      }
    }
  }
  return servers;
}

}  // namespace

void collect_mounts(Place& place) {
  const auto mounts = read_text_file(place.facts.root(), kSource);
  if (!mounts) {
    place.facts.add_unknown("nfs.mounts_on_interface", kSource, mounts.error().message);
    return;
  }
  std::int64_t count = 0;
  std::string servers;
  std::size_t asked = 0;
  for (const auto& [address, mounted] : servers_of(*mounts)) {
    const auto route = parse_ip(address) && ++asked <= kMostServers
                           ? place.network.route_to(address, {})
                           : Result<RouteInfo>(fail("bad-address", address));
    if (route && route->interface == place.host.interface) {
      count += mounted;
      servers += (servers.empty() ? "" : ",") + address;
    }
  }
  place.facts.add("nfs.mounts_on_interface", count, kSource);
  if (count > 0) {
    place.facts.add("nfs.servers_on_interface", servers, kSource);
  }
}

}  // namespace netbench::facts
