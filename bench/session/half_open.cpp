#include "bench/session/half_open.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <string_view>
#include <utility>

#include "bench/core/log.hpp"
#include "bench/session/hello.hpp"
#include "transports/abi/nb_transport.h"

namespace netbench::session {

namespace {

using namespace std::string_view_literals;

constexpr std::string_view kDataMagic = NB_DATA_MAGIC;
constexpr char kTlsHandshake = 0x16;  // ContentType of a ClientHello, RFC 8446 section 5.1
// A fatal alert record, insufficient_security (RFC 8446 sections 5.1 and 6).
constexpr std::string_view kNoKeyHere = "\x15\x03\x03\x00\x02\x02\x47"sv;
constexpr std::string_view kGreeting =
    "netbench agent: this port speaks the netbench protocol only; "
    "use `netbench pair --peer` to reach it\r\n"sv;

constexpr Nanoseconds kDrainLimit = std::chrono::seconds(1);
constexpr int kReadsPerStep = 16;

bool would_block(int error) { return error == EAGAIN || error == EINTR; }

Error wants_key() {
  return Error{"agent-wants-key", "the agent accepts only clients with its key",
               "give the agent's key by --key-file, $NETBENCH_KEY or ~/.config/netbench/key; or "
               "start the agent with --insecure too",
               ExitClass::nothing_measured};
}

void make_blocking(int fd) { ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) & ~O_NONBLOCK); }

}  // namespace

HalfOpen::HalfOpen(UniqueFd fd, const Door& door, const Deadline& deadline)
    : door_(door), peer_(peer_address(fd.get())), deadline_(deadline), events_(POLLIN) {
  stream_.emplace(std::move(fd));
}

bool HalfOpen::advance() {
  Progress progress = Progress::next;
  while (progress == Progress::next) {
    progress = (this->*step_)();
  }
  return progress == Progress::wait;
}

HalfOpen::Progress HalfOpen::go_to(Step step) {
  step_ = step;
  return Progress::next;
}

HalfOpen::Progress HalfOpen::read_first_bytes() {
  char first = 0;
  const ssize_t count = ::recv(fd(), &first, 1, MSG_PEEK);
  if (count < 0 && would_block(errno)) {
    return Progress::wait;
  }
  if (count <= 0) {
    return Progress::over;  // a connection only made to be made
  }
  return first == kTlsHandshake ? start_tls() : go_to(&HalfOpen::read_magic);
}

HalfOpen::Progress HalfOpen::receive_into(char* data, std::size_t wanted, std::size_t& have) {
  const ssize_t count = ::recv(fd(), data + have, wanted - have, 0);
  if (count < 0 && would_block(errno)) {
    return Progress::wait;
  }
  if (count <= 0) {
    return Progress::over;
  }
  have += static_cast<std::size_t>(count);
  return Progress::next;
}

HalfOpen::Progress HalfOpen::read_magic() {
  const Progress progress = receive_into(magic_.data(), magic_.size(), magic_size_);
  return progress == Progress::next ? decide() : progress;
}

HalfOpen::Progress HalfOpen::decide() {
  const std::string_view seen(magic_.data(), magic_size_);
  if (seen == kPlainMagic) {
    return start_plain();
  }
  if (seen == kDataMagic) {
    return go_to(&HalfOpen::read_token);
  }
  if (kPlainMagic.starts_with(seen) || kDataMagic.starts_with(seen)) {
    return Progress::wait;
  }
  log(LogLevel::debug,
      fmt::format("{} is no netbench client, it sent \"{}\"", peer_.text(), printable(seen)));
  return dismiss(kGreeting);
}

HalfOpen::Progress HalfOpen::start_tls() {
  if (door_.tls == nullptr) {
    return dismiss(kNoKeyHere);
  }
  UniqueSsl ssl = door_.tls->make_ssl();
  if (ssl == nullptr) {
    return Progress::over;
  }
  Stream plain = std::move(*stream_);
  stream_.emplace(plain.release(), std::move(ssl));
  return go_to(&HalfOpen::shake_hands);
}

HalfOpen::Progress HalfOpen::start_plain() {
  const IoResult put = stream_->write(kPlainMagic.data(), kPlainMagic.size());
  if (put.bytes != kPlainMagic.size()) {
    return Progress::over;
  }
  return door_.allow_insecure ? go_to(&HalfOpen::read_hello) : refuse(wants_key());
}

HalfOpen::Progress HalfOpen::shake_hands() {
  const IoState state = stream_->handshake();
  if (state == IoState::done) {
    events_ = POLLIN;
    return go_to(&HalfOpen::read_hello);
  }
  if (state == IoState::want_read || state == IoState::want_write) {
    events_ = state == IoState::want_read ? POLLIN : POLLOUT;
    return Progress::wait;
  }
  log(LogLevel::info, fmt::format("{} was refused: {}", peer_.text(), stream_->failure()));
  return dismiss({});  // OpenSSL has sent the alert
}

HalfOpen::Progress HalfOpen::read_hello() {
  std::array<char, 4096> bytes;
  const IoResult got = stream_->read(bytes.data(), bytes.size());
  if (got.state == IoState::want_read || got.state == IoState::want_write) {
    return Progress::wait;
  }
  if (got.state != IoState::done) {
    return Progress::over;
  }
  decoder_.feed({bytes.data(), got.bytes});
  auto message = decoder_.next();
  if (!message) {
    log(LogLevel::info, fmt::format("{} was refused: {}", peer_.text(), message.error().message));
    return refuse(message.error());
  }
  return *message ? admit(std::move(**message)) : Progress::next;
}

HalfOpen::Progress HalfOpen::admit(Message hello) {
  Arrival arrival{std::move(*stream_), std::move(decoder_), std::move(hello), peer_};
  const auto refusal = door_.admit(arrival);
  if (!refusal) {
    return Progress::over;
  }
  stream_.emplace(std::move(arrival.stream));
  return refuse(*refusal);
}

HalfOpen::Progress HalfOpen::read_token() {
  const Progress progress =
      receive_into(reinterpret_cast<char*>(token_.data()), token_.size(), token_size_);
  if (progress != Progress::next || token_size_ < token_.size()) {
    return progress;
  }
  UniqueFd connection = stream_->release();
  make_blocking(connection.get());
  if (!door_.tokens->deliver(token_, std::move(connection))) {
    log(LogLevel::debug, fmt::format("{} showed a token that is not valid", peer_.text()));
  }
  return Progress::over;
}

HalfOpen::Progress HalfOpen::refuse(const Error& error) {
  return dismiss(encode_frame(encode_refused(error)).value_or(std::string()));
}

// What is said last is small and the socket's buffer empty: it is written at once or never.
HalfOpen::Progress HalfOpen::dismiss(std::string_view last_words) {
  if (!last_words.empty()) {
    [[maybe_unused]] const IoResult put = stream_->write(last_words.data(), last_words.size());
  }
  stream_->shutdown_write();
  events_ = POLLIN;
  deadline_ = Deadline::after(kDrainLimit);
  return go_to(&HalfOpen::drain);
}

// To close with bytes unread would send a reset, which takes the last words away from the peer.
HalfOpen::Progress HalfOpen::drain() {
  std::array<char, 4096> bytes;
  for (int i = 0; i < kReadsPerStep; ++i) {
    const ssize_t count = ::recv(fd(), bytes.data(), bytes.size(), 0);
    if (count < 0 && would_block(errno)) {
      return Progress::wait;
    }
    if (count <= 0) {
      return Progress::over;
    }
  }
  return Progress::wait;
}

}  // namespace netbench::session
