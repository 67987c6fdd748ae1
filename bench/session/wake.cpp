#include "bench/session/wake.hpp"

#include <pthread.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdint>

namespace netbench::session {

WakeFd::WakeFd() : fd_(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {}

void WakeFd::notify() const {
  const int saved = errno;  // a signal handler must not change it
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto written = ::write(fd_.get(), &one, sizeof(one));
  errno = saved;
}

void WakeFd::drain() const {
  std::uint64_t count = 0;
  [[maybe_unused]] const auto got = ::read(fd_.get(), &count, sizeof(count));
}

std::thread start_thread(const char* name, std::function<void()> body) {
  sigset_t all;
  sigset_t old;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &old);
  std::thread thread(std::move(body));
  pthread_sigmask(SIG_SETMASK, &old, nullptr);
  pthread_setname_np(thread.native_handle(), name);
  return thread;
}

}  // namespace netbench::session
