#include "transports/udp/streams.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <utility>

#include "transports/sdk/clock.hpp"
#include "transports/sdk/error.hpp"

namespace netbench::udp {
namespace {

constexpr std::int64_t kTellAgainNs = 20'000'000;
/// A receiver stays this long after the last word of its peer, so that a lost answer is repeated.
constexpr std::int64_t kLingerNs = 3 * kTellAgainNs;

std::string describe_method(const Options& options) {
  const std::string pace = options.rate_bps
                               ? "paced by send time, never making up for more than one batch"
                               : "not paced";
  return "sendmmsg of up to " + std::to_string(options.slots()) + " datagrams, " + pace +
         "; the receiver's threads count each datagram once; a window ends with an arrival";
}

}  // namespace

/// Sums over the streams of this end.
struct StreamSession::Totals {
  std::uint64_t sent = 0;
  std::int64_t pacing_lost_ns = 0;
  std::uint64_t expected = 0;
  std::uint64_t unique = 0;
  std::uint64_t reordered = 0;
  std::uint64_t duplicates = 0;
  std::uint64_t late = 0;
  std::uint64_t lost = 0;
  std::uint64_t socket_drops = 0;
  double jitter_ns = 0;
  double jitter_mean_ns = 0;
  bool end_known = true;
};

StreamSession::StreamSession(sdk::Host host, const Options& options)
    : UdpSession(host, options), method_(describe_method(options)) {}

StreamSession::~StreamSession() {
  halt_ = true;
  quit_ = true;
  sender_team_.join();
  shut_down_sockets();
  receiver_team_.join();
}

SenderPlan StreamSession::sender_plan(std::size_t index) const {
  const bool spin = options_.wait == Wait::spin;
  const double rate_bps =
      static_cast<double>(options_.rate_bps.value_or(0)) / static_cast<double>(socket_count());
  return {.fd = fd(index),
          .message_bytes = options_.message_bytes,
          .slots = options_.slots(),
          .pace = Pacer::plan(rate_bps, options_.message_bytes, options_.slots(), spin),
          .gso = gso(),
          .spin = spin};
}

void StreamSession::begin() {
  for (std::size_t i = 0; i < socket_count(); ++i) {
    receivers_.push_back(std::make_unique<Receiver>(
        ReceiverPlan{.fd = fd(i),
                     .message_bytes = options_.message_bytes,
                     .slots = options_.receives() ? options_.slots() : 1,
                     .token = tokens_[i],
                     .spin = options_.receives() && options_.wait == Wait::spin}));
    drops_.push_back(std::make_unique<SocketDrops>());
    drops_.back()->read(fd(i));
    if (options_.sends()) {
      senders_.push_back(std::make_unique<Sender>(sender_plan(i)));
    }
  }
  launch_receivers();
  launch_senders();
}

void StreamSession::launch_receivers() {
  std::vector<sdk::Job> jobs;
  for (std::size_t i = 0; i < receivers_.size(); ++i) {
    jobs.push_back({[this, i] { receivers_[i]->prepare(); },
                    [this, i] {
                      if (const int error = receivers_[i]->run(quit_); error != 0) {
                        lifecycle_.fail(error);
                      }
                    },
                    options_.receives() ? options_.cpu_of(i) : std::nullopt});
  }
  receiver_team_.launch(std::move(jobs));
  receiver_team_.start();
}

void StreamSession::launch_senders() {
  std::vector<sdk::Job> jobs;
  const std::size_t first_cpu = options_.receives() ? receivers_.size() : 0;
  for (std::size_t i = 0; i < senders_.size(); ++i) {
    jobs.push_back({[this, i] { senders_[i]->prepare(); },
                    [this, i] {
                      if (const int error = senders_[i]->run(halt_); error != 0) {
                        lifecycle_.fail(error);
                      }
                    },
                    options_.cpu_of(first_cpu + i)});
  }
  sender_team_.launch(std::move(jobs));
}

void StreamSession::run(const nb_batch& batch, nb_batch_result& result) {
  lifecycle_.check();
  result.begin_ns = sdk::MonotonicClock::now_ns();
  if (options_.sends()) {
    sender_team_.start();
  }
  if (options_.receives() && batch.duration_ns > 0) {
    observe(batch.duration_ns, result);
    return;
  }
  batch.duration_ns > 0 ? lifecycle_.sleep(batch.duration_ns) : lifecycle_.sleep_until_end();
  lifecycle_.check();
  result.end_ns = sdk::MonotonicClock::now_ns();
}

std::uint64_t StreamSession::received() const {
  std::uint64_t sum = 0;
  for (const auto& receiver : receivers_) {
    sum += receiver->seen().unique.load(std::memory_order_acquire);
  }
  return sum;
}

/// Windows are contiguous. One ends with the latest arrival of its second half, so that the count
/// is not off by the datagram that just missed it; where nothing arrived then, when its time is up.
void StreamSession::observe(std::int64_t duration_ns, nb_batch_result& result) {
  if (!observing_) {
    observing_ = true;
    window_begin_ns_ = result.begin_ns;
    window_begin_count_ = received();
  }
  lifecycle_.sleep(window_begin_ns_ + duration_ns - sdk::MonotonicClock::now_ns());
  lifecycle_.check();
  const std::uint64_t count = received();
  std::int64_t last_ns = 0;
  for (std::size_t i = 0; i < receivers_.size(); ++i) {
    last_ns =
        std::max(last_ns, receivers_[i]->seen().last_arrival_ns.load(std::memory_order_relaxed));
    drops_[i]->read(fd(i));
  }
  const std::uint64_t fresh = count - std::exchange(window_begin_count_, count);
  const bool ends_with_arrival = fresh > 0 && last_ns - window_begin_ns_ >= duration_ns / 2;
  result.end_ns = ends_with_arrival ? last_ns : sdk::MonotonicClock::now_ns();
  result.begin_ns = std::exchange(window_begin_ns_, result.end_ns);
  result.messages = static_cast<std::int64_t>(fresh);
  result.bytes = result.messages * options_.message_bytes;
}

void StreamSession::end_sending() {
  halt_ = true;
  sender_team_.join();
}

void StreamSession::send_totals() {
  for (std::size_t i = 0; i < senders_.size(); ++i) {
    if (!receivers_[i]->ending().acknowledged.load(std::memory_order_acquire)) {
      std::array<std::byte, kHeaderBytes> end{};
      write_header(end.data(), {Kind::end, senders_[i]->sent(), sdk::MonotonicClock::now_ns()});
      (void)::send(fd(i), end.data(), end.size(), MSG_DONTWAIT);  // repeated until answered
    }
  }
}

bool StreamSession::all_acknowledged() const {
  return std::ranges::all_of(receivers_, [this](const auto& receiver) {
    return senders_.empty() || receiver->ending().acknowledged.load(std::memory_order_acquire);
  });
}

bool StreamSession::peer_ended(std::int64_t quiet_since_ns) const {
  return std::ranges::all_of(receivers_, [&](const auto& receiver) {
    const Ending& ending = receiver->ending();
    return !options_.receives() ||
           (ending.peer_total.load(std::memory_order_acquire) >= 0 &&
            ending.told_at_ns.load(std::memory_order_relaxed) <= quiet_since_ns);
  });
}

void StreamSession::stop(std::int64_t timeout_ns) {
  const std::int64_t until_ns = sdk::MonotonicClock::now_ns() + timeout_ns;
  const bool was_broken = lifecycle_.failed();
  lifecycle_.request_stop();
  end_sending();
  while (!lifecycle_.cancelled() && !lifecycle_.failed()) {
    const std::int64_t now_ns = sdk::MonotonicClock::now_ns();
    if (all_acknowledged() && peer_ended(now_ns - kLingerNs)) {
      return;
    }
    if (now_ns >= until_ns) {
      throw sdk::Error(NB_TIMED_OUT, "udp-no-end", "the peer did not end the streams in time",
                       "datagrams lost at the end are not counted");
    }
    send_totals();
    std::this_thread::sleep_for(std::chrono::nanoseconds(kTellAgainNs));
  }
  if (lifecycle_.cancelled()) {
    throw sdk::cancelled();
  }
  // A peer that has closed its sockets after the end was asked for needs no total any more.
  if (was_broken) {
    throw sdk::Error(NB_PEER_CLOSED, "udp-peer-closed", "the peer went away before the end");
  }
}

void StreamSession::cancel() noexcept {
  halt_ = true;
  lifecycle_.cancel();
}

StreamSession::Totals StreamSession::totals() {
  Totals totals;
  for (const auto& sender : senders_) {
    totals.sent += sender->sent();
    totals.pacing_lost_ns += sender->pacing_lost_ns();
  }
  for (std::size_t i = 0; options_.receives() && i < receivers_.size(); ++i) {
    const Seen& seen = receivers_[i]->seen();
    const std::int64_t told = receivers_[i]->ending().peer_total.load(std::memory_order_acquire);
    const std::uint64_t unique = seen.unique.load(std::memory_order_acquire);
    const std::uint64_t expected =
        std::max(seen.expected.load(std::memory_order_relaxed),
                 static_cast<std::uint64_t>(std::max<std::int64_t>(told, 0)));
    const Losses losses = split_losses(expected, unique, drops_[i]->read(fd(i)));
    totals.expected += expected;
    totals.unique += unique;
    totals.lost += losses.network;
    totals.socket_drops += losses.socket;
    totals.reordered += seen.reordered.load(std::memory_order_relaxed);
    totals.duplicates += seen.duplicates.load(std::memory_order_relaxed);
    totals.late += seen.late.load(std::memory_order_relaxed);
    totals.jitter_ns += seen.jitter_ns.load(std::memory_order_relaxed);
    totals.jitter_mean_ns += seen.jitter_mean_ns.load(std::memory_order_relaxed);
    totals.end_known = totals.end_known && told >= 0;
  }
  return totals;
}

void StreamSession::counters(sdk::Sink sink) {
  const Totals sums = totals();
  const auto bytes = static_cast<double>(options_.message_bytes);
  sink.number("payload.sent_bytes", static_cast<double>(sums.sent) * bytes);
  sink.number("payload.received_bytes", static_cast<double>(sums.unique) * bytes);
  sink.number("udp.fragments_per_datagram", static_cast<double>(fragments()));
  if (options_.sends()) {
    sink.number("udp.sent", static_cast<double>(sums.sent));
    sink.number("udp.pacing_lost_ns", static_cast<double>(sums.pacing_lost_ns));
  }
  if (options_.receives()) {
    tell_received(sink, sums);
  }
}

void StreamSession::tell_received(sdk::Sink sink, const Totals& sums) const {
  const auto streams = static_cast<double>(receivers_.size());
  double cpu_s = 0;
  for (std::size_t i = 0; i < receiver_team_.size(); ++i) {
    cpu_s += receiver_team_.cpu_seconds(i);
  }
  sink.number("udp.expected", static_cast<double>(sums.expected));
  sink.number("udp.received", static_cast<double>(sums.unique));
  sink.number("udp.bytes",
              static_cast<double>(sums.unique) * static_cast<double>(options_.message_bytes));
  sink.number("udp.lost", static_cast<double>(sums.lost));
  sink.number("udp.socket_drops", static_cast<double>(sums.socket_drops));
  sink.number("udp.reordered", static_cast<double>(sums.reordered));
  sink.number("udp.duplicates", static_cast<double>(sums.duplicates));
  sink.number("udp.late", static_cast<double>(sums.late));
  sink.number("udp.jitter_ns", sums.jitter_ns / streams);
  sink.number("udp.jitter_mean_ns", sums.jitter_mean_ns / streams);
  sink.number("udp.receiver_cpu_s", cpu_s);
  sink.number("udp.end_known", sums.end_known ? 1 : 0);
}

}  // namespace netbench::udp
