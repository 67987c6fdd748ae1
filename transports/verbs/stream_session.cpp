#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "transports/verbs/session.hpp"
#include "transports/verbs/stream_threads.hpp"

namespace netbench::verbs {
namespace {

/// Between two arrivals, bytes over time is exact; between arbitrary moments it is up to what
/// arrives at once too much or too little. No longer than this is waited for one.
constexpr std::int64_t kLongestLumpNs = 20'000'000;
constexpr std::chrono::microseconds kBetweenLooks{20};
constexpr std::chrono::milliseconds kBetweenStopLooks{1};
/// A message of an unreliable transport that has not come for so long is lost.
constexpr std::int64_t kQuietNs = 200'000'000;

/// Messages that had arrived at some moment between two stamps of the clock.
struct Sample {
  std::int64_t before_ns = 0;
  std::int64_t after_ns = 0;
  std::uint64_t messages = 0;
};

std::uint64_t read_word(const std::byte* memory, std::size_t offset) {
  const auto* word = reinterpret_cast<const std::uint64_t*>(memory + offset);
  return std::atomic_ref(*const_cast<std::uint64_t*>(word)).load(std::memory_order_acquire);
}

/// How the receiving end knows what it has, in the order of Op.
constexpr std::array kCounted = {
    "the receiver reads the sequences in its memory (below 8 B: what the sender writes behind the "
    "data every millisecond)",
    "the receiver counts completions",
    "the receiver counts completions",
    "the receiver reads, and counts completions",
    "the receiver reads the counter that the peer adds to",
    "the receiver reads the counter that the peer swaps",
};

class StreamSession final : public Session {
 public:
  using Session::Session;

  const char* method() const override { return method_.c_str(); }

 protected:
  Op carrier(bool) const override { return options().op; }
  void connected() override;
  void run_batch(const nb_batch& batch, nb_batch_result& result) override;
  void emit_counters(const sdk::Sink& sink) const override;
  void finish(TimePoint deadline) override;

 private:
  [[nodiscard]] std::uint64_t received() const;
  [[nodiscard]] std::uint64_t written(std::size_t lane) const;
  [[nodiscard]] std::uint64_t sent() const;
  [[nodiscard]] Sample sample() const;
  [[nodiscard]] Sample sample_at_arrival() const;
  void require_whole();
  void require_progress(std::uint64_t count);
  void drain(TimePoint deadline);
  void await_arrivals(std::uint64_t total, TimePoint deadline);
  void check_targets();
  void check_target(std::size_t lane);
  void describe_method();
  [[nodiscard]] bool life_is_over() const {
    return life().stopping() || life().cancelled() || life().disturbed();
  }

  std::string method_;
  std::optional<StreamThreads> threads_;
  std::optional<std::uint64_t> peer_received_;  // of what this end's memory was read for
  mutable std::vector<std::atomic<std::uint64_t>> newest_;  // of each lane, plain writes
  std::atomic<std::uint64_t> lost_{0};                      // of what the peer sent
  std::atomic<std::uint64_t> missing_{0};  // of those, counted as written until compared
  bool check_failed_ = false;
  bool ended_ = false;
  std::uint64_t last_count_ = 0;
  std::int64_t idle_since_ns_ = 0;
};

void StreamSession::describe_method() {
  const Depths& depths = endpoint().depths();
  method_ = "payload that arrived over the receiver's monotonic clock; ";
  method_ += kCounted[static_cast<std::size_t>(options().op)];
  if (!options().reliable()) {
    method_ += options().op == Op::write
                   ? "; losses show only among the last messages, whose slots are compared"
                   : "; messages that do not arrive are counted as lost";
  }
  if (options().posts()) {
    method_ += "; " + std::to_string(depths.depth) + " under way on each of " +
               std::to_string(options().qps) + " queue pairs, " + std::to_string(depths.chain) +
               " to a doorbell, " + std::to_string(depths.interval) + " to a completion";
  }
  method_ += "; sequence of every message, and about 1 % of the bytes compared";
}

void StreamSession::connected() {
  describe_method();
  newest_ = std::vector<std::atomic<std::uint64_t>>(options().lanes());
  threads_.emplace(endpoint(), life());
  if (options().two_sided() && options().is_target()) {
    threads_->start();  // what the peer sends must find receives from its first message on
  }
}

std::uint64_t StreamSession::received() const {
  if (options().op == Op::read) {
    return options().posts() ? threads_->totals().completed : 0;
  }
  if (options().two_sided()) {
    return threads_->totals().received;
  }
  if (!options().is_target()) {
    return 0;
  }
  std::uint64_t sum = 0;
  for (std::size_t lane = 0; lane < options().lanes(); ++lane) {
    sum += options().atomic() ? read_word(endpoint().lane_memory(lane), Layout::kCellOffset)
                              : written(lane);
  }
  return sum - missing_;
}

/// Plain writes that are in the memory of a lane: the newest sequence there, or what the peer told.
/// Messages arrive in order and go round in the slots, so that the next one either follows the
/// newest, or is some laps further.
std::uint64_t StreamSession::written(std::size_t lane) const {
  const std::byte* memory = endpoint().lane_memory(lane);
  const std::uint64_t told = read_word(memory, Layout::kToldOffset);
  const Layout& layout = endpoint().layout();
  if (layout.message_bytes < sizeof(std::uint64_t)) {
    return told;
  }
  std::atomic<std::uint64_t>& seen = newest_[lane];
  std::uint64_t newest = std::max(told, seen.load(std::memory_order_relaxed));
  while (true) {
    const auto slot = static_cast<std::uint32_t>(newest % peer_depth());
    const std::uint64_t found =
        rdma::peek_sequence(memory + layout.in_message(slot), layout.message_bytes);
    if (found <= newest || (found - 1) % peer_depth() != slot) {
      break;
    }
    newest = found;
  }
  seen.store(newest, std::memory_order_relaxed);
  return newest;
}

std::uint64_t StreamSession::sent() const {
  if (options().op == Op::read) {
    return options().is_target() ? peer_received_.value_or(0) : 0;
  }
  return options().posts() ? threads_->totals().posted : 0;
}

Sample StreamSession::sample() const {
  Sample sample;
  sample.before_ns = sdk::MonotonicClock::now_ns();
  sample.messages = received();
  sample.after_ns = sdk::MonotonicClock::now_ns();
  return sample;
}

Sample StreamSession::sample_at_arrival() const {
  const Sample first = sample();
  Sample latest = first;
  while (latest.messages == first.messages && latest.before_ns - first.before_ns < kLongestLumpNs &&
         !life_is_over()) {
    std::this_thread::sleep_for(kBetweenLooks);
    latest = sample();
  }
  return latest;
}

void StreamSession::run_batch(const nb_batch& batch, nb_batch_result& result) {
  threads_->start();
  const bool observes = options().receives_payload() && batch.duration_ns > 0;
  const Sample begin = observes ? sample_at_arrival() : sample();
  const TimePoint until = batch.duration_ns > 0 ? time_after(batch.duration_ns) : TimePoint::max();
  last_count_ = begin.messages;
  do {
    wait_until(std::min(until, time_after(stall_limit_ns(options()) / 8)));
    require_whole();
    require_progress(options().receives_payload() ? received() : sent());
  } while (std::chrono::steady_clock::now() < until && !life_is_over());
  const Sample end = observes && !life_is_over() ? sample_at_arrival() : sample();
  result.messages = static_cast<std::int64_t>(end.messages - begin.messages);
  result.bytes = result.messages * options().message_bytes;
  // From before the first look to after the last one: a look that was interrupted may understate
  // the rate, never overstate it.
  result.begin_ns = begin.before_ns;
  result.end_ns = end.after_ns;
}

void StreamSession::require_whole() {
  if (const LoopFailure* failure = threads_->failure()) {
    const sdk::Error error = error_of(*failure);
    life().fail(error);
  }
  life().check();
}

/// A target of reads cannot know, and asks nobody: its peer does.
void StreamSession::require_progress(std::uint64_t count) {
  const std::int64_t now = sdk::MonotonicClock::now_ns();
  if (count != last_count_ || idle_since_ns_ == 0) {
    last_count_ = count;
    idle_since_ns_ = now;
  }
  const bool knows = options().receives_payload() || options().posts();
  if (knows && !life().stopping() && now - idle_since_ns_ >= stall_limit_ns(options())) {
    throw stalled();
  }
}

void StreamSession::drain(TimePoint deadline) {
  threads_->stop_posting();
  while (!threads_->drained()) {
    require_whole();
    if (std::chrono::steady_clock::now() >= deadline) {
      life().quit();
      throw sdk::Error(NB_TIMED_OUT, "verbs-stop-timeout",
                       operation() + ": what is under way did not complete in time",
                       "the peer is stopped, the link is down, or the path is very slow");
    }
    std::this_thread::sleep_for(kBetweenStopLooks);
  }
}

void StreamSession::await_arrivals(std::uint64_t total, TimePoint deadline) {
  std::uint64_t count = received();
  std::int64_t changed_ns = sdk::MonotonicClock::now_ns();
  while (count < total) {
    require_whole();
    const std::int64_t now = sdk::MonotonicClock::now_ns();
    if (!options().reliable() && now - changed_ns >= kQuietNs) {
      lost_ += total - count;
      return;
    }
    if (std::chrono::steady_clock::now() >= deadline) {
      throw sdk::Error(NB_TIMED_OUT, "verbs-stop-timeout",
                       operation() + ": " + std::to_string(total - count) +
                           " messages that the peer sent did not arrive",
                       "the path is very slow, or the data path loses messages");
    }
    std::this_thread::sleep_for(kBetweenStopLooks);
    const std::uint64_t fresh = received();
    changed_ns = fresh != count ? now : changed_ns;
    count = fresh;
  }
}

/// Plain writes: after the end, every slot must hold the last message that went there.
void StreamSession::check_targets() {
  if (options().op != Op::write || !options().is_target()) {
    return;
  }
  for (std::size_t lane = 0; lane < options().lanes(); ++lane) {
    check_target(lane);
  }
}

void StreamSession::check_target(std::size_t lane) {
  const Layout& layout = endpoint().layout();
  const std::size_t bytes = layout.message_bytes;
  const std::uint64_t total = read_word(endpoint().lane_memory(lane), Layout::kToldOffset);
  const std::uint64_t lap = peer_depth();
  for (std::uint64_t sequence = total > lap ? total - lap + 1 : 1; sequence <= total; ++sequence) {
    const auto slot = static_cast<std::uint32_t>((sequence - 1) % lap);
    std::byte* message = endpoint().lane_memory(lane) + layout.in_message(slot);
    DataFault fault{true, rdma::carried(sequence, bytes), rdma::stamped(message, bytes), {}};
    if (!options().reliable() && fault.found_sequence != fault.expected_sequence) {
      ++lost_;
      ++missing_;
      continue;
    }
    fault.body = rdma::compare_pattern(body_of(message, bytes), options().seed);
    if (fault.body || fault.found_sequence != fault.expected_sequence) {
      check_failed_ = true;
      throw mismatch(fault);
    }
  }
}

void StreamSession::finish(TimePoint deadline) {
  drain(deadline);
  const auto theirs = exchange_numbers(std::array{sent()}, deadline);
  if (theirs.size() != 1) {
    throw sdk::Error(NB_FAILED, "verbs-bad-message", "the peer's message is not one of verbs");
  }
  if (options().receives_payload() && options().op != Op::read) {
    await_arrivals(theirs[0], deadline);
  }
  check_targets();
  // Neither end takes its memory away before the other has all.
  const auto counted = exchange_numbers(std::array{received()}, deadline);
  peer_received_ = counted.empty() ? 0 : counted[0];
  threads_->end();
  ended_ = true;
}

void StreamSession::emit_counters(const sdk::Sink& sink) const {
  const auto bytes = static_cast<double>(options().message_bytes);
  const StreamTotals totals = threads_->totals();
  const double sends = static_cast<double>(sent());
  const Depths& depths = endpoint().depths();
  sink.number("payload.sent_bytes", sends * bytes);
  sink.number("payload.received_bytes", static_cast<double>(received()) * bytes);
  sink.number("verbs.messages", static_cast<double>(totals.posted));
  sink.number("verbs.work_requests", static_cast<double>(totals.posted + totals.records));
  sink.number("verbs.doorbells",
              static_cast<double>(totals.posted / depths.chain + totals.records));
  sink.number("verbs.polls", static_cast<double>(totals.polls));
  sink.number("verbs.completions", static_cast<double>(totals.completions));
  sink.number("verbs.events", static_cast<double>(totals.events));
  if (ended_ && options().two_sided()) {
    sink.number("verbs.receive_doorbells", static_cast<double>(threads_->receive_doorbells()));
  }
  if (!options().reliable() && options().receives_payload()) {
    sink.number("verbs.lost", static_cast<double>(lost_.load()));
    sink.number("verbs.reordered", ended_ ? static_cast<double>(threads_->reordered()) : 0);
  }
  const LoopFailure* failure = threads_->failure();
  sink.number("verbs.errors",
              failure != nullptr ? static_cast<double>(failure->completions.errors()) : 0);
  const bool wrong = check_failed_ || (failure != nullptr && failure->fault != nullptr);
  sink.number("verbs.check_failed", wrong ? 1 : 0);
  threads_->emit_use(sink);
}

}  // namespace

std::unique_ptr<Session> make_stream_session(sdk::Host host, Options options, Libraries libraries) {
  return std::make_unique<StreamSession>(host, std::move(options), libraries);
}

}  // namespace netbench::verbs
