#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "bench/core/unique_fd.hpp"
#include "bench/facts/counters.hpp"
#include "bench/facts/qdisc_counters.hpp"
#include "bench/facts/rdma_counters.hpp"
#include "bench/facts/sampling_ends.hpp"

namespace netbench::facts {

struct RowSamplerOptions {
  std::string root = "/";
  std::string interface;        // carries the test traffic; "" = no queues, no AER counters
  std::vector<int> known_pids;  // processes of this run besides ours
  std::chrono::milliseconds period{100};
  QdiscReader qdiscs;  // empty: the kernel's where root is "/", else none
};

/// Looks at a host while a row runs: what moves within it at 10 Hz on a thread of its own, the rest
/// at its ends. A look that costs more than a two-hundredth of the period makes them rarer, so that
/// they never take more than half a per cent of a core. Everything is of the network namespace in
/// which the sampler was made. [one thread at a time]
class RowSampler {
 public:
  explicit RowSampler(RowSamplerOptions options);
  RowSampler(const RowSampler&) = delete;
  RowSampler& operator=(const RowSampler&) = delete;
  ~RowSampler();

  /// Reads the beginning and starts to look; a row in progress is given up.
  void begin();

  /// Ends the row. Keys of host_ends_delta(), and qdisc.<dev>.{bytes,packets,drops,requeues,
  /// overlimits}: differences; qdisc.<dev>.ingress_drops where there is such a discipline;
  /// qdisc.<dev>.backlog_bytes and qdisc_max.<dev>.backlog_bytes: median and maximum of the looks;
  /// sockstat.tcp_mem_pages: the maximum of the looks; rdma.<rail>.<name>: differences of what
  /// moved. What cannot be read gives no key and a note.
  /// Nothing without begin().
  [[nodiscard]] CounterDelta end();

  /// One look, as the thread takes it.
  void look();

 private:
  void run();
  void stop_looking();
  void look_at_queues();
  void add_queues(CounterDelta& result) const;
  void note(const std::string& text);

  RowSamplerOptions options_;
  HostEndsOptions ends_options_;
  UniqueFd sockstat_;
  RdmaCounterReader rdma_;
  std::vector<std::string> missing_;  // since the sampler was made

  bool running_ = false;
  HostEnds before_;
  RdmaCounts rdma_before_;
  std::optional<QdiscTotals> first_;
  std::optional<QdiscTotals> last_;
  std::vector<std::uint64_t> backlogs_;
  std::optional<std::uint64_t> tcp_memory_;
  std::vector<std::string> notes_;  // of this row

  std::mutex mutex_;
  std::condition_variable changed_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace netbench::facts
