#include "bench/session/dial.hpp"

#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <future>
#include <memory>
#include <optional>
#include <utility>

#include "bench/session/wake.hpp"

namespace netbench::session {

namespace {

using std::chrono::milliseconds;

struct Lookup {
  int code = 0;  // of getaddrinfo(3)
  int sys_errno = 0;
  std::vector<SocketAddress> addresses;
};

int family_number(AddressFamily family) {
  switch (family) {
    case AddressFamily::ipv4:
      return AF_INET;
    case AddressFamily::ipv6:
      return AF_INET6;
    case AddressFamily::any:
      break;
  }
  return AF_UNSPEC;
}

Lookup look_up(const std::string& host, const std::string& port, int family, int flags) {
  addrinfo hints{};
  hints.ai_family = family;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = flags | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  Lookup lookup;
  lookup.code = ::getaddrinfo(host.c_str(), port.c_str(), &hints, &found);
  lookup.sys_errno = errno;
  if (lookup.code == 0) {
    for (const addrinfo* entry = found; entry != nullptr; entry = entry->ai_next) {
      lookup.addresses.push_back(make_address(entry->ai_addr, entry->ai_addrlen));
    }
    ::freeaddrinfo(found);
  }
  return lookup;
}

// getaddrinfo(3) cannot be given a deadline: it runs on a thread that is left to itself when time
// is up, and owns all it touches.
Result<Lookup> look_up_name(const DialOptions& options, const std::string& port) {
  auto promise = std::make_shared<std::promise<Lookup>>();
  auto future = promise->get_future();
  start_thread("nb-resolve", [promise, host = options.host, port, family = options.family] {
    promise->set_value(look_up(host, port, family_number(family), 0));
  }).detach();
  const Deadline deadline = Deadline::after(options.resolve_limit);
  while (future.wait_for(milliseconds(50)) != std::future_status::ready) {
    if (deadline.passed()) {
      return Lookup{.code = EAI_AGAIN, .addresses = {}};
    }
    const auto go_on = wait_for(-1, 0, Deadline::after(Nanoseconds(0)), options.cancel_fd);
    if (!go_on) {
      return tl::unexpected(go_on.error());
    }
  }
  return future.get();
}

const char* eai_name(int code) {
  static constexpr std::array<std::pair<int, const char*>, 8> kNames{{
      {EAI_NONAME, "EAI_NONAME"},
      {EAI_AGAIN, "EAI_AGAIN"},
      {EAI_FAIL, "EAI_FAIL"},
      {EAI_FAMILY, "EAI_FAMILY"},
      {EAI_SERVICE, "EAI_SERVICE"},
      {EAI_MEMORY, "EAI_MEMORY"},
      {EAI_SYSTEM, "EAI_SYSTEM"},
      {EAI_BADFLAGS, "EAI_BADFLAGS"},
  }};
  for (const auto& [value, name] : kNames) {
    if (value == code) {
      return name;
    }
  }
  return "EAI";
}

tl::unexpected<Error> unknown_host(const DialOptions& options, const Lookup& lookup) {
  const char* why =
      lookup.code == EAI_SYSTEM ? std::strerror(lookup.sys_errno) : ::gai_strerror(lookup.code);
  const char* remedy = lookup.code == EAI_AGAIN
                           ? "no name server answered: see /etc/resolv.conf, or give the peer's "
                             "numeric address"
                           : "check the spelling; add the name to /etc/hosts or DNS, or give the "
                             "peer's numeric address";
  return fail("unknown-host",
              fmt::format("cannot resolve \"{}\": {} ({} {})", options.host, why,
                          eai_name(lookup.code), lookup.code),
              remedy, ExitClass::nothing_measured);
}

Error cancelled_error() {
  return Error{"cancelled", "connecting to the agent was cancelled", {}, ExitClass::interrupted};
}

// 0 or the errno of the attempt; ETIMEDOUT also where the deadline passed.
Result<int> finish_connect(int fd, const Deadline& deadline, int cancel_fd) {
  const auto writable = wait_for(fd, POLLOUT, deadline, cancel_fd);
  if (!writable) {
    return tl::unexpected(writable.error());
  }
  if (!*writable) {
    return ETIMEDOUT;
  }
  int error = 0;
  socklen_t size = sizeof(error);
  return ::getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) == 0 ? error : errno;
}

// Small packets, both ways: the control connection has to survive a path on which larger ones
// vanish, to tell about it. Every host takes 576 bytes, 536 of payload (RFC 9293, 3.7.1).
void limit_segments(int fd) {
  const int payload_bytes = 536;
  ::setsockopt(fd, IPPROTO_TCP, TCP_MAXSEG, &payload_bytes, sizeof payload_bytes);
}

// 0 or the errno of the attempt.
Result<int> attempt(int fd, const SocketAddress& to, const Deadline& deadline, int cancel_fd) {
  if (fd < 0) {
    return errno;
  }
  keep_icmp_answers(fd, to.family(), true);
  limit_segments(fd);
  if (::connect(fd, to.get(), to.size) != 0 && errno != EINPROGRESS) {
    return errno;
  }
  return finish_connect(fd, deadline, cancel_fd);
}

// Segments repeated so far; before the connection stands those are SYNs (tcp(7), TCP_INFO).
int count_retransmits(int fd) {
  tcp_info info{};
  socklen_t size = sizeof(info);
  return ::getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size) == 0
             ? static_cast<int>(info.tcpi_total_retrans)
             : 0;
}

Result<UniqueFd> dial_one(const SocketAddress& to, Nanoseconds limit, const DialOptions& options) {
  const int cancel_fd = options.cancel_fd;
  const std::int64_t begin_ns = monotonic_ns();
  UniqueFd fd(::socket(to.family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  const auto error = attempt(fd.get(), to, Deadline::after(limit), cancel_fd);
  if (!error) {
    return tl::unexpected(error.error());
  }
  if (*error == 0) {
    keep_icmp_answers(fd.get(), to.family(), false);
    return fd;
  }
  const ConnectFailure failure{.sys_errno = *error,
                               .elapsed = Nanoseconds(monotonic_ns() - begin_ns),
                               .neighbour = find_neighbour(to),
                               .icmp = read_icmp_answer(fd.get()),
                               .local = local_address(fd.get()),
                               .syn_retransmits = count_retransmits(fd.get())};
  if (options.on_failure) {
    options.on_failure(to, failure);
  }
  return tl::unexpected(explain_connect(to, failure));
}

}  // namespace

Result<bool> wait_for(int fd, short events, const Deadline& deadline, int cancel_fd) {
  while (true) {
    std::array<pollfd, 2> fds{{{fd, events, 0}, {cancel_fd, POLLIN, 0}}};
    const int ready = ::poll(fds.data(), fds.size(), deadline.poll_timeout_ms());
    if (ready < 0 && errno != EINTR) {
      return fail_errno("connect-failed", "poll", errno, ExitClass::nothing_measured);
    }
    if (ready > 0 && fds[1].revents != 0) {
      return tl::unexpected(cancelled_error());
    }
    if (ready > 0) {
      return true;
    }
    if (deadline.passed()) {
      return false;
    }
  }
}

Result<std::vector<SocketAddress>> resolve(const DialOptions& options) {
  const std::string port = std::to_string(options.port);
  Lookup lookup = look_up(options.host, port, family_number(options.family), AI_NUMERICHOST);
  if (lookup.code == EAI_NONAME && !options.host.empty()) {
    auto named = look_up_name(options, port);
    if (!named) {
      return tl::unexpected(named.error());
    }
    lookup = std::move(*named);
  }
  if (lookup.code != 0) {
    return unknown_host(options, lookup);
  }
  return std::move(lookup.addresses);
}

Result<UniqueFd> dial(const DialOptions& options) {
  const auto addresses = resolve(options);
  if (!addresses) {
    return tl::unexpected(addresses.error());
  }
  const auto share = options.connect_limit / static_cast<std::int64_t>(addresses->size());
  std::optional<Error> first;
  for (const SocketAddress& address : *addresses) {
    auto fd = dial_one(address, share, options);
    if (fd || fd.error().slug == "cancelled") {
      return fd;
    }
    // A host without IPv6 says so at once for the other family: the answer of the first counts,
    // unless it was only that.
    if (!first || first->slug == "no-route") {
      first = fd.error();
    }
  }
  return tl::unexpected(*first);
}

}  // namespace netbench::session
