#include "bench/facts/sampling_row.hpp"

#include <fmt/format.h>
#include <net/if.h>
#include <time.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <system_error>
#include <utility>

#include "bench/core/clock.hpp"
#include "bench/facts/text_files.hpp"

namespace netbench::facts {

namespace {

constexpr std::int64_t kCostShare = 200;  // a look may cost this part of the time to the next

struct QueueField {
  const char* name;
  std::uint64_t QdiscTotals::*count;
};
constexpr std::array kQueueFields{
    QueueField{"bytes", &QdiscTotals::bytes}, QueueField{"packets", &QdiscTotals::packets},
    QueueField{"drops", &QdiscTotals::drops}, QueueField{"requeues", &QdiscTotals::requeues},
    QueueField{"overlimits", &QdiscTotals::overlimits}};

/// Of the calling thread: a look that had to wait for a CPU is not dear.
Nanoseconds thread_cpu_time() {
  timespec spent{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &spent);
  return std::chrono::seconds(spent.tv_sec) + Nanoseconds(spent.tv_nsec);
}

std::uint64_t median_of(std::vector<std::uint64_t> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

void add_difference(const std::string& key, std::uint64_t before, std::uint64_t after,
                    CounterDelta& result) {
  if (after < before) {
    result.notes.push_back(fmt::format("{} ran backwards ({} to {}): dropped", key, before, after));
  } else {
    result.counters[key] = static_cast<double>(after - before);
  }
}

}  // namespace

RowSampler::RowSampler(RowSamplerOptions options)
    : options_(std::move(options)), rdma_(options_.root) {
  const bool live = options_.root == "/";
  const std::string sockstat =
      live ? "/proc/thread-self/net/sockstat" : options_.root + "/proc/net/sockstat";
  if (auto file = open_regular_file("/", sockstat); file) {
    sockstat_ = std::move(*file);
  } else {
    missing_.push_back(file.error().message);
  }
  ends_options_ = {options_.root, options_.interface, 0, options_.known_pids};
  if (!live || options_.interface.empty()) {
    return;
  }
  ends_options_.interface_index = static_cast<int>(::if_nametoindex(options_.interface.c_str()));
  if (!options_.qdiscs) {
    if (auto kernel = open_qdisc_reader(options_.interface); kernel) {
      options_.qdiscs = std::move(*kernel);
    } else {
      missing_.push_back(kernel.error().message);
    }
  }
}

RowSampler::~RowSampler() { stop_looking(); }

void RowSampler::note(const std::string& text) {
  if (std::ranges::find(notes_, text) == notes_.end()) {
    notes_.push_back(text);
  }
}

void RowSampler::begin() {
  stop_looking();
  notes_ = missing_;
  first_.reset();
  last_.reset();
  backlogs_.clear();
  tcp_memory_.reset();
  rdma_before_ = rdma_.take();
  before_ = read_host_ends(ends_options_);
  look_at_queues();
  first_ = last_;
  backlogs_.clear();  // nothing was sent yet
  running_ = true;
  stopping_ = false;
  try {
    thread_ = std::thread([this] { run(); });
  } catch (const std::system_error& error) {
    note(fmt::format("no thread to look at the host with: {}", error.what()));
  }
}

void RowSampler::stop_looking() {
  {
    const std::scoped_lock lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) {
    thread_.join();
  }
  running_ = false;
}

void RowSampler::run() {
  Nanoseconds wait = options_.period;
  std::unique_lock lock(mutex_);
  while (!changed_.wait_for(lock, wait, [this] { return stopping_; })) {
    const Nanoseconds before = thread_cpu_time();
    look();
    const Nanoseconds cost = thread_cpu_time() - before;
    wait = std::max<Nanoseconds>(options_.period, cost * kCostShare);
  }
}

void RowSampler::look() {
  look_at_queues();
  std::array<char, 1024> text{};
  const ssize_t got =
      sockstat_.valid() ? ::pread(sockstat_.get(), text.data(), text.size(), 0) : -1;
  if (got > 0) {
    const auto pages = parse_tcp_memory({text.data(), static_cast<std::size_t>(got)});
    tcp_memory_ = std::max(tcp_memory_, pages);
  }
}

void RowSampler::look_at_queues() {
  if (!options_.qdiscs) {
    return;
  }
  const auto queues = options_.qdiscs();
  if (!queues) {
    note(queues.error().message);
    return;
  }
  if (const auto totals = qdisc_totals(*queues)) {
    last_ = totals;
    backlogs_.push_back(totals->backlog_bytes);
  }
}

void RowSampler::add_queues(CounterDelta& result) const {
  if (!first_ || !last_) {
    return;
  }
  const std::string& interface = options_.interface;
  for (const auto& [name, count] : kQueueFields) {
    add_difference(fmt::format("qdisc.{}.{}", interface, name), (*first_).*count, (*last_).*count,
                   result);
  }
  if (first_->ingress_drops && last_->ingress_drops) {
    add_difference(fmt::format("qdisc.{}.ingress_drops", interface), *first_->ingress_drops,
                   *last_->ingress_drops, result);
  }
  if (!backlogs_.empty()) {
    result.counters[fmt::format("qdisc.{}.backlog_bytes", interface)] =
        static_cast<double>(median_of(backlogs_));
    result.counters[fmt::format("qdisc_max.{}.backlog_bytes", interface)] =
        static_cast<double>(std::ranges::max(backlogs_));
  }
}

CounterDelta RowSampler::end() {
  if (!running_) {
    return {};
  }
  stop_looking();
  const std::vector<std::uint64_t> backlogs = backlogs_;
  look_at_queues();
  if (!backlogs.empty()) {
    backlogs_ = backlogs;  // by now the streams have ended
  }
  CounterDelta result = host_ends_delta(before_, read_host_ends(ends_options_));
  CounterDelta rdma = rdma_delta(rdma_before_, rdma_.take());
  result.counters.merge(rdma.counters);
  result.notes.insert(result.notes.end(), rdma.notes.begin(), rdma.notes.end());
  add_queues(result);
  if (tcp_memory_) {
    result.counters["sockstat.tcp_mem_pages"] = static_cast<double>(*tcp_memory_);
  }
  result.notes.insert(result.notes.end(), notes_.begin(), notes_.end());
  return result;
}

}  // namespace netbench::facts
