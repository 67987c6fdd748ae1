#include <algorithm>
#include <array>
#include <atomic>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "transports/sdk/cpus.hpp"
#include "transports/sdk/loops.hpp"
#include "transports/verbs/ping_ends.hpp"
#include "transports/verbs/session.hpp"

namespace netbench::verbs {

bool Patience::keep_waiting() noexcept {
  if (quit_->load(std::memory_order_relaxed)) {
    why_ = GaveUp::told_to;
    return false;
  }
  if (side_->peer_gone()) {
    why_ = GaveUp::peer_gone;
    return false;
  }
  const std::int64_t now = sdk::MonotonicClock::now_ns();
  since_ns_ = since_ns_ == 0 ? now : since_ns_;
  if (stall_ns_ > 0 && now - since_ns_ >= stall_ns_) {
    why_ = GaveUp::stalled;
    return false;
  }
  return true;
}

namespace {

/// One end of a ping-pong whose class was chosen.
class Pinger {
 public:
  virtual ~Pinger() = default;
  /// Initiator: times so many operations. Then the last message is compared whole.
  [[nodiscard]] virtual sdk::Timed ping(std::span<std::uint64_t> samples_ns) = 0;
  /// Responder: until the end.
  virtual void serve() = 0;
  [[nodiscard]] virtual const LoopFailure& failure() const = 0;
  [[nodiscard]] virtual GaveUp gave_up() const = 0;
};

template <class End>
class PingerOf final : public Pinger {
 public:
  PingerOf(const PingParts& parts, const Patience& patience) : end_(parts, patience) {}

  sdk::Timed ping(std::span<std::uint64_t> samples_ns) override {
    sdk::MonotonicClock clock;
    const sdk::Timed timed = sdk::ping_pong(end_, clock, samples_ns);
    if (timed.count == samples_ns.size()) {
      (void)end_.check_last();
    }
    return timed;
  }
  void serve() override {
    (void)sdk::echo(end_);
    if (!end_.failure().any()) {
      (void)end_.check_last();
    }
  }
  const LoopFailure& failure() const override { return end_.failure(); }
  GaveUp gave_up() const override { return end_.gave_up(); }

 private:
  End end_;
};

using MakePinger = std::unique_ptr<Pinger> (*)(const PingParts&, const Patience&);

template <class End>
std::unique_ptr<Pinger> make_pinger(const PingParts& parts, const Patience& patience) {
  return std::make_unique<PingerOf<End>>(parts, patience);
}

template <Op kOp>
inline constexpr std::array<MakePinger, kWaitChoices.size()> kByWait = {
    &make_pinger<CompletionPing<kOp, Wait::adaptive>>,
    &make_pinger<CompletionPing<kOp, Wait::poll>>, &make_pinger<CompletionPing<kOp, Wait::event>>};
inline constexpr std::array<MakePinger, kWaitChoices.size()> kMemoryByWait = {
    &make_pinger<MemoryPing<Wait::adaptive>>, &make_pinger<MemoryPing<Wait::poll>>, nullptr};
/// In the order of Op.
constexpr std::array kPingers = {kMemoryByWait,          kByWait<Op::write_imm>,
                                 kByWait<Op::send>,      kByWait<Op::read>,
                                 kByWait<Op::fetch_add>, kByWait<Op::compare_swap>};

/// Text of how a sample comes about, by the operation that really carried it.
constexpr std::array kMethods = {
    "write ping-pong; both ends poll the last bytes of the message in memory, which the devices "
    "promise to place last",
    "write with immediate ping-pong; both ends wait for the completion",
    "send ping-pong; both ends wait for the completion",
    "one-sided read: the sample is the whole operation, request to data, the peer's CPU takes no "
    "part, and half of it is no one-way time",
    "one-sided fetch-and-add: the sample is the whole operation, the peer's CPU takes no part, and "
    "half of it is no one-way time",
    "one-sided compare-and-swap: the sample is the whole operation, the peer's CPU takes no part, "
    "and half of it is no one-way time",
};

class LatencySession final : public Session {
 public:
  using Session::Session;

  const char* method() const override { return method_.c_str(); }

 protected:
  Op carrier(bool in_order) const override {
    const bool polls_memory = in_order && options().wait != Wait::event;
    return options().op == Op::write && !polls_memory ? Op::write_imm : options().op;
  }

  void connected() override;
  void run_batch(const nb_batch& batch, nb_batch_result& result) override;
  void finish(TimePoint deadline) override;
  void emit_counters(const sdk::Sink& sink) const override;

 private:
  [[nodiscard]] bool passive() const { return !options().posts(); }
  [[nodiscard]] PingParts parts();
  void ping(const nb_batch& batch, nb_batch_result& result);
  void serve(nb_batch_result& result);
  void require_whole();

  std::string method_;
  PingCounts counts_;
  std::unique_ptr<Pinger> pinger_;
  std::atomic<bool> running_{false};
  std::atomic<std::uint64_t> answered_{0};  // by a passive end's device, as the peer says
  sdk::ThreadCpuTime cpu_;
};

PingParts LatencySession::parts() {
  Group& group = endpoint().groups().front();
  PingParts parts;
  parts.send = group.rings.front().send.get();
  parts.receive = group.rings.front().receive.get();
  parts.queue = &*group.queue;
  parts.channel = group.channel ? &*group.channel : nullptr;
  parts.counts = &counts_;
  parts.target = endpoint().lane_memory(0) + endpoint().layout().in_message(0);
  parts.message_bytes = static_cast<std::size_t>(options().message_bytes);
  parts.seed = options().seed;
  // The initiator compares between its batches, where no sample waits for it.
  parts.compare_every =
      options().role == NB_INITIATOR ? UINT64_MAX : rdma::sampling_distance(parts.message_bytes);
  return parts;
}

void LatencySession::connected() {
  const auto op = static_cast<std::size_t>(chosen());
  method_ = std::string("closed loop, initiator's monotonic clock, one stamp a message; ") +
            kMethods[op] + "; wait " + kWaitChoices[static_cast<std::size_t>(options().wait)].name;
  if (options().op == Op::write && chosen() == Op::write_imm) {
    method_ += "; memory is not polled: not both devices promise order, or it was asked not to";
  }
  if (!passive()) {
    const bool initiator = options().role == NB_INITIATOR;
    const Patience patience(life().quitting(), side(), initiator ? stall_limit_ns(options()) : 0);
    pinger_ = kPingers[op][static_cast<std::size_t>(options().wait)](parts(), patience);
  }
}

void LatencySession::run_batch(const nb_batch& batch, nb_batch_result& result) {
  running_ = true;
  const sdk::ScopedPin pin(options().cpu_of(0));
  cpu_.begin();
  const auto ended = [this] {
    cpu_.end();
    running_ = false;
  };
  try {
    options().role == NB_INITIATOR ? ping(batch, result) : serve(result);
  } catch (...) {
    ended();
    throw;
  }
  ended();
}

void LatencySession::ping(const nb_batch& batch, nb_batch_result& result) {
  const auto wanted =
      std::min(static_cast<std::size_t>(std::max<std::int64_t>(batch.iterations, 0)),
               result.sample_capacity);
  if (wanted == 0) {
    result.begin_ns = sdk::MonotonicClock::now_ns();
    wait_until(TimePoint::max());
    result.end_ns = sdk::MonotonicClock::now_ns();
    life().check();
    return;
  }
  const sdk::Timed timed = pinger_->ping({result.samples_ns, wanted});
  result.sample_count = timed.count;
  result.begin_ns = timed.begin_ns;
  result.end_ns = timed.end_ns;
  result.messages = static_cast<std::int64_t>(timed.count);
  result.bytes = result.messages * options().message_bytes;
  require_whole();
  look_around();
}

void LatencySession::serve(nb_batch_result& result) {
  result.begin_ns = sdk::MonotonicClock::now_ns();
  if (passive()) {
    wait_until(TimePoint::max());
    life().check();
  } else {
    const std::uint64_t before = counts_.received.load(std::memory_order_relaxed);
    pinger_->serve();
    result.messages =
        static_cast<std::int64_t>(counts_.received.load(std::memory_order_relaxed) - before);
    result.bytes = result.messages * options().message_bytes;
    require_whole();
  }
  result.end_ns = sdk::MonotonicClock::now_ns();
}

void LatencySession::require_whole() {
  if (life().cancelled()) {
    throw sdk::cancelled();
  }
  if (pinger_->failure().any() && (!life().stopping() || pinger_->failure().fault != nullptr)) {
    const sdk::Error error = error_of(pinger_->failure());
    life().fail(error);
    throw sdk::Error(error);
  }
  if (pinger_->gave_up() == GaveUp::stalled) {
    throw stalled();
  }
  if (pinger_->gave_up() == GaveUp::peer_gone) {
    look_around();
  }
}

void LatencySession::finish(TimePoint deadline) {
  life().quit();
  while (running_ && std::chrono::steady_clock::now() < deadline && !life().cancelled()) {
    life().sleep_through_stop(time_after(1'000'000));
  }
  const std::array mine = {counts_.sent.load(), counts_.received.load()};
  const auto theirs = exchange_numbers(mine, deadline);
  if (passive() && theirs.size() == 2) {
    answered_ = theirs[1];
  }
  life().check();
}

void LatencySession::emit_counters(const sdk::Sink& sink) const {
  const auto bytes = static_cast<double>(options().message_bytes);
  const std::uint64_t answered = answered_.load(std::memory_order_relaxed);
  const auto sent = static_cast<double>(counts_.sent.load(std::memory_order_relaxed) + answered);
  const auto received =
      static_cast<double>(counts_.received.load(std::memory_order_relaxed) + answered);
  sink.number("payload.sent_bytes", sent * bytes);
  sink.number("payload.received_bytes", received * bytes);
  sink.number("thread.0.cpu_s", cpu_.seconds());
  sink.number("verbs.messages", sent);
  sink.number("verbs.work_requests", passive() ? 0 : sent);
  sink.number("verbs.doorbells", passive() ? 0 : sent);
  sink.number("verbs.polls", static_cast<double>(counts_.polls.load(std::memory_order_relaxed)));
  sink.number("verbs.completions",
              static_cast<double>(counts_.completions.load(std::memory_order_relaxed)));
  sink.number("verbs.events", static_cast<double>(counts_.events.load(std::memory_order_relaxed)));
  const bool failed = pinger_ != nullptr && !running_ && pinger_->failure().any();
  sink.number("verbs.errors",
              failed ? static_cast<double>(pinger_->failure().completions.errors()) : 0);
  sink.number("verbs.check_failed", failed && pinger_->failure().fault != nullptr ? 1 : 0);
}

}  // namespace

std::unique_ptr<Session> make_latency_session(sdk::Host host, Options options,
                                              Libraries libraries) {
  return std::make_unique<LatencySession>(host, std::move(options), libraries);
}

}  // namespace netbench::verbs
