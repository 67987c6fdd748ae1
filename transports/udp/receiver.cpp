#include "transports/udp/receiver.hpp"

#include <time.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "transports/sdk/clock.hpp"
#include "transports/udp/handshake.hpp"

namespace netbench::udp {
namespace {

/// Control datagrams are never longer than this; a slot holds one in any case.
constexpr std::size_t kMinSlotBytes = 64;

std::size_t slot_bytes(const ReceiverPlan& plan) {
  return std::max(static_cast<std::size_t>(plan.message_bytes), kMinSlotBytes);
}

/// When the kernel got the datagram (SO_TIMESTAMPNS, socket(7)), else `now_ns`. Another clock than
/// now_ns: only for differences.
std::int64_t kernel_arrival_ns(const msghdr& message, std::int64_t now_ns) noexcept {
  auto& header = const_cast<msghdr&>(message);  // CMSG_NXTHDR takes no const
  for (cmsghdr* at = CMSG_FIRSTHDR(&header); at != nullptr; at = CMSG_NXTHDR(&header, at)) {
    if (at->cmsg_level == SOL_SOCKET && at->cmsg_type == SCM_TIMESTAMPNS) {
      timespec stamp{};
      std::memcpy(&stamp, CMSG_DATA(at), sizeof stamp);
      return stamp.tv_sec * std::int64_t{1'000'000'000} + stamp.tv_nsec;
    }
  }
  return now_ns;
}

}  // namespace

Receiver::Receiver(const ReceiverPlan& plan)
    : plan_(plan),
      payload_(plan.slots * slot_bytes(plan)),
      controls_(plan.slots),
      pieces_(plan.slots),
      messages_(plan.slots) {
  for (std::size_t i = 0; i < plan_.slots; ++i) {
    pieces_[i] = {payload_.data() + i * slot_bytes(plan_), slot_bytes(plan_)};
    messages_[i].msg_hdr.msg_iov = &pieces_[i];
    messages_[i].msg_hdr.msg_iovlen = 1;
    messages_[i].msg_hdr.msg_control = controls_[i].data();
    messages_[i].msg_hdr.msg_controllen = controls_[i].size();
  }
}

void Receiver::prepare() noexcept { std::ranges::fill(payload_, std::byte{}); }

int Receiver::run(const std::atomic<bool>& stop) noexcept {
  const int flags = plan_.spin ? MSG_DONTWAIT : MSG_WAITFORONE;
  while (!stop.load(std::memory_order_relaxed)) {
    const int got =
        ::recvmmsg(plan_.fd, messages_.data(), static_cast<unsigned>(plan_.slots), flags, nullptr);
    if (got < 0) {
      if (errno != EAGAIN && errno != EINTR) {
        return errno;
      }
      continue;
    }
    const std::int64_t now_ns = sdk::MonotonicClock::now_ns();
    for (std::size_t i = 0; i < static_cast<std::size_t>(got); ++i) {
      take(i, now_ns);
      messages_[i].msg_hdr.msg_controllen = controls_[i].size();  // the kernel has shortened it
    }
    publish(now_ns);
  }
  return 0;
}

void Receiver::take(std::size_t index, std::int64_t now_ns) noexcept {
  const mmsghdr& message = messages_[index];
  const std::span<const std::byte> datagram(payload_.data() + index * slot_bytes(plan_),
                                            message.msg_len);
  const std::optional<Header> header = read_header(datagram);
  if (!header) {
    return;
  }
  if (header->kind != Kind::data) {
    take_control(datagram, *header, now_ns);
    return;
  }
  if (datagram.size() != static_cast<std::size_t>(plan_.message_bytes)) {
    return;
  }
  const Fate fate = tracker_.note(header->sequence);
  if (fate == Fate::fresh || fate == Fate::reordered) {
    jitter_.note(kernel_arrival_ns(message.msg_hdr, now_ns), header->sent_ns);
  }
}

void Receiver::take_control(std::span<const std::byte> datagram, const Header& header,
                            std::int64_t now_ns) noexcept {
  if (header.kind == Kind::end) {
    ending_.told_at_ns.store(now_ns, std::memory_order_relaxed);
    ending_.peer_total.store(static_cast<std::int64_t>(header.sequence), std::memory_order_release);
    std::array<std::byte, kHeaderBytes> answer{};
    write_header(answer.data(), {Kind::end_received, header.sequence, now_ns});
    (void)::send(plan_.fd, answer.data(), answer.size(), MSG_DONTWAIT);  // the peer asks again
  } else if (header.kind == Kind::end_received) {
    ending_.acknowledged.store(true, std::memory_order_release);
  } else if (is_greeting(datagram, kHelloMagic, plan_.token)) {
    answer_greeting(plan_.fd, plan_.token);
  }
}

void Receiver::publish(std::int64_t now_ns) noexcept {
  if (tracker_.unique() == seen_.unique.load(std::memory_order_relaxed) &&
      tracker_.duplicates() + tracker_.late() == seen_.duplicates.load(std::memory_order_relaxed) +
                                                     seen_.late.load(std::memory_order_relaxed)) {
    return;
  }
  seen_.expected.store(tracker_.expected(), std::memory_order_relaxed);
  seen_.reordered.store(tracker_.reordered(), std::memory_order_relaxed);
  seen_.duplicates.store(tracker_.duplicates(), std::memory_order_relaxed);
  seen_.late.store(tracker_.late(), std::memory_order_relaxed);
  seen_.jitter_ns.store(jitter_.smoothed_ns(), std::memory_order_relaxed);
  seen_.jitter_mean_ns.store(jitter_.mean_ns(), std::memory_order_relaxed);
  seen_.last_arrival_ns.store(now_ns, std::memory_order_relaxed);
  seen_.unique.store(tracker_.unique(), std::memory_order_release);
}

}  // namespace netbench::udp
