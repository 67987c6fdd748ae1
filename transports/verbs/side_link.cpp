#include "transports/verbs/side_link.hpp"

#include <fcntl.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "transports/rdma/wire.hpp"

namespace netbench::verbs {
namespace {

constexpr std::int64_t kTakeSliceNs = 20'000'000;  // how soon a cancelled take() returns
constexpr std::uint32_t kMaxMessageBytes = 64 << 10;

std::int64_t left_ns(TimePoint deadline) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(deadline -
                                                              std::chrono::steady_clock::now())
      .count();
}

sdk::Error timed_out(const std::string& what) {
  return {NB_TIMED_OUT, "verbs-peer-silent", what + " did not come in time",
          "the peer is stopped, or its port is filtered"};
}

sdk::Error closed() {
  return {NB_PEER_CLOSED, "verbs-peer-closed", "the peer went away",
          "see the output of netbench on the peer"};
}

void tune(int fd) {
  const int on = 1;
  (void)sdk::try_set(fd, IPPROTO_TCP, TCP_NODELAY, on);
  (void)::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) | O_NONBLOCK);
}

}  // namespace

SideLink::SideLink() : wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (!wake_.valid()) {
    throw sdk::system_error("eventfd-refused", "making an eventfd", errno, "raise `ulimit -n`");
  }
}

void SideLink::wait_for(short events, TimePoint deadline) const {
  std::array<pollfd, 2> ready = {pollfd{socket_.get(), events, 0}, pollfd{wake_.get(), POLLIN, 0}};
  while (true) {
    const std::int64_t left = left_ns(deadline);
    if (left <= 0) {
      throw timed_out("the peer's answer");
    }
    const auto left_ms = static_cast<int>(std::min<std::int64_t>(left / 1'000'000 + 1, INT32_MAX));
    ::poll(ready.data(), ready.size(), left_ms);
    if (cancelled_) {
      throw sdk::cancelled();
    }
    if (ready[0].revents != 0) {
      return;
    }
  }
}

void SideLink::dial(const Options& options, const Token& token, TimePoint deadline) {
  sdk::Fd fd(::socket(options.peer.family(), SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const std::string what = "connecting to " + options.peer.text();
  if (!fd.valid() ||
      (::connect(fd.get(), options.peer.get(), options.peer.length) != 0 && errno != EINPROGRESS)) {
    throw sdk::system_error("verbs-side-link", what, errno, "is the agent still running?");
  }
  tune(fd.get());
  socket_ = std::move(fd);
  wait_for(POLLOUT, deadline);
  const int failure = sdk::get_option<int>(socket_.get(), SOL_SOCKET, SO_ERROR).value_or(0);
  if (failure != 0) {
    throw sdk::system_error("verbs-side-link", what, failure, "is the agent still running?");
  }
  std::array<std::uint8_t, 4 + NB_TOKEN_BYTES> hello{};
  std::memcpy(hello.data(), NB_DATA_MAGIC, 4);
  std::ranges::copy(token, hello.begin() + 4);
  send_all(hello, deadline);
}

void SideLink::take(sdk::Host host, const Token& token, TimePoint deadline) {
  while (true) {
    const std::int64_t left = left_ns(deadline);
    if (left <= 0) {
      throw timed_out("the initiator's connection");
    }
    int number = -1;
    const nb_status status = host.rendezvous()->take_connection(
        host.raw(), token.data(), std::min(left, kTakeSliceNs), &number);
    sdk::Fd fd(status == NB_OK ? number : -1);
    if (cancelled_) {
      throw sdk::cancelled();
    }
    if (status == NB_OK) {
      tune(fd.get());
      socket_ = std::move(fd);
      return;
    }
    if (status != NB_TIMED_OUT) {
      throw sdk::Error(status, "verbs-side-link", "taking the initiator's connection failed");
    }
  }
}

void SideLink::send_all(std::span<const std::uint8_t> bytes, TimePoint deadline) {
  while (!bytes.empty()) {
    const ssize_t moved =
        ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (moved > 0) {
      bytes = bytes.subspan(static_cast<std::size_t>(moved));
    } else if (errno == EAGAIN || errno == EINTR) {
      wait_for(POLLOUT, deadline);
    } else {
      throw closed();
    }
  }
}

void SideLink::receive_all(std::span<std::uint8_t> bytes, TimePoint deadline) {
  while (!bytes.empty()) {
    const ssize_t moved = ::recv(socket_.get(), bytes.data(), bytes.size(), MSG_DONTWAIT);
    if (moved > 0) {
      bytes = bytes.subspan(static_cast<std::size_t>(moved));
    } else if (moved < 0 && (errno == EAGAIN || errno == EINTR)) {
      wait_for(POLLIN, deadline);
    } else {
      throw closed();
    }
  }
}

std::vector<std::uint8_t> SideLink::exchange(std::span<const std::uint8_t> mine,
                                             TimePoint deadline) {
  rdma::Writer head;
  head.u32(static_cast<std::uint32_t>(mine.size()));
  send_all(head.take(), deadline);
  send_all(mine, deadline);
  std::array<std::uint8_t, 4> theirs{};
  receive_all(theirs, deadline);
  const std::uint32_t size = rdma::Reader(theirs).u32();
  if (size > kMaxMessageBytes) {
    throw sdk::Error(NB_FAILED, "verbs-bad-message", "the peer's message is not one of verbs",
                     "run the same release on both ends");
  }
  std::vector<std::uint8_t> bytes(size);
  receive_all(bytes, deadline);
  return bytes;
}

bool SideLink::peer_gone() const noexcept {
  std::uint8_t scrap = 0;
  const ssize_t seen = ::recv(socket_.get(), &scrap, 1, MSG_PEEK | MSG_DONTWAIT);
  return seen == 0 || (seen < 0 && errno != EAGAIN && errno != EINTR);
}

void SideLink::cancel() noexcept {
  cancelled_ = true;
  (void)::eventfd_write(wake_.get(), 1);
}

}  // namespace netbench::verbs
