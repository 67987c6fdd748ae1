#include "bench/core/log.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <atomic>

namespace netbench {

namespace {
std::atomic<LogLevel> threshold{LogLevel::warning};
}  // namespace

void set_log_level(LogLevel level) { threshold = level; }

void log(LogLevel level, std::string_view text) {
  if (level > threshold.load()) {
    return;
  }
  const std::string line = fmt::format("netbench: {}\n", text);
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, line.data(), line.size());
}

}  // namespace netbench
