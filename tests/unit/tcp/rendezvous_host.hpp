#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <map>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <vector>

#include "transports/abi/nb_transport.h"

namespace netbench::tcp::test {

/// The least harness a TCP point needs: a listener on loopback, tokens, accepted connections.
class RendezvousHost {
 public:
  explicit RendezvousHost(int family = AF_INET) : listener_(make_listener(family)) {
    host_.struct_size = sizeof host_;
    host_.context = this;
    host_.log = [](const nb_host*, int, const char*) {};
    host_.extension = [](const nb_host* host, const char* id) -> const void* {
      return std::strcmp(id, NB_RENDEZVOUS_ID) == 0 ? &self(host).rendezvous_ : nullptr;
    };
    rendezvous_ = {sizeof rendezvous_, &issue, &take, &listener_of};
    acceptor_ = std::thread([this] { accept_all(); });
  }
  RendezvousHost(const RendezvousHost&) = delete;
  RendezvousHost& operator=(const RendezvousHost&) = delete;
  ~RendezvousHost() {
    done_ = true;
    ::shutdown(listener_, SHUT_RDWR);
    acceptor_.join();
    ::close(listener_);
    for (const auto& [token, fd] : arrived_) {
      ::close(fd);
    }
  }

  [[nodiscard]] const nb_host* host() const { return &host_; }
  [[nodiscard]] int listener() const { return listener_; }
  [[nodiscard]] sockaddr_storage address() const {
    sockaddr_storage address{};
    socklen_t length = sizeof address;
    ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &length);
    return address;
  }
  /// No data connection arrives any more.
  void go_deaf() { deaf_ = true; }

 private:
  using Token = std::array<std::uint8_t, NB_TOKEN_BYTES>;

  static RendezvousHost& self(const nb_host* host) {
    return *static_cast<RendezvousHost*>(host->context);
  }

  static int make_listener(int family) {
    const int fd = ::socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_storage address{};
    socklen_t length = sizeof(sockaddr_in);
    address.ss_family = static_cast<sa_family_t>(family);
    if (family == AF_INET) {
      reinterpret_cast<sockaddr_in*>(&address)->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    } else {
      reinterpret_cast<sockaddr_in6*>(&address)->sin6_addr = in6addr_loopback;
      length = sizeof(sockaddr_in6);
    }
    if (fd < 0 || ::bind(fd, reinterpret_cast<sockaddr*>(&address), length) != 0 ||
        ::listen(fd, 4096) != 0) {
      throw std::runtime_error("no listener on loopback");
    }
    return fd;
  }

  static nb_status issue(const nb_host* host, std::uint8_t token[NB_TOKEN_BYTES]) {
    const std::uint64_t number = ++self(host).issued_;
    std::memset(token, 0x5a, NB_TOKEN_BYTES);
    std::memcpy(token, &number, sizeof number);
    return NB_OK;
  }

  static nb_status take(const nb_host* host, const std::uint8_t token[NB_TOKEN_BYTES],
                        std::int64_t timeout_ns, int* fd) {
    RendezvousHost& me = self(host);
    Token wanted{};
    std::memcpy(wanted.data(), token, wanted.size());
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::nanoseconds(timeout_ns);
    while (std::chrono::steady_clock::now() < deadline) {
      {
        const std::scoped_lock lock(me.mutex_);
        if (const auto at = me.arrived_.find(wanted); at != me.arrived_.end()) {
          *fd = at->second;
          me.arrived_.erase(at);
          return NB_OK;
        }
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return NB_TIMED_OUT;
  }

  static int listener_of(const nb_host* host) { return self(host).listener_; }

  void accept_all() {
    while (!done_) {
      const int fd = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
      if (fd < 0) {
        continue;
      }
      std::array<std::uint8_t, 4 + NB_TOKEN_BYTES> hello{};
      const timeval limit{1, 0};
      ::setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
      const ssize_t got = ::recv(fd, hello.data(), hello.size(), MSG_WAITALL);
      const timeval none{0, 0};
      ::setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &none, sizeof none);
      if (deaf_ || got != static_cast<ssize_t>(hello.size()) ||
          std::memcmp(hello.data(), NB_DATA_MAGIC, 4) != 0) {
        ::close(fd);
        continue;
      }
      Token token{};
      std::memcpy(token.data(), hello.data() + 4, token.size());
      const std::scoped_lock lock(mutex_);
      arrived_[token] = fd;
    }
  }

  nb_host host_{};
  nb_rendezvous rendezvous_{};
  int listener_;
  std::atomic<bool> done_{false};
  std::atomic<bool> deaf_{false};
  std::atomic<std::uint64_t> issued_{0};
  std::mutex mutex_;
  std::map<Token, int> arrived_;
  std::thread acceptor_;
};

}  // namespace netbench::tcp::test
