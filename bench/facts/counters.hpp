#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "bench/core/result.hpp"
#include "bench/core/unique_fd.hpp"
#include "bench/facts/network_reader.hpp"
#include "bench/model/value.hpp"

namespace netbench::facts {

/// User + system time of another process that belongs to this run.
struct ProcessCpu {
  int pid = 0;
  double cpu_s = 0;
};

/// Raw readings of a host at one moment; the text is parsed by delta(), so that taking one is
/// cheap.
struct Snapshot {
  std::int64_t at_ns = 0;  // CLOCK_MONOTONIC
  std::string interface;
  std::string snmp;      // /proc/net/snmp
  std::string snmp6;     // /proc/net/snmp6
  std::string netstat;   // /proc/net/netstat
  std::string softnet;   // /proc/net/softnet_stat
  std::string stat;      // /proc/stat
  NamedCounts link;      // rtnetlink IFLA_STATS64 of the interface
  NamedCounts nic;       // ethtool -S of the interface
  double own_cpu_s = 0;  // getrusage(RUSAGE_SELF), user + system
  std::vector<ProcessCpu> known_processes;
  std::vector<std::string> missing;  // "<source>: <why>"
};

struct SnapshotOptions {
  std::string root = "/";
  std::string interface;             // "" = no interface counters
  std::vector<int> known_pids;       // processes of this run besides ours (self mode: the peer's)
  bool nic_statistics = true;        // ethtool -S; slow on some drivers (firmware commands)
  NetworkReader* network = nullptr;  // null: the kernel's where root is "/", else none
};

/// Keeps the files open, so that a snapshot costs a handful of reads: 0.14 ms on 2 CPUs; it grows
/// with their number, since the kernel sums per-CPU counters. Files stay those of the network
/// namespace in which the sampler was opened. Move-only; [one thread at a time].
class CounterSampler {
 public:
  [[nodiscard]] static CounterSampler open(SnapshotOptions options);
  [[nodiscard]] Snapshot take();

 private:
  static constexpr std::size_t kFiles = 5;
  explicit CounterSampler(SnapshotOptions options) : options_(std::move(options)) {}
  void take_interface(Snapshot& snapshot);
  void take_processes(Snapshot& snapshot) const;

  SnapshotOptions options_;
  std::array<UniqueFd, kFiles> files_;
  std::array<std::string, kFiles> why_missing_;
  std::unique_ptr<NetworkReader> own_network_;
  NetworkReader* network_ = nullptr;
  std::string network_missing_;
  bool nic_statistics_ = false;
};

/// One snapshot with a sampler of its own.
[[nodiscard]] Snapshot take_snapshot(const SnapshotOptions& options);

/// Differences of the counters that moved, and what could not be compared.
struct CounterDelta {
  Counters counters;
  std::vector<std::string> notes;  // "netstat.X ran backwards: dropped", "…: not readable"
};

/// Keys: snmp.<group>.<name>, snmp6.<name>, netstat.<name> (TcpExt without its group, others with
/// it: netstat.IpExt.InOctets), softnet.{processed,dropped,time_squeeze,flow_limit},
/// if.<dev>.<name>, ethtool.<dev>.<name>, cpu.{busy,user,system,irq,softirq,steal,iowait,idle}_s of
/// the host, and cpu.<n>.{busy,softirq}_s of every CPU that was busy for at least 5 % of the time.
/// Gauges are left out. A counter that ran backwards (wrap, reset) is dropped and noted. Pure.
[[nodiscard]] CounterDelta delta(const Snapshot& before, const Snapshot& after);

/// Where the CPU time between two snapshots went, in CPU seconds of the whole host.
struct CpuUse {
  double elapsed_s = 0;
  double own_s = 0;    // this process, user + system
  double known_s = 0;  // the other processes of this run
  double softirq_s = 0;
  double steal_s = 0;    // taken by the hypervisor
  double busy_s = 0;     // user + nice + system + irq + softirq
  double foreign_s = 0;  // max(0, busy − own − known − softirq)
};

/// /proc/stat counts in ticks of 10 ms per CPU (proc(5)), getrusage in microseconds: foreign_s of a
/// window is uncertain by about a tick a CPU. A kernel without CONFIG_IRQ_TIME_ACCOUNTING counts
/// the softirqs that run inside a process in its time too: there foreign_s is a lower bound. Pure.
[[nodiscard]] CpuUse cpu_use(const Snapshot& before, const Snapshot& after);

}  // namespace netbench::facts
