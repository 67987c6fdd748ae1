#include "transports/tcp/echo_link.hpp"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <type_traits>

#include "transports/sdk/clock.hpp"
#include "transports/sdk/loops.hpp"

namespace netbench::tcp {
namespace {

std::span<std::byte> bytes_of(const PageBuffer& buffer, std::int64_t size) {
  return {buffer.data(), static_cast<std::size_t>(size)};
}

}  // namespace

EchoLink::EchoLink(const Options& options, Lifecycle& life, int fd)
    : options_(options),
      life_(life),
      fd_(fd),
      message_(static_cast<std::size_t>(options.message_bytes)) {}

template <class End>
End EchoLink::make_end(bool patient) {
  const std::span<std::byte> message = bytes_of(message_, options_.message_bytes);
  if constexpr (std::is_constructible_v<End, int, std::span<std::byte>, Traffic&, bool>) {
    return End(fd_, message, traffic_, patient);
  } else {
    const auto writes = static_cast<std::size_t>(options_.writes);
    return End(fd_, message, traffic_, patient, writes);
  }
}

template <class End>
EchoLink::Ended EchoLink::ping_as(EchoLink& link, std::span<std::uint64_t> samples_ns) {
  sdk::MonotonicClock clock;
  End end = link.make_end<End>(false);
  const sdk::Timed timed = sdk::ping_pong(end, clock, samples_ns);
  return {timed, end.error(), end.inside_message()};
}

template <class End>
EchoLink::Ended EchoLink::ping_paced_as(EchoLink& link, std::span<std::uint64_t> samples_ns) {
  sdk::MonotonicClock clock;
  End end = link.make_end<End>(false);
  const std::int64_t interval_ns = 1'000'000'000 / link.options_.rate_hz;
  const sdk::Timed timed = sdk::paced_ping_pong(end, clock, interval_ns, samples_ns);
  return {timed, end.error(), end.inside_message()};
}

template <class End>
EchoLink::Ended EchoLink::serve_as(EchoLink& link, std::span<std::uint64_t>) {
  End end = link.make_end<End>(true);
  const std::int64_t begin = sdk::MonotonicClock::now_ns();
  const std::uint64_t count = sdk::echo(end);
  return {{count, begin, sdk::MonotonicClock::now_ns()}, end.error(), end.inside_message()};
}

EchoLink::Loop EchoLink::chosen(const LoopTable& whole, const LoopTable& split) const {
  return (options_.writes > 1 ? split : whole)[static_cast<std::size_t>(options_.wait)];
}

EchoLink::Ended EchoLink::measured(Loop loop, std::span<std::uint64_t> samples_ns,
                                   nb_batch_result& result) {
  const sdk::ScopedPin pin(options_.cpu_of(0));
  cpu_time_.begin();
  const Ended ended = loop(*this, samples_ns);
  cpu_time_.end();
  result.begin_ns = ended.timed.begin_ns;
  result.end_ns = ended.timed.end_ns;
  result.messages = static_cast<std::int64_t>(ended.timed.count);
  result.bytes = result.messages * options_.message_bytes;
  return ended;
}

void EchoLink::require_complete(const Ended& ended, std::size_t asked) const {
  if (life_.cancelled()) {
    throw sdk::cancelled();
  }
  if (ended.timed.count < asked && !life_.stopping()) {
    throw broken_connection(ended.error);
  }
}

void EchoLink::ping(std::span<std::uint64_t> samples_ns, nb_batch_result& result) {
  static constexpr LoopTable kWhole = {&EchoLink::ping_as<PingPongEnd<Wait::block>>,
                                       &EchoLink::ping_as<PingPongEnd<Wait::spin>>};
  static constexpr LoopTable kSplit = {&EchoLink::ping_as<SplitWriteEnd<Wait::block>>,
                                       &EchoLink::ping_as<SplitWriteEnd<Wait::spin>>};
  const Ended ended = measured(chosen(kWhole, kSplit), samples_ns, result);
  result.sample_count = ended.timed.count;
  require_complete(ended, samples_ns.size());
}

void EchoLink::ping_paced(std::span<std::uint64_t> samples_ns, nb_batch_result& result) {
  static constexpr LoopTable kLoops = {&EchoLink::ping_paced_as<PingPongEnd<Wait::block>>,
                                       &EchoLink::ping_paced_as<PingPongEnd<Wait::spin>>};
  const Ended ended = measured(kLoops[static_cast<std::size_t>(options_.wait)], samples_ns, result);
  result.sample_count = ended.timed.count;
  require_complete(ended, samples_ns.size());
}

void EchoLink::serve(nb_batch_result& result) {
  static constexpr LoopTable kWhole = {&EchoLink::serve_as<PingPongEnd<Wait::block>>,
                                       &EchoLink::serve_as<PingPongEnd<Wait::spin>>};
  static constexpr LoopTable kSplit = {&EchoLink::serve_as<SplitWriteEnd<Wait::block>>,
                                       &EchoLink::serve_as<SplitWriteEnd<Wait::spin>>};
  const Ended ended = measured(chosen(kWhole, kSplit), {}, result);
  ::shutdown(fd_, SHUT_WR);
  if (life_.cancelled()) {
    throw sdk::cancelled();
  }
  if (ended.error != 0 || (ended.inside_message && !life_.stopping())) {
    throw broken_connection(ended.error);
  }
}

bool EchoLink::drain(TimePoint deadline) {
  while (true) {
    const std::int64_t moved =
        ::recv(fd_, message_.data(), message_.size(), MSG_DONTWAIT | MSG_TRUNC);
    if (moved > 0) {
      Traffic::add(traffic_.received, moved);
      continue;
    }
    if (moved == 0 || (errno != EAGAIN && errno != EINTR)) {
      return true;
    }
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        deadline - std::chrono::steady_clock::now());
    if (left.count() <= 0) {
      return false;
    }
    pollfd ready{fd_, POLLIN, 0};
    ::poll(&ready, 1, static_cast<int>(std::min<std::int64_t>(left.count(), INT32_MAX)));
  }
}

void EchoLink::finish(TimePoint deadline) {
  if (options_.role == NB_INITIATOR) {
    ::shutdown(fd_, SHUT_WR);
  }
  const bool ended = life_.wait_run_ended(deadline) && drain(deadline);
  if (life_.cancelled()) {
    throw sdk::cancelled();
  }
  if (!ended) {
    throw sdk::Error(NB_TIMED_OUT, "tcp-stop-timeout",
                     "the peer did not close its data connection in time",
                     "the peer is stopped, or the link is down");
  }
  ::shutdown(fd_, SHUT_WR);
}

std::span<std::uint64_t> samples_of(const nb_batch& batch, const nb_batch_result& result) {
  const auto count = static_cast<std::size_t>(std::max<std::int64_t>(batch.iterations, 0));
  if (count == 0 || result.samples_ns == nullptr || count > result.sample_capacity) {
    throw sdk::Error(NB_INVALID, "invalid-batch",
                     "a batch of " + std::to_string(batch.iterations) + " operations needs 1.." +
                         std::to_string(result.sample_capacity));
  }
  return {result.samples_ns, count};
}

}  // namespace netbench::tcp
