#include "bench/cli/local_agent.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "bench/core/unique_fd.hpp"

extern char** environ;

namespace netbench::cli {

namespace {

constexpr int kStartLimitMs = 5000;
constexpr int kEndLimitMs = 3000;
constexpr int kAnnounceFd = 3;  // of the child

/// This process's environment with the agent's key in it.
std::vector<std::string> environment_with(const session::Key& key) {
  std::vector<std::string> entries;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    if (!std::string_view(*entry).starts_with("NETBENCH_KEY=")) {
      entries.emplace_back(*entry);
    }
  }
  entries.push_back("NETBENCH_KEY=" + key.to_base64());
  return entries;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (std::string& text : texts) {
    result.push_back(text.data());
  }
  result.push_back(nullptr);
  return result;
}

Result<pid_t> spawn(const session::Key& key, int announce_fd) {
  std::vector<std::string> words{"netbench", "agent", "--bind",        "127.0.0.1",
                                 "--port",   "0",     "--announce-fd", std::to_string(kAnnounceFd),
                                 "--quiet"};
  std::vector<std::string> environment = environment_with(key);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, announce_fd, kAnnounceFd);
  ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
  posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  ::posix_spawnattr_setpgroup(&attributes, 0);  // Ctrl-C is for the client alone
  sigset_t none;
  sigemptyset(&none);
  ::posix_spawnattr_setsigmask(&attributes, &none);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
  pid_t pid = -1;
  const int failure = ::posix_spawn(&pid, "/proc/self/exe", &actions, &attributes,
                                    pointers(words).data(), pointers(environment).data());
  ::posix_spawnattr_destroy(&attributes);
  ::posix_spawn_file_actions_destroy(&actions);
  if (failure != 0) {
    return fail_errno("local-agent", "the agent of --peer self cannot be started", failure);
  }
  return pid;
}

/// The port the child announces, or 0 where it ended or took too long.
std::uint16_t read_port(int fd) {
  std::string line;
  while (line.find('\n') == std::string::npos) {
    pollfd poll{fd, POLLIN, 0};
    std::array<char, 16> buffer{};
    if (::poll(&poll, 1, kStartLimitMs) != 1) {
      return 0;
    }
    const auto count = ::read(fd, buffer.data(), buffer.size());
    if (count <= 0) {
      return 0;
    }
    line.append(buffer.data(), static_cast<std::size_t>(count));
  }
  return static_cast<std::uint16_t>(std::strtoul(line.c_str(), nullptr, 10));
}

}  // namespace

Result<LocalAgent> LocalAgent::start(const session::Key& key) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    return fail_errno("local-agent", "a pipe for the agent of --peer self", errno);
  }
  const UniqueFd read_end(ends[0]);
  UniqueFd write_end(ends[1]);
  const auto pid = spawn(key, write_end.get());
  if (!pid) {
    return tl::unexpected(pid.error());
  }
  write_end.reset();
  LocalAgent agent(*pid, read_port(read_end.get()));
  if (agent.port_ == 0) {
    return fail("local-agent", "the agent of --peer self did not start",
                "Start one by hand (netbench agent) to see why.");
  }
  return agent;
}

LocalAgent::LocalAgent(LocalAgent&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)), port_(other.port_) {}

LocalAgent::~LocalAgent() {
  if (pid_ > 0) {
    ::kill(pid_, SIGTERM);
    for (int waited_ms = 0; waited_ms < kEndLimitMs; waited_ms += 5) {
      if (::waitpid(pid_, nullptr, WNOHANG) != 0) {
        return;
      }
      ::usleep(5000);
    }
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
}

}  // namespace netbench::cli
