#include "bench/facts/host_facts.hpp"

#include <array>
#include <memory>

#include "bench/facts/collectors.hpp"
#include "bench/facts/recorded_network.hpp"

namespace netbench::facts {

namespace {

constexpr std::array kOfHost{
    collect_system,     collect_cgroup,   collect_cpu,       collect_cpu_power, collect_sysctls,
    collect_bus_policy, collect_security, collect_conntrack, collect_versions,  collect_rdma};

/// In this order: the first finds what the others go by.
constexpr std::array kOfNetwork{collect_path,        collect_links,     collect_slots,
                                collect_interrupts,  collect_modules,   collect_bonds,
                                collect_disciplines, collect_neighbour, collect_firewall,
                                collect_mounts,      collect_names,     collect_lldp};

std::string text_of(const FactList& facts, std::string_view key) {
  const Fact* fact = facts.find(key);
  const auto* text = fact == nullptr ? nullptr : std::get_if<std::string>(&fact->value);
  return text == nullptr ? std::string{} : *text;
}

Result<std::unique_ptr<NetworkReader>> open_network(const std::string& root) {
  if (root == "/") {
    return open_kernel_network();
  }
  auto recorded = open_recorded_network(root);
  return recorded ? Result<std::unique_ptr<NetworkReader>>(std::move(recorded))
                  : fail("not-recorded", "a recorded tree has no kernel to ask");
}

void collect_network(FactList& facts, HostInfo& host, const CollectOptions& options,
                     NetworkReader& network) {
  Place place{facts, host, options, network, {}, {}, {}};
  for (const auto collect : kOfNetwork) {
    collect(place);
  }
}

}  // namespace

CollectOptions options_towards(const std::string& local_address, const std::string& peer_address,
                               const std::string& peer_name) {
  const bool loopback = peer_address.starts_with("127.") || peer_address == "::1";
  CollectOptions options;
  options.local_address = local_address;
  options.peer_address = peer_address;
  options.peer_name = loopback ? "" : peer_name;
  return options;
}

HostInfo collect_host(const CollectOptions& options) {
  HostInfo host;
  FactList facts(options.root);
  for (const auto collect : kOfHost) {
    collect(facts);
  }
  if (options.network != nullptr) {
    collect_network(facts, host, options, *options.network);
  } else if (const auto network = open_network(options.root); network) {
    collect_network(facts, host, options, **network);
  } else {
    facts.add_unknown("path.interface", "rtnetlink", network.error().message);
  }
  host.name = text_of(facts, "host.name");
  host.boot_id = text_of(facts, "host.boot_id");
  host.facts = facts.take();
  return host;
}

}  // namespace netbench::facts
