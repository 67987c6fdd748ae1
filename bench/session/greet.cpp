#include "bench/session/greet.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <string_view>
#include <utility>

#include "bench/session/address.hpp"
#include "bench/session/dial.hpp"
#include "bench/session/half_open.hpp"
#include "bench/session/tls.hpp"

namespace netbench::session {

namespace {

constexpr std::size_t kPeekBytes = 200;
// ContentType alert and handshake, RFC 8446 section 5.1.
constexpr char kTlsAlert = 0x15;
constexpr char kTlsHandshake = 0x16;

// How other servers begin, as seen by who sends them something they do not understand.
struct Stranger {
  std::string_view begin;
  const char* name;
};
constexpr std::array<Stranger, 5> kStrangers{{
    {"HTTP/", "an HTTP server"},
    {"SSH-", "an SSH server"},
    {"220", "a mail or FTP server"},
    {"\x09", "an iperf3 server"},      // PARAM_EXCHANGE, iperf_api.h
    {"\xff", "a busy iperf3 server"},  // ACCESS_DENIED
}};

constexpr const char* kClosesAtOnce = "it closes the connection without an answer";

bool looks_like_tls(std::string_view first_bytes) {
  return first_bytes.empty() || first_bytes.front() == kTlsAlert ||
         first_bytes.front() == kTlsHandshake;
}

// What else has come, for showing it.
std::string more_of(int fd) {
  std::string bytes(kPeekBytes, '\0');
  const ssize_t count = ::recv(fd, bytes.data(), bytes.size(), MSG_DONTWAIT);
  bytes.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
  return bytes;
}

class Greeter {
 public:
  Greeter(UniqueFd fd, const GreetOptions& options)
      : options_(options),
        peer_(peer_address(fd.get()).text()),
        deadline_(Deadline::after(options.answer_limit)),
        fd_(std::move(fd)) {}

  Result<Stream> over_tls() {
    const auto context = TlsContext::for_client(*options_.key, options_.identity);
    if (!context) {
      return tl::unexpected(context.error());
    }
    Stream stream(std::move(fd_), (*context)->make_ssl());
    if (const auto done = shake_hands(stream); !done) {
      return tl::unexpected(done.error());
    }
    return with_hello(std::move(stream), {});
  }

  Result<Stream> plainly() {
    auto stream = with_hello(Stream(std::move(fd_)), kPlainMagic);
    if (!stream) {
      return stream;
    }
    if (const auto same = read_magic(*stream); !same) {
      return tl::unexpected(same.error());
    }
    return stream;
  }

 private:
  [[nodiscard]] tl::unexpected<Error> stranger(const std::string& what) const {
    return fail("not-an-agent", fmt::format("{} is not a netbench agent: {}", peer_, what),
                "start `netbench agent` on the peer, or give its port as HOST:PORT",
                ExitClass::nothing_measured);
  }

  [[nodiscard]] tl::unexpected<Error> stranger_said(std::string_view bytes) const {
    for (const Stranger& known : kStrangers) {
      if (bytes.starts_with(known.begin)) {
        return stranger(
            fmt::format("it answers \"{}\", as {} does", printable(bytes, 60), known.name));
      }
    }
    return stranger(fmt::format("it answers \"{}\"", printable(bytes, 60)));
  }

  [[nodiscard]] tl::unexpected<Error> silence() const {
    return stranger(fmt::format(
        "it took the connection and said nothing for {:.1f} s (or the agent is stopped)",
        std::chrono::duration<double>(options_.answer_limit).count()));
  }

  [[nodiscard]] Status wait(int fd, short events) const {
    const auto ready = wait_for(fd, events, deadline_, options_.cancel_fd);
    if (!ready) {
      return tl::unexpected(ready.error());
    }
    return *ready ? Status{} : silence();
  }

  // What the other end has sent first, without taking it.
  [[nodiscard]] Result<std::string> peek(int fd) const {
    if (const auto ready = wait(fd, POLLIN); !ready) {
      return tl::unexpected(ready.error());
    }
    std::string bytes(kPeekBytes, '\0');
    const ssize_t count = ::recv(fd, bytes.data(), bytes.size(), MSG_PEEK);
    if (count <= 0) {
      return stranger(kClosesAtOnce);
    }
    bytes.resize(static_cast<std::size_t>(count));
    return bytes;
  }

  [[nodiscard]] Status shake_hands(Stream& stream) const {
    while (true) {
      const IoState state = stream.handshake();
      if (!looks_like_tls(stream.first_bytes())) {
        return stranger_said(stream.first_bytes() + more_of(stream.fd()));
      }
      if (state == IoState::done) {
        return {};
      }
      if (state == IoState::closed || state == IoState::failed) {
        return refused(stream);
      }
      const short events = state == IoState::want_read ? POLLIN : POLLOUT;
      if (const auto ready = wait(stream.fd(), events); !ready) {
        return ready;
      }
    }
  }

  [[nodiscard]] std::string key_name() const {
    return options_.identity.empty() ? options_.key->identity() : options_.identity;
  }

  [[nodiscard]] Status refused(const Stream& stream) const {
    switch (stream.alert()) {
      case kAlertHandshakeFailure:
        return fail(
            "key-unknown",
            fmt::format("the agent on {} does not know this client's key {}", peer_, key_name()),
            "use the key that the agent was started with (it prints the key's name)",
            ExitClass::nothing_measured);
      case kAlertIllegalParameter:
        return fail("key-wrong",
                    fmt::format("the agent on {} knows the name {} of this client's key, but has "
                                "another key under it",
                                peer_, key_name()),
                    "copy the agent's key again", ExitClass::nothing_measured);
      case kAlertInsufficientSecurity:
        return fail(
            "agent-insecure", fmt::format("the agent on {} was started without a key", peer_),
            "start the agent with a key, or say --insecure here too", ExitClass::nothing_measured);
      default:
        return stranger(stream.failure().empty() ? kClosesAtOnce : stream.failure());
    }
  }

  [[nodiscard]] Result<Stream> with_hello(Stream stream, std::string_view before) const {
    const auto frame = encode_frame(options_.hello);
    if (!frame) {
      return tl::unexpected(frame.error());
    }
    const std::string bytes = std::string(before) + *frame;
    for (std::size_t written = 0; written < bytes.size();) {
      const IoResult put = stream.write(bytes.data() + written, bytes.size() - written);
      written += put.bytes;
      if (put.state == IoState::closed || put.state == IoState::failed) {
        return stranger(kClosesAtOnce);
      }
      if (put.state == IoState::want_write) {
        if (const auto ready = wait(stream.fd(), POLLOUT); !ready) {
          return tl::unexpected(ready.error());
        }
      }
    }
    return stream;
  }

  [[nodiscard]] Status read_magic(Stream& stream) const {
    std::array<char, kPlainMagic.size()> magic{};
    for (std::size_t have = 0; have < magic.size();) {
      const auto seen = peek(stream.fd());
      if (!seen) {
        return tl::unexpected(seen.error());
      }
      const std::size_t common = std::min(seen->size(), magic.size() - have);
      if (seen->substr(0, common) != kPlainMagic.substr(have, common)) {
        return stranger_said(*seen);
      }
      have += stream.read(magic.data(), common).bytes;
    }
    return {};
  }

  const GreetOptions& options_;
  std::string peer_;
  Deadline deadline_;
  UniqueFd fd_;
};

}  // namespace

Result<Stream> greet(UniqueFd fd, const GreetOptions& options) {
  Greeter greeter(std::move(fd), options);
  return options.key ? greeter.over_tls() : greeter.plainly();
}

}  // namespace netbench::session
