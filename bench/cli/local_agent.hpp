#pragma once

#include <sys/types.h>

#include <cstdint>

#include "bench/core/result.hpp"
#include "bench/session/key.hpp"

namespace netbench::cli {

/// An agent in a child process on the loopback interface, for `--peer self`. It ends with this
/// object, or with this process.
class LocalAgent {
 public:
  /// Starts it and waits (5 s) until it listens; `key` is its key. Errors: `local-agent`.
  [[nodiscard]] static Result<LocalAgent> start(const session::Key& key);
  LocalAgent(LocalAgent&& other) noexcept;
  LocalAgent& operator=(LocalAgent&&) = delete;
  ~LocalAgent();

  [[nodiscard]] std::uint16_t port() const { return port_; }

 private:
  LocalAgent(pid_t pid, std::uint16_t port) : pid_(pid), port_(port) {}

  pid_t pid_;
  std::uint16_t port_;
};

}  // namespace netbench::cli
