#include "transports/tcp/stream_endpoints.hpp"

#include <fcntl.h>
#include <linux/errqueue.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "transports/sdk/clock.hpp"
#include "transports/tcp/tcp_info.hpp"

namespace netbench::tcp {
namespace {

/// What an unprivileged process may ask for (/proc/sys/fs/pipe-max-size, default 1 MiB).
constexpr std::size_t kPipeBytes = 1 << 20;

/// Messages of at least a super-packet (64 KiB, the default gso_max_size): their remainders below a
/// segment are worth holding back.
constexpr std::size_t kCorkedBytes = 64 << 10;

/// Holds partial segments until the next message fills them (TCP_CORK, tcp(7)): without a copy, a
/// packet for the remainder of each super-packet costs a fifth of the sender's time. MSG_MORE alone
/// lasts only until the next acknowledgement. The end of the stream sends what is left.
void hold_partial_segments(int fd, std::size_t message_bytes) {
  if (message_bytes >= kCorkedBytes) {
    const int on = 1;
    set_option(fd, IPPROTO_TCP, TCP_CORK, on, "mode");
  }
}

Fd memory_file(std::size_t size) {
  Fd memory(::memfd_create("netbench-message", MFD_CLOEXEC));
  if (!memory.valid() || ::ftruncate(memory.get(), static_cast<off_t>(size)) != 0) {
    throw sdk::system_error("memfd-refused",
                            "mode: making a memory file of " + std::to_string(size) + " B", errno,
                            "raise `ulimit -n`, or use mode copy");
  }
  const PageBuffer content(std::min<std::size_t>(size, kPipeBytes));
  for (std::size_t done = 0; done < size;) {
    const ssize_t moved =
        ::write(memory.get(), content.data(), std::min(content.size(), size - done));
    if (moved <= 0) {
      throw sdk::system_error("memfd-refused", "mode: filling a memory file", errno);
    }
    done += static_cast<std::size_t>(moved);
  }
  return memory;
}

/// Notifications in one message of the error queue: a range, and whether the kernel copied.
struct Completion {
  std::uint64_t count = 0;
  bool copied = false;
};

Completion completion_of(const cmsghdr& header) {
  const bool ours = (header.cmsg_level == SOL_IP && header.cmsg_type == IP_RECVERR) ||
                    (header.cmsg_level == SOL_IPV6 && header.cmsg_type == IPV6_RECVERR);
  sock_extended_err error{};
  std::memcpy(&error, CMSG_DATA(&header), sizeof error);
  if (!ours || error.ee_origin != SO_EE_ORIGIN_ZEROCOPY) {
    return {};
  }
  return {static_cast<std::uint64_t>(error.ee_data - error.ee_info) + 1,
          (error.ee_code & SO_EE_CODE_ZEROCOPY_COPIED) != 0};
}

}  // namespace

StallWatch::StallWatch(int fd) noexcept
    : fd_(fd), acknowledged_(TcpInfo::read(fd).bytes_acked().value_or(0)) {}

bool StallWatch::keep_sending() noexcept {
  const int reason = errno;
  if (reason == EINTR) {
    return true;
  }
  if (reason != EAGAIN) {
    return false;
  }
  const std::uint64_t now = TcpInfo::read(fd_).bytes_acked().value_or(0);
  const bool progress = now != acknowledged_;
  acknowledged_ = now;
  errno = reason;
  return progress;
}

SendfileSender::SendfileSender(int fd, std::size_t message_bytes)
    : fd_(fd), memory_(memory_file(message_bytes)), size_(message_bytes), watch_(fd) {
  hold_partial_segments(fd, message_bytes);
}

VmspliceSender::VmspliceSender(int fd, std::size_t message_bytes)
    : fd_(fd), message_(message_bytes), size_(message_bytes), watch_(fd) {
  hold_partial_segments(fd, message_bytes);
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    throw sdk::system_error("pipe-refused", "mode: making a pipe", errno,
                            "raise `ulimit -n`, or use mode copy");
  }
  read_end_ = Fd(ends[0]);
  write_end_ = Fd(ends[1]);
  // Refused beyond the user's pipe limits: the pipe stays at 64 KiB and a message takes more calls.
  (void)::fcntl(write_end_.get(), F_SETPIPE_SZ,
                static_cast<int>(std::min(message_bytes, kPipeBytes)));
}

ZerocopySender::ZerocopySender(int fd, std::size_t message_bytes, ZerocopyCounts& counts)
    : fd_(fd), message_(message_bytes), size_(message_bytes), counts_(&counts), watch_(fd) {
  const int on = 1;
  set_option(fd, SOL_SOCKET, SO_ZEROCOPY, on, "mode");
}

void ZerocopySender::reap() noexcept {
  std::array<char, 128> control{};
  while (outstanding_ > 0) {
    msghdr message{};
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    if (::recvmsg(fd_, &message, MSG_ERRQUEUE | MSG_DONTWAIT) < 0) {
      return;
    }
    for (cmsghdr* header = CMSG_FIRSTHDR(&message); header != nullptr;
         header = CMSG_NXTHDR(&message, header)) {
      const Completion done = completion_of(*header);
      counts_->completions.fetch_add(done.count, std::memory_order_relaxed);
      counts_->copied.fetch_add(done.copied ? done.count : 0, std::memory_order_relaxed);
      outstanding_ -= std::min(done.count, outstanding_);
    }
  }
}

bool ZerocopySender::await_completion() noexcept {
  const std::uint64_t before = outstanding_;
  pollfd ready{fd_, 0, 0};  // POLLERR is always reported
  constexpr int kStallMs = static_cast<int>(kStallLimitNs / 1'000'000);
  const bool woken = ::poll(&ready, 1, kStallMs) > 0 && (ready.revents & POLLHUP) == 0;
  reap();
  errno = woken ? ENOBUFS : EAGAIN;
  return outstanding_ < before;
}

void ZerocopySender::finish() noexcept {
  const std::int64_t give_up = sdk::MonotonicClock::now_ns() + 1'000'000'000;
  reap();
  while (outstanding_ > 0 && sdk::MonotonicClock::now_ns() < give_up) {
    pollfd ready{fd_, 0, 0};
    if (::poll(&ready, 1, 10) > 0 && (ready.revents & (POLLHUP | POLLNVAL)) != 0) {
      reap();
      return;
    }
    reap();
  }
}

}  // namespace netbench::tcp
