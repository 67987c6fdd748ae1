#include "transports/udp/sender.hpp"

#include <sys/prctl.h>
#include <time.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "transports/sdk/clock.hpp"
#include "transports/udp/socket.hpp"

namespace netbench::udp {
namespace {

constexpr std::byte kFill{0xa5};
/// UDP_MAX_SEGMENTS, include/linux/udp.h, before 6.9.
constexpr std::size_t kMaxSegments = 64;
/// A device queue is full: time for it to drain a little.
constexpr std::int64_t kQueueFullNs = 100'000;

/// EMSGSIZE comes once when a router reports a smaller path MTU; the kernel fragments from then on
/// (IP_PMTUDISC_WANT, ip(7)).
bool is_transient(int sys_errno, int previous) {
  return sys_errno == EAGAIN || sys_errno == EINTR || sys_errno == ENOBUFS || sys_errno == ENOMEM ||
         (sys_errno == EMSGSIZE && previous != EMSGSIZE);
}

std::size_t slots_of(const SenderPlan& plan) {
  if (!plan.gso) {
    return plan.slots;
  }
  const auto fit = static_cast<std::size_t>(kMaxDatagramBytes / plan.message_bytes);
  return std::clamp<std::size_t>(fit, 1, std::min(plan.slots, kMaxSegments));
}

}  // namespace

Sender::Sender(const SenderPlan& plan)
    : plan_(plan),
      pacer_(plan.pace),
      payload_(slots_of(plan) * static_cast<std::size_t>(plan.message_bytes)),
      pieces_(slots_of(plan)),
      messages_(slots_of(plan)) {
  const auto size = static_cast<std::size_t>(plan_.message_bytes);
  for (std::size_t i = 0; i < pieces_.size(); ++i) {
    pieces_[i] = {payload_.data() + i * size, size};
    messages_[i].msg_hdr.msg_iov = &pieces_[i];
    messages_[i].msg_hdr.msg_iovlen = 1;
  }
}

void Sender::prepare() noexcept {
  std::ranges::fill(payload_, kFill);
  ::prctl(PR_SET_TIMERSLACK, 1UL);  // ns; sleeps end when they should, timer slack is 50 µs else
}

int Sender::run(const std::atomic<bool>& stop) noexcept {
  int failure = 0;
  while (!stop.load(std::memory_order_relaxed)) {
    const std::int64_t now_ns = sdk::MonotonicClock::now_ns();
    const std::size_t due = std::min(pacer_.allowed(now_ns), pieces_.size());
    if (due == 0) {
      wait_until(std::min(pacer_.wake_ns(), now_ns + kSliceNs));
      continue;
    }
    stamp(due, now_ns);
    const std::int64_t moved = send(due);
    if (moved < 0) {
      const int previous = std::exchange(failure, errno);
      if (!is_transient(failure, previous)) {
        return failure;
      }
      continue;
    }
    failure = 0;
    sequence_ += static_cast<std::uint64_t>(moved);
    pacer_.sent(static_cast<std::size_t>(moved));
    sent_.store(sequence_, std::memory_order_release);
    pacing_lost_ns_.store(pacer_.lost_ns(), std::memory_order_relaxed);
  }
  return 0;
}

void Sender::wait_until(std::int64_t until_ns) const noexcept {
  if (plan_.spin) {
    return;  // the caller's loop reads the clock again
  }
  const timespec until{until_ns / 1'000'000'000, until_ns % 1'000'000'000};
  ::clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr);
}

void Sender::stamp(std::size_t count, std::int64_t now_ns) noexcept {
  const auto size = static_cast<std::size_t>(plan_.message_bytes);
  for (std::size_t i = 0; i < count; ++i) {
    write_header(payload_.data() + i * size, {Kind::data, sequence_ + i, now_ns});
  }
}

std::int64_t Sender::send(std::size_t count) noexcept {
  const std::int64_t moved =
      plan_.gso ? send_segmented(count)
                : ::sendmmsg(plan_.fd, messages_.data(), static_cast<unsigned>(count), 0);
  if (moved < 0 && (errno == ENOBUFS || errno == ENOMEM)) {
    const int saved = errno;
    wait_until(sdk::MonotonicClock::now_ns() + kQueueFullNs);
    errno = saved;
  }
  return moved;
}

std::int64_t Sender::send_segmented(std::size_t count) const noexcept {
  const std::size_t bytes = count * static_cast<std::size_t>(plan_.message_bytes);
  const ssize_t moved = ::send(plan_.fd, payload_.data(), bytes, 0);
  return moved < 0 ? -1 : static_cast<std::int64_t>(count);
}

}  // namespace netbench::udp
