#include "bench/cli/doctor_cable.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <utility>

#include "bench/core/clock.hpp"
#include "bench/core/log.hpp"
#include "bench/facts/lifeline.hpp"
#include "bench/facts/network_reader.hpp"

namespace netbench::cli {

namespace {

/// PHYs take up to about 15 s for all pairs of a long cable.
constexpr Nanoseconds kResultLimit = std::chrono::seconds(30);

Status check_spared(const CableRequest& request, const facts::LinkInfo& link,
                    facts::NetworkReader& network) {
  const char* ssh = std::getenv("SSH_CONNECTION");
  return request.force ? Status{}
                       : facts::check_lifeline(
                             link, {ssh != nullptr ? ssh : "", request.towards},
                             "its cable is not tested, since that takes the link down", network);
}

}  // namespace

Status test_cable(const CableRequest& request, HostInfo& host) {
  const auto network = facts::open_kernel_network();
  if (!network) {
    return tl::unexpected(network.error());
  }
  const auto link = (*network)->link(request.interface);
  if (!link) {
    return fail("no-such-interface",
                fmt::format("this host has no interface \"{}\"", request.interface), {},
                ExitClass::usage);
  }
  if (auto spared = check_spared(request, *link, **network); !spared) {
    return spared;
  }
  log(LogLevel::warning,
      fmt::format("testing the cable of {}: its link goes down for some seconds", link->name));
  auto facts = (*network)->test_cable(link->name, kResultLimit);
  if (!facts) {
    return tl::unexpected(facts.error());
  }
  for (Fact& fact : *facts) {
    fact.key = fmt::format("if.{}.{}", link->name, fact.key);
    host.facts.push_back(std::move(fact));
  }
  return {};
}

}  // namespace netbench::cli
