#include "bench/session/stream.hpp"

#include <fmt/format.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace netbench::session {

namespace {
constexpr std::size_t kFirstBytes = 64;
}  // namespace

struct Stream::Socket {
  int fd = -1;
  int sys_errno = 0;
  bool end = false;  // the peer sent its FIN
  std::string first_bytes{};

  // Non-blocking; -1 with sys_errno set, EAGAIN among the values.
  ssize_t receive(char* data, std::size_t capacity) {
    const ssize_t count = note(::recv(fd, data, capacity, 0));
    if (count > 0 && first_bytes.size() < kFirstBytes) {
      first_bytes.append(
          data, std::min(static_cast<std::size_t>(count), kFirstBytes - first_bytes.size()));
    }
    return count;
  }
  ssize_t send(const char* data, std::size_t size) {
    return note(::send(fd, data, size, MSG_NOSIGNAL));
  }
  [[nodiscard]] bool would_block() const { return sys_errno == EAGAIN || sys_errno == EINTR; }

 private:
  ssize_t note(ssize_t count) {
    sys_errno = count < 0 ? errno : 0;
    return count;
  }
};

namespace {

// A BIO over Stream::Socket in place of OpenSSL's own, which would raise SIGPIPE.
template <class Socket>
struct SocketBio {
  static Socket& of(BIO* bio) { return *static_cast<Socket*>(BIO_get_data(bio)); }

  static int write(BIO* bio, const char* data, int size) {
    BIO_clear_retry_flags(bio);
    Socket& socket = of(bio);
    const auto count = socket.send(data, static_cast<std::size_t>(size));
    if (count < 0 && socket.would_block()) {
      BIO_set_retry_write(bio);
    }
    return static_cast<int>(count);
  }

  static int read(BIO* bio, char* data, int capacity) {
    BIO_clear_retry_flags(bio);
    Socket& socket = of(bio);
    const auto count = socket.receive(data, static_cast<std::size_t>(capacity));
    if (count < 0 && socket.would_block()) {
      BIO_set_retry_read(bio);
    }
    socket.end = socket.end || count == 0;
    return static_cast<int>(count);
  }

  static long control(BIO* bio, int command, long /*number*/, void* /*pointer*/) {
    switch (command) {
      case BIO_CTRL_FLUSH:
        return 1;
      case BIO_CTRL_EOF:
        return of(bio).end ? 1 : 0;
      default:
        return 0;
    }
  }

  static int create(BIO* bio) {
    BIO_set_init(bio, 1);
    return 1;
  }

  static BIO* make(Socket& socket) {
    static const BIO_METHOD* const method = [] {
      BIO_METHOD* made =
          BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "netbench socket");
      BIO_meth_set_write(made, write);
      BIO_meth_set_read(made, read);
      BIO_meth_set_ctrl(made, control);
      BIO_meth_set_create(made, create);
      return made;
    }();
    BIO* bio = BIO_new(method);
    BIO_set_data(bio, &socket);
    return bio;
  }
};

// A reset is an end like any other: a peer killed with data unread resets.
bool peer_closed(int sys_errno) { return sys_errno == ECONNRESET || sys_errno == EPIPE; }

}  // namespace

Stream::Stream(UniqueFd fd) : fd_(std::move(fd)), socket_(std::make_unique<Socket>()) {
  socket_->fd = fd_.get();
}

Stream::Stream(UniqueFd fd, UniqueSsl ssl) : Stream(std::move(fd)) {
  ssl_ = std::move(ssl);
  BIO* bio = SocketBio<Socket>::make(*socket_);
  SSL_set_bio(ssl_.get(), bio, bio);
}

Stream::Stream(Stream&&) noexcept = default;
Stream::~Stream() = default;

const std::string& Stream::first_bytes() const { return socket_->first_bytes; }

int Stream::sys_errno() const { return socket_->sys_errno; }

IoState Stream::handshake() {
  if (ssl_ == nullptr) {
    return IoState::done;
  }
  ERR_clear_error();
  const int ret = SSL_do_handshake(ssl_.get());
  if (ret != 1) {
    return tls_state(ret);
  }
  if (!used_key(ssl_.get())) {
    failure_ = "the TLS handshake was not authenticated by the key";
    return IoState::failed;
  }
  return IoState::done;
}

IoResult Stream::read(char* data, std::size_t capacity) {
  if (ssl_ == nullptr) {
    const ssize_t count = socket_->receive(data, capacity);
    if (count == 0) {
      return {IoState::closed};
    }
    return count > 0 ? IoResult{IoState::done, static_cast<std::size_t>(count)}
                     : IoResult{socket_->would_block() ? IoState::want_read : socket_state()};
  }
  ERR_clear_error();
  std::size_t count = 0;
  const int ret = SSL_read_ex(ssl_.get(), data, capacity, &count);
  return ret == 1 ? IoResult{IoState::done, count} : IoResult{tls_state(ret)};
}

IoResult Stream::write(const char* data, std::size_t size) {
  if (ssl_ == nullptr) {
    const ssize_t count = socket_->send(data, size);
    return count >= 0 ? IoResult{IoState::done, static_cast<std::size_t>(count)}
                      : IoResult{socket_->would_block() ? IoState::want_write : socket_state()};
  }
  ERR_clear_error();
  std::size_t count = 0;
  const int ret = SSL_write_ex(ssl_.get(), data, size, &count);
  return ret == 1 ? IoResult{IoState::done, count} : IoResult{tls_state(ret)};
}

void Stream::shutdown_write() {
  if (ssl_ != nullptr && SSL_is_init_finished(ssl_.get()) == 1) {
    ERR_clear_error();
    SSL_shutdown(ssl_.get());
  }
  ::shutdown(fd_.get(), SHUT_WR);
}

IoState Stream::socket_state() {
  failure_ = std::strerror(socket_->sys_errno);
  return peer_closed(socket_->sys_errno) ? IoState::closed : IoState::failed;
}

IoState Stream::tls_state(int ret) {
  switch (SSL_get_error(ssl_.get(), ret)) {
    case SSL_ERROR_WANT_READ:
      return IoState::want_read;
    case SSL_ERROR_WANT_WRITE:
      return IoState::want_write;
    case SSL_ERROR_ZERO_RETURN:
      return IoState::closed;
    case SSL_ERROR_SYSCALL:
      return socket_->end ? IoState::closed : socket_state();
    default:
      break;
  }
  const unsigned long code = ERR_peek_error();
  const int reason = ERR_GET_REASON(code);
  if (reason == SSL_R_UNEXPECTED_EOF_WHILE_READING) {
    return IoState::closed;
  }
  if (reason > SSL_AD_REASON_OFFSET && reason <= SSL_AD_REASON_OFFSET + 255) {
    alert_ = reason - SSL_AD_REASON_OFFSET;
  }
  const char* text = ERR_reason_error_string(code);
  failure_ = fmt::format("TLS: {}", text != nullptr ? text : "unknown failure");
  return IoState::failed;
}

}  // namespace netbench::session
