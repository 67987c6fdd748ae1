#include "transports/sim/link.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "transports/sdk/clock.hpp"
#include "transports/sdk/error.hpp"

namespace netbench::sim {

namespace {

/// cancel() is noticed within a slice where a call cannot watch the event.
constexpr std::int64_t kSliceNs = 20'000'000;

int make_event() {
  const int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (fd < 0) {
    throw sdk::system_error("sim-no-event", "eventfd", errno, "raise `ulimit -n`");
  }
  return fd;
}

void raise_event(int fd) noexcept {
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto written = write(fd, &one, sizeof one);
}

int poll_timeout_ms(std::int64_t timeout_ns) {
  return timeout_ns < 0 ? -1 : static_cast<int>(std::min(timeout_ns / 1'000'000 + 1, 86'400'000L));
}

sdk::Error peer_closed() {
  return {NB_PEER_CLOSED, "peer-closed", "the other end of the simulated link went away"};
}

void send_all(int fd, const void* data, std::size_t size) {
  if (send(fd, data, size, MSG_NOSIGNAL) != static_cast<ssize_t>(size)) {
    throw peer_closed();  // a few bytes always fit into an empty buffer
  }
}

}  // namespace

Link::Link(sdk::Host host, const nb_open_args& args)
    : host_(host),
      role_(args.role),
      deadline_ns_(args.deadline_ns),
      cancel_event_(make_event()),
      end_event_(make_event()) {
  const auto* address = static_cast<const std::uint8_t*>(args.peer_address);
  if (address != nullptr) {
    peer_address_.assign(address, address + args.peer_address_bytes);
  }
}

Link::~Link() {
  for (const int fd : {fd_, cancel_event_, end_event_}) {
    if (fd >= 0) {
      close(fd);
    }
  }
}

nb_blob Link::describe() {
  const nb_rendezvous* rendezvous = host_.rendezvous();
  if (rendezvous == nullptr || role_ == NB_INITIATOR) {
    return {nullptr, 0};
  }
  if (rendezvous->issue_token(host_.raw(), token_.data()) != NB_OK) {
    throw sdk::Error(NB_FAILED, "sim-no-token", "the agent issued no token");
  }
  return {token_.data(), token_.size()};
}

void Link::connect(const nb_blob& peer) {
  if (is_cancelled()) {
    throw sdk::cancelled();
  }
  if (role_ == NB_INITIATOR && peer.size == NB_TOKEN_BYTES) {
    dial(peer);
  } else if (role_ == NB_RESPONDER && host_.rendezvous() != nullptr) {
    accept();
  }
}

void Link::dial(const nb_blob& token) {
  const auto* address = reinterpret_cast<const sockaddr*>(peer_address_.data());
  if (peer_address_.size() < sizeof(sockaddr)) {
    throw sdk::Error(NB_FAILED, "sim-no-address", "the agent's address is not known");
  }
  fd_ = socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd_ < 0) {
    throw sdk::system_error("sim-no-socket", "socket", errno, "raise `ulimit -n`");
  }
  const auto length = static_cast<socklen_t>(peer_address_.size());
  if (::connect(fd_, address, length) != 0 && errno != EINPROGRESS) {
    throw sdk::system_error("sim-connect-failed", "connect to the agent", errno);
  }
  if (!wait_for(POLLOUT, deadline_ns_)) {
    throw sdk::Error(NB_TIMED_OUT, "sim-connect-timed-out", "connect to the agent timed out");
  }
  int refused = 0;
  socklen_t size = sizeof refused;
  getsockopt(fd_, SOL_SOCKET, SO_ERROR, &refused, &size);
  if (refused != 0) {
    throw sdk::system_error("sim-connect-failed", "connect to the agent", refused);
  }
  std::array<std::uint8_t, 4 + NB_TOKEN_BYTES> hello{};
  std::memcpy(hello.data(), NB_DATA_MAGIC, 4);
  std::memcpy(hello.data() + 4, token.data, NB_TOKEN_BYTES);
  send_all(fd_, hello.data(), hello.size());
}

void Link::accept() {
  const std::int64_t end = sdk::MonotonicClock::now_ns() + deadline_ns_;
  while (sdk::MonotonicClock::now_ns() < end) {
    const nb_status status = host_.rendezvous()->take_connection(
        host_.raw(), token_.data(), std::min(kSliceNs, deadline_ns_), &fd_);
    if (status == NB_OK) {
      return;
    }
    if (is_cancelled()) {
      throw sdk::cancelled();
    }
    if (status != NB_TIMED_OUT) {
      throw sdk::Error(status, "sim-no-connection", "the initiator's connection did not come");
    }
  }
  throw sdk::Error(NB_TIMED_OUT, "sim-accept-timed-out", "no connection from the initiator came");
}

bool Link::wait_for(short events, std::int64_t timeout_ns) const {
  std::array<pollfd, 3> watched{
      {{fd_, events, 0}, {cancel_event_, POLLIN, 0}, {end_event_, POLLIN, 0}}};
  const bool is_waiting_for_end = timeout_ns < 0;
  const nfds_t count = is_waiting_for_end ? 3 : 2;
  while (poll(watched.data(), count, poll_timeout_ms(timeout_ns)) < 0 && errno == EINTR) {
  }
  if (watched[1].revents != 0) {
    throw sdk::cancelled();
  }
  return watched[0].revents != 0;
}

void Link::wait_for_end() {
  if (!wait_for(POLLIN, -1)) {
    return;  // this end's stop()
  }
  char first = 0;
  const bool at_end = recv(fd_, &first, 1, MSG_PEEK | MSG_DONTWAIT) == 0;
  if (at_end && !closing_.load()) {
    throw peer_closed();
  }
}

void Link::close_down() noexcept {
  closing_.store(true);
  raise_event(end_event_);
}

Totals Link::exchange(const Totals& own, std::int64_t timeout_ns) {
  if (is_cancelled()) {
    throw sdk::cancelled();
  }
  if (fd_ < 0) {
    return {};
  }
  send_all(fd_, &own, sizeof own);
  Totals peer;
  if (!wait_for(POLLIN, std::max<std::int64_t>(timeout_ns, 0))) {
    throw sdk::Error(NB_TIMED_OUT, "sim-stop-timed-out", "the other end did not stop in time");
  }
  if (recv(fd_, &peer, sizeof peer, MSG_WAITALL) != static_cast<ssize_t>(sizeof peer)) {
    throw peer_closed();
  }
  return peer;
}

void Link::cancel() noexcept {
  cancelled_.store(true, std::memory_order_relaxed);
  raise_event(cancel_event_);
}

}  // namespace netbench::sim
