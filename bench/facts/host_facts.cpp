#include "bench/facts/host_facts.hpp"

#include <memory>

#include "bench/facts/collectors.hpp"

namespace netbench::facts {

namespace {

std::string text_of(const FactList& facts, std::string_view key) {
  const Fact* fact = facts.find(key);
  const auto* text = fact == nullptr ? nullptr : std::get_if<std::string>(&fact->value);
  return text == nullptr ? std::string{} : *text;
}

}  // namespace

HostInfo collect_host(const CollectOptions& options) {
  HostInfo host;
  FactList facts(options.root);
  collect_system(facts);
  collect_cpu(facts);
  collect_sysctls(facts);
  std::unique_ptr<NetworkReader> own_network;
  NetworkReader* network = options.network;
  std::string why_none = "a recorded tree has no kernel to ask";
  if (network == nullptr && options.root == "/") {
    if (auto kernel = open_kernel_network(); kernel) {
      own_network = std::move(*kernel);
      network = own_network.get();
    } else {
      why_none = kernel.error().message;
    }
  }
  if (network == nullptr) {
    facts.add_unknown("path.interface", "rtnetlink", why_none);
  } else {
    collect_interface(facts, host, options, *network);
  }
  host.name = text_of(facts, "host.name");
  host.boot_id = text_of(facts, "host.boot_id");
  host.facts = facts.take();
  return host;
}

}  // namespace netbench::facts
