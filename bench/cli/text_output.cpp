#include "bench/cli/text_output.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

namespace netbench::cli {

namespace {
constexpr int kDefaultWidth = 120;
}  // namespace

int terminal_width(int fd) {
  winsize size{};
  return ::ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : kDefaultWidth;
}

bool wants_color(bool no_color) {
  const char* variable = std::getenv("NO_COLOR");
  return !no_color && (variable == nullptr || *variable == '\0') && ::isatty(STDOUT_FILENO) == 1;
}

Status print_all(const std::string& text) {
  const bool written =
      std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
  return written ? Status{}
                 : Status(fail_errno("output-failed", "standard output cannot be written", errno));
}

Status check_text_target(const std::string& target) {
  if (target.empty() || target == "-") {
    return {};
  }
  if (::access(target.c_str(), F_OK) == 0) {
    return fail("output-exists", fmt::format("{} exists already", target),
                "Name another file; results are never overwritten.", ExitClass::usage);
  }
  const std::string folder = std::filesystem::path(target).parent_path().string();
  if (::access(folder.empty() ? "." : folder.c_str(), W_OK | X_OK) != 0) {
    auto failure = fail_errno("output-unwritable", fmt::format("creating {}", target), errno,
                              ExitClass::usage);
    failure.value().remedy = "Choose a folder that exists and that you may write to.";
    return failure;
  }
  return {};
}

Status write_text(const std::string& target, const std::string& text) {
  if (target == "-") {
    return print_all(text);
  }
  std::FILE* file = std::fopen(target.c_str(), "wx");
  if (file == nullptr) {
    return fail_errno("output-unwritable", target, errno);
  }
  const bool written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  const bool closed = std::fclose(file) == 0;
  return written && closed ? Status{} : Status(fail_errno("output-failed", target, errno));
}

}  // namespace netbench::cli
