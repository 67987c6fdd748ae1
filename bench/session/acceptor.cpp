#include "bench/session/acceptor.hpp"

#include <algorithm>
#include <cerrno>
#include <exception>
#include <string>
#include <utility>

#include "bench/core/log.hpp"

namespace netbench::session {

namespace {

constexpr int kAcceptsPerTurn = 64;
constexpr std::int64_t kPauseNs = 100'000'000;  // after descriptors or memory ran out
constexpr std::size_t kListenerAt = 0;
constexpr std::size_t kWakeAt = 1;
constexpr std::size_t kFirstHalfOpenAt = 2;

// A client for whom there is no memory or thread is dropped, and the agent goes on.
bool advance(HalfOpen& one) {
  try {
    return one.advance();
  } catch (const std::exception& exception) {
    log(LogLevel::warning, std::string("a connection was dropped: ") + exception.what());
    return false;
  }
}

bool out_of_resources(int error) {
  return error == EMFILE || error == ENFILE || error == ENOBUFS || error == ENOMEM;
}

}  // namespace

Result<std::unique_ptr<Acceptor>> Acceptor::start(const AcceptorOptions& options,
                                                  AdmitClient admit) {
  std::unique_ptr<TlsContext> tls;
  if (options.key) {
    auto made = TlsContext::for_agent(*options.key, options.identity);
    if (!made) {
      return tl::unexpected(made.error());
    }
    tls = std::move(*made);
  }
  auto listener = Listener::open(options.address, options.port);
  if (!listener) {
    return tl::unexpected(listener.error());
  }
  std::unique_ptr<Acceptor> acceptor(
      new Acceptor(options, std::move(tls), std::move(*listener), std::move(admit)));
  if (acceptor->wake_.fd() < 0) {
    return fail("listen-failed", "cannot start the agent: out of file descriptors",
                "raise `ulimit -n`");
  }
  Acceptor* self = acceptor.get();
  self->thread_ = start_thread("nb-accept", [self] { self->loop(); });
  return acceptor;
}

Acceptor::Acceptor(const AcceptorOptions& options, std::unique_ptr<TlsContext> tls,
                   Listener listener, AdmitClient admit)
    : options_(options),
      tls_(std::move(tls)),
      listener_(std::move(listener)),
      door_{tls_.get(), options.allow_insecure, &tokens_, std::move(admit)} {}

Acceptor::~Acceptor() {
  if (thread_.joinable()) {
    stopping_ = true;
    wake_.notify();
    thread_.join();
  }
}

void Acceptor::loop() {
  while (!stopping_) {
    wait_for_events();
    advance_ready();
    drop_overdue();
    if (accepting() && polled_[kListenerAt].revents != 0) {
      accept_some();
    }
  }
}

bool Acceptor::accepting() const { return monotonic_ns() >= accept_again_ns_; }

void Acceptor::wait_for_events() {
  polled_.assign({{accepting() ? listener_.fd() : -1, POLLIN, 0}, {wake_.fd(), POLLIN, 0}});
  for (const auto& one : half_open_) {
    polled_.push_back({one->fd(), one->events(), 0});
  }
  ::poll(polled_.data(), polled_.size(), poll_timeout_ms());
  if (polled_[kWakeAt].revents != 0) {
    wake_.drain();
  }
}

int Acceptor::poll_timeout_ms() const {
  int timeout = accepting() ? -1 : static_cast<int>(kPauseNs / 1'000'000);
  for (const auto& one : half_open_) {
    const int left = one->deadline().poll_timeout_ms();
    timeout = timeout < 0 ? left : std::min(timeout, left);
  }
  return timeout;
}

void Acceptor::advance_ready() {
  for (std::size_t i = 0; i < half_open_.size(); ++i) {
    if (polled_[kFirstHalfOpenAt + i].revents != 0 && !advance(*half_open_[i])) {
      half_open_[i].reset();
    }
  }
  std::erase(half_open_, nullptr);
}

void Acceptor::drop_overdue() {
  std::erase_if(half_open_, [](const auto& one) { return one->deadline().passed(); });
}

void Acceptor::accept_some() {
  for (int i = 0; i < kAcceptsPerTurn; ++i) {
    UniqueFd fd(::accept4(listener_.fd(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (fd.valid()) {
      add(std::move(fd));
      continue;
    }
    if (errno == EAGAIN || errno == EINVAL) {
      return;
    }
    if (out_of_resources(errno)) {
      log(LogLevel::warning, "the agent is out of file descriptors or memory; see `ulimit -n`");
      accept_again_ns_ = monotonic_ns() + kPauseNs;
      half_open_.clear();
      return;
    }
  }
}

// The first bytes are often there already.
void Acceptor::add(UniqueFd fd) {
  auto one =
      std::make_unique<HalfOpen>(std::move(fd), door_, Deadline::after(options_.half_open_limit));
  if (!advance(*one)) {
    return;
  }
  if (half_open_.size() >= options_.max_half_open) {
    half_open_.erase(half_open_.begin());
  }
  half_open_.push_back(std::move(one));
}

}  // namespace netbench::session
