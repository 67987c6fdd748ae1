#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "bench/facts/host_facts.hpp"
#include "bench/facts/network_reader.hpp"

namespace netbench::facts {

/// Gathers the facts of one host; the collectors below add to it.
class FactList {
 public:
  explicit FactList(std::string root) : root_(std::move(root)) {}

  void add(std::string key, Value value, std::string source);
  void add_unknown(std::string key, std::string source, std::string why);
  /// One line of a file below the root, as text or as a whole number.
  void add_text_file(const std::string& key, const std::string& path);
  void add_integer_file(const std::string& key, const std::string& path);
  void append(Fact fact) { facts_.push_back(std::move(fact)); }

  [[nodiscard]] const std::string& root() const { return root_; }
  [[nodiscard]] std::vector<Fact> take() { return std::move(facts_); }
  [[nodiscard]] const Fact* find(std::string_view key) const;

 private:
  std::string root_;
  std::vector<Fact> facts_;
};

// Collectors of the host itself; the prefixes of their keys are beside them.
void collect_system(FactList& facts);  // host.* kernel.* os.* memory.* clock.*
void collect_cgroup(FactList& facts);  // cgroup.* process.*
void collect_cpu(FactList& facts);     // cpu.* numa.*; host.virtual_machine, from the CPU's flags
void collect_cpu_power(FactList& facts);   // cpu.{governor, frequency_*, cstate_*, turbo}
void collect_bus_policy(FactList& facts);  // pcie.aspm_policy kernel.cmdline_iommu iommu.*
void collect_sysctls(FactList& facts);     // sysctl.*
void collect_security(FactList& facts);    // security.*
void collect_conntrack(FactList& facts);   // conntrack.*
void collect_versions(FactList& facts);    // nvidia.* cuda.version nccl.version ofed.version
void collect_rdma(FactList& facts);        // rdma.*

/// One interface of a stack, and how deep it lies: 0 for the one that carries the traffic.
struct StackedLink {
  LinkInfo link;
  int level = 0;
};

/// What the collectors of the network work on. [one thread at a time]
struct Place {
  FactList& facts;
  HostInfo& host;
  const CollectOptions& options;
  NetworkReader& network;
  std::vector<LinkInfo> links;     // every one of this network namespace
  std::vector<StackedLink> stack;  // the interfaces of the test and what they sit on, each once
  std::string next_hop;  // the gateway, or the peer where it is on the link; "" if unknown
};

/// path.* and the interface, its addresses, links and stack: what the others go by.
void collect_path(Place& place);
void collect_links(Place& place);        // if.<dev>.*: rtnetlink and ethtool
void collect_slots(Place& place);        // if.<dev>.pcie.* if.<dev>.numa_node pcie.<bdf>.*
void collect_interrupts(Place& place);   // if.<dev>.{irq,rps,xps,queues}.*
void collect_modules(Place& place);      // if.<dev>.module.*
void collect_bonds(Place& place);        // bond.<dev>.*
void collect_disciplines(Place& place);  // qdisc.<dev>.*
void collect_neighbour(Place& place);    // neighbour.*
void collect_firewall(Place& place);     // firewall.*
void collect_mounts(Place& place);       // nfs.*
void collect_names(Place& place);        // name.*
void collect_lldp(Place& place);         // if.<dev>.lldp.*

/// What the slot of a device is and how its links run: <prefix>.{numa_node, local_cpus,
/// iommu_group_type, pcie.*}, and <bridges>.<bdf>.* of every bridge above it, each once. `device`
/// is its folder in /sys.
void add_slot(FactList& facts, const std::string& prefix, const std::string& bridges,
              const std::string& device);

/// True for a device with hardware of its own behind it: not lo, and of no kind that rtnetlink
/// makes.
[[nodiscard]] bool has_hardware(const LinkInfo& link);

}  // namespace netbench::facts
