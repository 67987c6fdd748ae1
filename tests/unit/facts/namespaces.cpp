#include "tests/unit/facts/namespaces.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

namespace netbench::facts {

namespace {

UniqueFd current() { return UniqueFd(::open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC)); }

void enter(const UniqueFd& there) {
  if (::setns(there.get(), CLONE_NEWNET) != 0) {
    throw std::runtime_error(fmt::format("setns: {}", std::strerror(errno)));
  }
}

}  // namespace

std::string Namespace::why_not() {
  if (std::system("command -v ip >/dev/null") != 0) {
    return "needs ip(8) of iproute2";
  }
  const UniqueFd back = current();
  if (::unshare(CLONE_NEWNET) != 0) {
    return fmt::format("needs the right to make network namespaces: {}", std::strerror(errno));
  }
  enter(back);
  return {};
}

Namespace::Namespace() {
  const UniqueFd back = current();
  if (::unshare(CLONE_NEWNET) != 0) {
    throw std::runtime_error(fmt::format("unshare: {}", std::strerror(errno)));
  }
  handle_ = current();
  enter(back);
  run("ip link set lo up");
}

void Namespace::run(const std::string& command) const {
  const Stay stay(*this);
  EXPECT_EQ(std::system(command.c_str()), 0) << command;
}

std::string Namespace::output_of(const std::string& command) const {
  const Stay stay(*this);
  std::string text;
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(::popen(command.c_str(), "r"), &::pclose);
  std::array<char, 4096> line{};
  while (pipe != nullptr && std::fgets(line.data(), line.size(), pipe.get()) != nullptr) {
    text += line.data();
  }
  return text;
}

std::string Namespace::path() const {
  return fmt::format("/proc/{}/fd/{}", ::getpid(), handle_.get());
}

Namespace::Stay::Stay(const Namespace& there) : back_(current()) { enter(there.handle_); }
Namespace::Stay::~Stay() { ::setns(back_.get(), CLONE_NEWNET); }

}  // namespace netbench::facts
