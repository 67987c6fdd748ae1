#include "transports/tcp/links.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <string>

namespace netbench::tcp {
namespace {

constexpr std::array<std::uint8_t, 4> kBlobHeader = {'T', 'C', 'P', 1};

/// take_connection() cannot be interrupted: it is asked in slices, with cancel() looked at between.
constexpr std::int64_t kTakeSliceNs = 20'000'000;

std::int64_t left_ns(TimePoint deadline) {
  return std::chrono::nanoseconds(deadline - std::chrono::steady_clock::now()).count();
}

sdk::Error connections_missing(const std::string& what) {
  return {NB_TIMED_OUT, "tcp-rendezvous-timeout", what,
          "the initiator could not reach this port, or gave up"};
}

void start_connecting(int fd, const Options& options) {
  fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
  if (::connect(fd, options.peer.get(), options.peer.length) != 0 && errno != EINPROGRESS) {
    throw connect_error(options.peer, errno);
  }
}

void present_token(int fd, const Token& token, const Options& options) {
  std::array<std::uint8_t, 4 + NB_TOKEN_BYTES> hello{};
  std::memcpy(hello.data(), NB_DATA_MAGIC, 4);
  std::ranges::copy(token, hello.begin() + 4);
  fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK);
  if (::send(fd, hello.data(), hello.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(hello.size())) {
    throw connect_error(options.peer, errno);
  }
}

}  // namespace

std::vector<std::uint8_t> encode_tokens(std::span<const Token> tokens) {
  std::vector<std::uint8_t> blob(kBlobHeader.begin(), kBlobHeader.end());
  for (const Token& token : tokens) {
    blob.insert(blob.end(), token.begin(), token.end());
  }
  return blob;
}

std::vector<Token> decode_tokens(nb_blob blob, std::size_t count) {
  const bool valid = blob.data != nullptr &&
                     blob.size == kBlobHeader.size() + count * NB_TOKEN_BYTES &&
                     std::equal(kBlobHeader.begin(), kBlobHeader.end(), blob.data);
  if (!valid) {
    throw sdk::Error(NB_FAILED, "tcp-bad-blob",
                     "the peer's address is not one of the tcp transport for " +
                         std::to_string(count) + " connections",
                     "run the same release on both ends");
  }
  std::vector<Token> tokens(count);
  const std::uint8_t* from = blob.data + kBlobHeader.size();
  for (Token& token : tokens) {
    std::copy_n(from, token.size(), token.begin());
    from += token.size();
  }
  return tokens;
}

Links::Links() : wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (!wake_.valid()) {
    throw sdk::system_error("eventfd-refused", "making an eventfd", errno, "raise `ulimit -n`");
  }
}

void Links::adopt(Fd fd) {
  const std::scoped_lock lock(mutex_);
  if (cancelled_) {
    throw sdk::cancelled();
  }
  numbers_.push_back(fd.get());
  owned_.push_back(std::move(fd));
}

void Links::await_connected(int fd, const Options& options, TimePoint deadline) const {
  std::array<pollfd, 2> ready = {pollfd{fd, POLLOUT, 0}, pollfd{wake_.get(), POLLIN, 0}};
  while (true) {
    const std::int64_t left = left_ns(deadline);
    if (left <= 0) {
      throw connect_error(options.peer, ETIMEDOUT);
    }
    const auto left_ms = static_cast<int>(std::min<std::int64_t>(left / 1'000'000 + 1, INT32_MAX));
    ::poll(ready.data(), ready.size(), left_ms);
    if (cancelled_) {
      throw sdk::cancelled();
    }
    if (ready[0].revents != 0) {
      break;
    }
  }
  const int failure = get_option<int>(fd, SOL_SOCKET, SO_ERROR).value_or(0);
  if (failure != 0) {
    throw connect_error(options.peer, failure);
  }
}

void Links::connect_all(const Options& options, std::span<const Token> tokens, TimePoint deadline) {
  for (std::size_t index = 0; index < tokens.size(); ++index) {
    Fd fd = make_socket(options);
    start_connecting(fd.get(), options);
    adopt(std::move(fd));
  }
  for (std::size_t index = 0; index < tokens.size(); ++index) {
    const int fd = numbers_[index];
    await_connected(fd, options, deadline);
    present_token(fd, tokens[index], options);
    apply_connected(fd, options);
  }
}

Fd Links::take_one(const nb_rendezvous& rendezvous, sdk::Host host, const Token& token,
                   TimePoint deadline) const {
  while (true) {
    const std::int64_t left = left_ns(deadline);
    if (left <= 0) {
      throw connections_missing("waiting for the initiator's data connections");
    }
    int number = -1;
    const nb_status status =
        rendezvous.take_connection(host.raw(), token.data(), std::min(left, kTakeSliceNs), &number);
    Fd fd(status == NB_OK ? number : -1);
    if (cancelled_) {
      throw sdk::cancelled();
    }
    if (status == NB_OK) {
      return fd;
    }
    if (status != NB_TIMED_OUT) {
      throw sdk::Error(status, "tcp-rendezvous-failed", "taking a data connection failed");
    }
  }
}

void Links::take_all(const Options& options, sdk::Host host, std::span<const Token> tokens,
                     TimePoint deadline) {
  const nb_rendezvous* rendezvous = host.rendezvous();
  for (const Token& token : tokens) {
    Fd fd = take_one(*rendezvous, host, token, deadline);
    apply_connected(fd.get(), options);
    adopt(std::move(fd));
  }
}

void Links::shutdown_all() noexcept {
  const std::scoped_lock lock(mutex_);
  for (const Fd& fd : owned_) {
    ::shutdown(fd.get(), SHUT_RDWR);
  }
}

void Links::cancel() noexcept {
  cancelled_ = true;
  (void)::eventfd_write(wake_.get(), 1);
  shutdown_all();
}

}  // namespace netbench::tcp
