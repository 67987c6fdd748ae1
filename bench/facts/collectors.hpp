#pragma once

#include <string>
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

/// host.*, kernel.*, os.*, memory.*, cgroup.*, clock.*
void collect_system(FactList& facts);
/// cpu.*, numa.*; also host.virtual_machine, from the CPU's flags.
void collect_cpu(FactList& facts);
/// sysctl.*
void collect_sysctls(FactList& facts);

/// The part of a host that a route and an interface show. Sets name and addresses of the interface
/// in `host`; adds path.* and if.<dev>.*.
void collect_interface(FactList& facts, HostInfo& host, const CollectOptions& options,
                       NetworkReader& network);

/// The PCIe slot of an interface's device, from sysfs; says so where sysfs shows another network
/// namespace (its ifindex differs).
void collect_slot(FactList& facts, const LinkInfo& link);

}  // namespace netbench::facts
