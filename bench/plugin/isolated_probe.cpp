#include "bench/plugin/isolated_probe.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <optional>
#include <string>
#include <string_view>

#include "bench/core/unique_fd.hpp"
#include "bench/plugin/host.hpp"

namespace netbench::plugin {

namespace {

/// The child's report as text: fields end with a zero byte. First the availability and the three
/// texts of the error, then "n" name value or "t" name text for each reading.
class Writer {
 public:
  void field(std::string_view text) {
    buffer_.append(text.substr(0, text.find('\0')));
    buffer_.push_back('\0');
  }
  [[nodiscard]] const std::string& text() const { return buffer_; }

 private:
  std::string buffer_;
};

class Reader {
 public:
  explicit Reader(std::string_view text) : rest_(text) {}
  [[nodiscard]] bool at_end() const { return rest_.empty(); }
  std::string field() {
    const std::size_t end = std::min(rest_.find('\0'), rest_.size());
    std::string text(rest_.substr(0, end));
    rest_.remove_prefix(std::min(end + 1, rest_.size()));
    return text;
  }

 private:
  std::string_view rest_;
};

constexpr std::array<std::string_view, 3> kAvailabilities{"available", "unavailable", "broken"};

std::string encode(const ProbeReport& report) {
  Writer out;
  out.field(kAvailabilities.at(static_cast<std::size_t>(report.availability)));
  out.field(report.error.slug);
  out.field(report.error.message);
  out.field(report.error.remedy);
  for (const auto& [name, value] : report.readings.numbers) {
    out.field("n");
    out.field(name);
    out.field(fmt::format("{}", value));
  }
  for (const auto& [name, text] : report.readings.texts) {
    out.field("t");
    out.field(name);
    out.field(text);
  }
  return out.text();
}

/// Nothing where the child died before it had written a whole head.
std::optional<ProbeReport> decode(std::string_view text) {
  Reader in(text);
  const std::string word = in.field();
  const auto* const found = std::ranges::find(kAvailabilities, word);
  if (found == kAvailabilities.end()) {
    return std::nullopt;
  }
  ProbeReport report;
  report.availability = static_cast<Availability>(found - kAvailabilities.begin());
  report.error.slug = in.field();
  report.error.message = in.field();
  report.error.remedy = in.field();
  while (!in.at_end()) {
    const bool is_number = in.field() == "n";
    const std::string name = in.field();
    const std::string value = in.field();
    if (!is_number) {
      report.readings.texts[name] = value;
      continue;
    }
    double number = 0;
    std::from_chars(value.data(), value.data() + value.size(), number);
    report.readings.numbers[name] = number;
  }
  return report;
}

ProbeReport probe_here(const std::filesystem::path& file) {
  const auto transport = load_file(file);
  if (!transport) {
    return {.availability = Availability::broken, .error = transport.error()};
  }
  const HostServices host;
  auto readings = transport->probe(host);
  if (!readings) {
    return {.availability = Availability::unavailable, .error = readings.error()};
  }
  return {.availability = Availability::available, .readings = std::move(*readings)};
}

/// The child must end by the signal of its crash, silently and without a core file.
void prepare_child() {
  for (const int signal : {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL, SIGTRAP, SIGPIPE}) {
    ::signal(signal, SIG_DFL);
  }
  const rlimit none{0, 0};
  setrlimit(RLIMIT_CORE, &none);
  const UniqueFd null(open("/dev/null", O_RDWR | O_CLOEXEC));
  dup2(null.get(), STDIN_FILENO);
  dup2(null.get(), STDOUT_FILENO);
}

[[noreturn]] void run_child(const std::filesystem::path& file, int pipe_fd) {
  prepare_child();
  const std::string text = encode(probe_here(file));
  std::string_view rest = text;
  while (!rest.empty()) {
    const ssize_t written = write(pipe_fd, rest.data(), rest.size());
    if (written < 0 && errno != EINTR) {
      _exit(1);
    }
    rest.remove_prefix(written < 0 ? 0 : static_cast<std::size_t>(written));
  }
  _exit(0);
}

/// All the child writes until it closes its end; false when the deadline passes first.
bool read_all(int fd, const Deadline& deadline, std::string& text) {
  std::array<char, 4096> chunk{};
  while (true) {
    pollfd waiting{fd, POLLIN, 0};
    const int ready = poll(&waiting, 1, deadline.poll_timeout_ms());
    if (ready == 0) {
      return false;
    }
    const ssize_t count = ready < 0 ? -1 : read(fd, chunk.data(), chunk.size());
    if (count == 0 || (count < 0 && errno != EINTR)) {
      return count == 0;
    }
    text.append(chunk.data(), count < 0 ? 0 : static_cast<std::size_t>(count));
  }
}

int wait_for(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

ProbeReport broken(const std::filesystem::path& file, const char* slug, std::string_view what) {
  return {.availability = Availability::broken,
          .error = {.slug = slug,
                    .message = fmt::format("{} {}", file.string(), what),
                    .remedy = "This transport is left out; the others are not affected."}};
}

ProbeReport judge(const std::filesystem::path& file, int status, const std::string& text) {
  if (WIFSIGNALED(status)) {
    return broken(file, "plugin-crashed",
                  fmt::format("crashed in its probe (signal {})", WTERMSIG(status)));
  }
  const auto report = decode(text);
  if (!report || WEXITSTATUS(status) != 0) {
    return broken(file, "plugin-crashed",
                  fmt::format("ended in its probe (exit status {})", WEXITSTATUS(status)));
  }
  return *report;
}

}  // namespace

ProbeReport probe_isolated(const std::filesystem::path& file, Nanoseconds limit) {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) {
    return broken(file, "plugin-unprobed", "cannot be probed: no pipe");
  }
  const UniqueFd reading(ends[0]);
  UniqueFd writing(ends[1]);
  const Deadline deadline = Deadline::after(limit);
  const pid_t child = fork();
  if (child == 0) {
    run_child(file, writing.get());
  }
  writing.reset();
  if (child < 0) {
    return broken(file, "plugin-unprobed", "cannot be probed: no process");
  }
  std::string text;
  if (!read_all(reading.get(), deadline, text)) {
    kill(child, SIGKILL);
    wait_for(child);
    return broken(
        file, "plugin-hung",
        fmt::format("did not return from its probe within {} ms",
                    std::chrono::duration_cast<std::chrono::milliseconds>(limit).count()));
  }
  return judge(file, wait_for(child), text);
}

}  // namespace netbench::plugin
