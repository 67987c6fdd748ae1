#include "transports/verbs/stream_threads.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <numeric>
#include <utility>

#include "transports/sdk/thread_use.hpp"

namespace netbench::verbs {
namespace {

template <class Loop>
class RunnerOf final : public StreamRunner {
 public:
  template <class W>
  RunnerOf(Group& group, W waiter, StreamCounts& counts)
      : loop_(group.rings, waiter, group.queue->get(), counts) {}
  bool run(const StreamOrders& orders) noexcept override { return loop_.run(orders); }
  const LoopFailure& failure() const noexcept override { return loop_.failure(); }

 private:
  Loop loop_;
};

template <Op kOp, Duty kDuty, bool kReliable, Wait kWait>
std::unique_ptr<StreamRunner> make_runner(Group& group, StreamCounts& counts) {
  rdma::CompletionChannel* channel = group.channel ? &*group.channel : nullptr;
  return std::make_unique<RunnerOf<StreamLoop<kOp, kDuty, kReliable, kWait>>>(
      group, Waiter<kWait>(&*group.queue, channel), counts);
}

using MakeRunner = std::unique_ptr<StreamRunner> (*)(Group&, StreamCounts&);
using ByWait = std::array<MakeRunner, kWaitChoices.size()>;

template <Op kOp, Duty kDuty, bool kReliable>
constexpr ByWait by_wait() {
  return {&make_runner<kOp, kDuty, kReliable, Wait::adaptive>,
          &make_runner<kOp, kDuty, kReliable, Wait::poll>,
          &make_runner<kOp, kDuty, kReliable, Wait::event>};
}

struct Choice {
  Op op;
  Duty duty;
  bool reliable;
  ByWait by_wait;
};

template <Op kOp, Duty kDuty, bool kReliable>
constexpr Choice choice() {
  return {kOp, kDuty, kReliable, by_wait<kOp, kDuty, kReliable>()};
}

/// Only the receiving of a two-sided operation depends on whether messages may be lost.
constexpr std::array kChoices = {
    choice<Op::write, Duty::post, true>(),      choice<Op::write_imm, Duty::post, true>(),
    choice<Op::write_imm, Duty::take, true>(),  choice<Op::write_imm, Duty::both, true>(),
    choice<Op::write_imm, Duty::take, false>(), choice<Op::write_imm, Duty::both, false>(),
    choice<Op::send, Duty::post, true>(),       choice<Op::send, Duty::take, true>(),
    choice<Op::send, Duty::both, true>(),       choice<Op::send, Duty::take, false>(),
    choice<Op::send, Duty::both, false>(),      choice<Op::read, Duty::post, true>(),
    choice<Op::fetch_add, Duty::post, true>(),  choice<Op::compare_swap, Duty::post, true>(),
};

std::optional<Duty> duty_of(const Options& options) {
  const bool takes = options.two_sided() && options.is_target();
  if (options.posts()) {
    return takes ? Duty::both : Duty::post;
  }
  return takes ? std::optional(Duty::take) : std::nullopt;
}

MakeRunner find_maker(const Options& options, Duty duty) {
  const bool reliable = duty == Duty::post || options.reliable();
  const auto at = std::ranges::find_if(kChoices, [&](const Choice& row) {
    return row.op == options.op && row.duty == duty && row.reliable == reliable;
  });
  return at->by_wait[static_cast<std::size_t>(options.wait)];
}

}  // namespace

StreamThreads::StreamThreads(Endpoint& endpoint, Lifecycle& life)
    : endpoint_(endpoint), life_(life) {
  const std::optional<Duty> duty = duty_of(endpoint.options());
  if (!duty) {
    return;
  }
  std::vector<sdk::Job> jobs;
  for (Group& group : endpoint_.groups()) {
    counts_.push_back(std::make_unique<StreamCounts>());
    runners_.push_back(find_maker(endpoint.options(), *duty)(group, *counts_.back()));
    jobs.push_back(job_of(jobs.size()));
  }
  team_.launch(std::move(jobs));
}

StreamThreads::~StreamThreads() { end(); }

sdk::Job StreamThreads::job_of(std::size_t index) {
  const auto work = [this, index] {
    StreamRunner& runner = *runners_[index];
    if (!runner.run({stop_, life_.quitting()})) {
      const LoopFailure* none = nullptr;
      failed_.compare_exchange_strong(none, &runner.failure());
      life_.notify();
    }
  };
  return {{}, work, endpoint_.options().cpu_of(index)};
}

void StreamThreads::stop_posting() {
  stop_ = true;
  team_.start();
}

bool StreamThreads::drained() const {
  return !endpoint_.options().posts() || std::ranges::all_of(counts_, [](const auto& counts) {
    return counts->drained.load(std::memory_order_acquire);
  });
}

void StreamThreads::end() {
  stop_ = true;
  life_.quit();
  team_.join();
}

StreamTotals StreamThreads::totals() const {
  constexpr auto kRelaxed = std::memory_order_relaxed;
  StreamTotals totals;
  for (const auto& counts : counts_) {
    totals.posted += counts->intervals.load(kRelaxed) * endpoint_.depths().interval;
    totals.records += counts->records.load(kRelaxed);
    totals.completed += counts->completed.load(kRelaxed);
    totals.received += counts->received.load(kRelaxed);
    totals.polls += counts->polls.load(kRelaxed);
    totals.completions += counts->completions.load(kRelaxed);
    totals.events += counts->events.load(kRelaxed);
  }
  return totals;
}

namespace {

template <class Get>
std::uint64_t sum_receives(const std::vector<Group>& groups, Get get) {
  std::uint64_t sum = 0;
  for (const Group& group : groups) {
    for (const LaneRings& rings : group.rings) {
      sum += rings.receive != nullptr ? std::invoke(get, *rings.receive) : 0;
    }
  }
  return sum;
}

}  // namespace

std::uint64_t StreamThreads::receive_doorbells() const {
  return sum_receives(endpoint_.groups(), &ReceiveRing::doorbells);
}

std::uint64_t StreamThreads::reordered() const {
  return sum_receives(endpoint_.groups(), &ReceiveRing::reordered);
}

void StreamThreads::emit_use(const sdk::Sink& sink) const {
  sdk::ThreadUseSum use;
  for (std::size_t index = 0; index < team_.size(); ++index) {
    const sdk::ThreadUse one = team_.use(index);
    use.add(one, 0);
    sink.number("thread." + std::to_string(index) + ".cpu_s", one.cpu_s);
  }
  use.emit(sink, endpoint_.options().sends_payload() ? "send" : "recv");
}

}  // namespace netbench::verbs
