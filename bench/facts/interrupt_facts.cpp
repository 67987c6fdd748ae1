#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>

#include "bench/facts/collectors.hpp"
#include "bench/facts/sysfs.hpp"
#include "bench/facts/text_files.hpp"

namespace netbench::facts {

namespace {

// The CPUs that an interrupt comes to, else those to which it may come (Documentation/core-api/irq/
// irq-affinity.rst).
std::set<int> cpus_of_interrupt(const std::string& root, const std::string& number) {
  for (const char* file : {"effective_affinity_list", "smp_affinity_list"}) {
    const auto list = read_line_file(root, fmt::format("/proc/irq/{}/{}", number, file));
    if (auto cpus = list ? parse_cpu_list(*list) : std::set<int>{}; !cpus.empty()) {
      return cpus;
    }
  }
  return {};
}

// Of the function itself or, for virtio and the like, of the PCI function above it.
std::string interrupt_folder(const FactList& facts, const LinkInfo& link) {
  const std::string device = fmt::format("/sys/class/net/{}/device", link.name);
  const auto functions = pci_functions(real_path(facts.root(), device));
  return (functions.empty() ? device : functions.back().folder) + "/msi_irqs";
}

void add_interrupts(FactList& facts, const LinkInfo& link) {
  const std::string prefix = fmt::format("if.{}.irq.", link.name);
  const std::string folder = interrupt_folder(facts, link);
  const auto numbers = list_directory(facts.root(), folder);
  if (numbers.empty()) {
    facts.add_unknown(prefix + "count", folder, "no message-signalled interrupts there");
    return;
  }
  std::set<int> cpus;
  for (const auto& number : numbers) {
    cpus.merge(cpus_of_interrupt(facts.root(), number));
  }
  const std::string source = "/proc/irq/*/effective_affinity_list";
  facts.add(prefix + "count", static_cast<std::int64_t>(numbers.size()), folder);
  if (cpus.empty()) {
    facts.add_unknown(prefix + "cpus", source, "/proc/irq shows none of its interrupts");
    return;
  }
  facts.add(prefix + "cpus", cpu_list_text(cpus), source);
  facts.add(prefix + "cpu_count", static_cast<std::int64_t>(cpus.size()), source);
  const Fact* local = facts.find(fmt::format("if.{}.local_cpus", link.name));
  const auto* list = local == nullptr ? nullptr : std::get_if<std::string>(&local->value);
  if (list != nullptr) {
    std::set<int> far;
    std::ranges::set_difference(cpus, parse_cpu_list(*list), std::inserter(far, far.end()));
    facts.add(prefix + "far_cpus", cpu_list_text(far), source + " without " + local->source);
  }
}

// Queues, and the CPUs that receive and transmit packet steering hand packets to
// (Documentation/networking/scaling.rst).
void add_steering(FactList& facts, const LinkInfo& link) {
  const std::string folder = fmt::format("/sys/class/net/{}/queues", link.name);
  std::int64_t receive_queues = 0;
  std::int64_t transmit_queues = 0;
  std::set<int> receive_cpus;
  std::set<int> transmit_cpus;
  for (const auto& queue : list_directory(facts.root(), folder)) {
    const bool receives = queue.starts_with("rx-");
    (receives ? receive_queues : transmit_queues) += 1;
    const auto mask = read_line_file(
        facts.root(), fmt::format("{}/{}/{}", folder, queue, receives ? "rps_cpus" : "xps_cpus"));
    (receives ? receive_cpus : transmit_cpus).merge(parse_cpu_mask(mask ? *mask : ""));
  }
  const std::string prefix = fmt::format("if.{}.", link.name);
  if (receive_queues + transmit_queues == 0) {
    facts.add_unknown(prefix + "queues.rx", folder, "no queues there");
    return;
  }
  facts.add(prefix + "queues.rx", receive_queues, folder);
  facts.add(prefix + "queues.tx", transmit_queues, folder);
  facts.add(prefix + "rps.cpus", cpu_list_text(receive_cpus), folder + "/rx-*/rps_cpus");
  facts.add(prefix + "xps.cpus", cpu_list_text(transmit_cpus), folder + "/tx-*/xps_cpus");
}

}  // namespace

void collect_interrupts(Place& place) {
  for (const auto& [link, level] : place.stack) {
    if (const auto shown = sysfs_shows(place.facts.root(), link); !shown) {
      place.facts.add_unknown(fmt::format("if.{}.irq.count", link.name), "/sys/class/net",
                              shown.error().message);
      continue;
    }
    add_interrupts(place.facts, link);
    add_steering(place.facts, link);
  }
}

}  // namespace netbench::facts
