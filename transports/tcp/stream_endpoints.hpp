#pragma once

#include <fcntl.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>

#include "transports/sdk/concepts.hpp"
#include "transports/tcp/buffers.hpp"
#include "transports/tcp/socket.hpp"
#include "transports/tcp/syscalls.hpp"

/// The ends of a stream, one class a mode. Constructors make the resources and throw; the calls in
/// the loop are noexcept. A failed call leaves its reason in errno.
namespace netbench::tcp {

/// Decides, when a blocked send returned after the stall limit, whether the peer is gone or slow.
class StallWatch {
 public:
  explicit StallWatch(int fd) noexcept;
  /// True where the call is to be repeated: interrupted, or the peer acknowledged bytes meanwhile.
  /// Keeps errno.
  [[nodiscard]] bool keep_sending() noexcept;

 private:
  int fd_;
  std::uint64_t acknowledged_;
};

/// send() of one buffer over and over.
class CopySender {
 public:
  CopySender(int fd, std::size_t message_bytes)
      : fd_(fd), message_(message_bytes), size_(message_bytes), watch_(fd) {}

  [[nodiscard]] std::int64_t send_some() noexcept {
    while (true) {
      const std::int64_t moved = raw_send(fd_, message_.data(), size_, MSG_NOSIGNAL);
      if (moved > 0 || !watch_.keep_sending()) [[likely]] {
        return moved;
      }
    }
  }
  static void finish() noexcept {}

 private:
  int fd_;
  PageBuffer message_;
  std::size_t size_;
  StallWatch watch_;
};

/// sendfile() of one message from memory. SIGPIPE is blocked in the worker threads. Large messages
/// leave in whole segments, whatever TCP_NODELAY says.
class SendfileSender {
 public:
  SendfileSender(int fd, std::size_t message_bytes);

  [[nodiscard]] std::int64_t send_some() noexcept {
    while (true) {
      off_t offset = 0;
      const std::int64_t moved = ::sendfile(fd_, memory_.get(), &offset, size_);
      if (moved > 0 || !watch_.keep_sending()) [[likely]] {
        return moved;
      }
    }
  }
  static void finish() noexcept {}

 private:
  int fd_;
  Fd memory_;
  std::size_t size_;
  StallWatch watch_;
};

/// vmsplice() of user pages into a pipe, splice() from there into the socket. Bytes count once they
/// are in the socket. Large messages leave in whole segments, whatever TCP_NODELAY says.
class VmspliceSender {
 public:
  VmspliceSender(int fd, std::size_t message_bytes);

  [[nodiscard]] std::int64_t send_some() noexcept {
    while (true) {
      if (in_pipe_ == 0 && !fill_pipe()) {
        return -1;
      }
      const std::int64_t moved =
          ::splice(read_end_.get(), nullptr, fd_, nullptr, in_pipe_, SPLICE_F_MOVE);
      if (moved > 0) [[likely]] {
        in_pipe_ -= static_cast<std::size_t>(moved);
        return moved;
      }
      if (!watch_.keep_sending()) {
        return moved;
      }
    }
  }
  static void finish() noexcept {}

 private:
  bool fill_pipe() noexcept {
    const iovec part{message_.data() + offset_, size_ - offset_};
    const std::int64_t moved = ::vmsplice(write_end_.get(), &part, 1, 0);
    if (moved <= 0) {
      return false;
    }
    in_pipe_ = static_cast<std::size_t>(moved);
    offset_ = (offset_ + in_pipe_) % size_;
    return true;
  }

  int fd_;
  PageBuffer message_;
  std::size_t size_;
  std::size_t offset_ = 0;
  std::size_t in_pipe_ = 0;
  Fd read_end_;
  Fd write_end_;
  StallWatch watch_;
};

/// What the kernel said of MSG_ZEROCOPY sends: written by the sending thread, read by any.
struct ZerocopyCounts {
  std::atomic<std::uint64_t> completions{0};
  std::atomic<std::uint64_t> copied{0};
};

/// send(MSG_ZEROCOPY); completions are taken from the error queue every few sends, and all of them
/// before the buffer goes (Documentation/networking/msg_zerocopy.rst).
class ZerocopySender {
 public:
  ZerocopySender(int fd, std::size_t message_bytes, ZerocopyCounts& counts);

  [[nodiscard]] std::int64_t send_some() noexcept {
    while (true) {
      const std::int64_t moved = raw_send(fd_, message_.data(), size_, MSG_NOSIGNAL | MSG_ZEROCOPY);
      if (moved > 0) [[likely]] {
        if (++outstanding_ % kSendsPerReap == 0) {
          reap();
        }
        return moved;
      }
      // Too many notifications are pending (net.core.optmem_max): take some, then go on.
      if (moved < 0 && errno == ENOBUFS ? !await_completion() : !watch_.keep_sending()) {
        return moved;
      }
    }
  }
  /// Waits, no longer than a second, for the completions still outstanding.
  void finish() noexcept;

 private:
  static constexpr std::uint32_t kSendsPerReap = 32;

  void reap() noexcept;
  [[nodiscard]] bool await_completion() noexcept;

  int fd_;
  PageBuffer message_;
  std::size_t size_;
  std::uint64_t outstanding_ = 0;
  ZerocopyCounts* counts_;
  StallWatch watch_;
};

/// recv() into one buffer.
class CopyReceiver {
 public:
  CopyReceiver(int fd, std::size_t chunk_bytes) : fd_(fd), chunk_(chunk_bytes) {}

  [[nodiscard]] std::int64_t receive_some() noexcept {
    while (true) {
      const std::int64_t moved = raw_recv(fd_, chunk_.data(), chunk_.size(), 0);
      if (moved >= 0 || errno != EINTR) [[likely]] {
        return moved;
      }
    }
  }

 private:
  int fd_;
  PageBuffer chunk_;
};

/// recv(MSG_TRUNC): TCP drops the bytes without copying them (tcp(7)).
class DiscardReceiver {
 public:
  DiscardReceiver(int fd, std::size_t chunk_bytes) : fd_(fd), chunk_bytes_(chunk_bytes) {}

  [[nodiscard]] std::int64_t receive_some() noexcept {
    while (true) {
      const std::int64_t moved = raw_recv(fd_, nullptr, chunk_bytes_, MSG_TRUNC);
      if (moved >= 0 || errno != EINTR) [[likely]] {
        return moved;
      }
    }
  }

 private:
  int fd_;
  std::size_t chunk_bytes_;
};

static_assert(sdk::StreamSender<CopySender> && sdk::StreamSender<SendfileSender> &&
              sdk::StreamSender<VmspliceSender> && sdk::StreamSender<ZerocopySender>);
static_assert(sdk::StreamReceiver<CopyReceiver> && sdk::StreamReceiver<DiscardReceiver>);

}  // namespace netbench::tcp
