#include "bench/cli/interrupt.hpp"

#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>

#include <array>
#include <utility>

namespace netbench::cli {

namespace {

sigset_t handled_signals() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGTERM);
  sigaddset(&set, SIGHUP);
  return set;
}

}  // namespace

Interrupt::Interrupt() {
  ::signal(SIGPIPE, SIG_IGN);
  const sigset_t set = handled_signals();
  ::pthread_sigmask(SIG_BLOCK, &set, nullptr);
  signals_.reset(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
  thread_ = session::start_thread("nb-signals", [this] { wait(); });
}

Interrupt::~Interrupt() {
  ended_.notify();
  thread_.join();
}

void Interrupt::on_signal(std::function<void()> action) {
  const std::lock_guard lock(mutex_);
  action_ = std::move(action);
  if (flag_ && action_) {
    action_();
  }
}

void Interrupt::wait() {
  while (true) {
    std::array<pollfd, 2> fds{{{signals_.get(), POLLIN, 0}, {ended_.fd(), POLLIN, 0}}};
    ::poll(fds.data(), fds.size(), -1);
    if ((fds[1].revents & POLLIN) != 0) {
      return;
    }
    signalfd_siginfo info{};
    if (::read(signals_.get(), &info, sizeof info) != sizeof info) {
      continue;
    }
    if (flag_.exchange(true)) {
      ::signal(static_cast<int>(info.ssi_signo), SIG_DFL);
      sigset_t set = handled_signals();
      ::pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
      ::raise(static_cast<int>(info.ssi_signo));
    }
    raised_.notify();
    const std::lock_guard lock(mutex_);
    if (action_) {
      action_();
    }
  }
}

}  // namespace netbench::cli
