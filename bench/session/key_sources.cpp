#include <fcntl.h>
#include <fmt/format.h>
#include <pwd.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>

#include "bench/core/unique_fd.hpp"
#include "bench/session/key.hpp"

namespace netbench::session {

namespace {

constexpr std::size_t kMaxKeyText = 4096;
constexpr char kInterrupt = 3;   // Ctrl-C
constexpr char kEndOfInput = 4;  // Ctrl-D

Status check_permissions(int fd, const std::string& path) {
  struct stat status {};
  if (::fstat(fd, &status) != 0) {
    return fail_errno("key-file-unreadable", fmt::format("cannot stat the key file {}", path),
                      errno);
  }
  if ((status.st_mode & 077U) != 0) {
    return fail("key-file-open",
                fmt::format("the key file {} may be accessed by others (mode {:04o})", path,
                            status.st_mode & 07777U),
                fmt::format("chmod 600 {}; make a new key if others may have read it", path));
  }
  return {};
}

Result<std::string> read_all(int fd, const std::string& path) {
  std::string text(kMaxKeyText, '\0');
  std::size_t size = 0;
  while (size < text.size()) {
    const ssize_t count = ::read(fd, text.data() + size, text.size() - size);
    if (count < 0 && errno == EINTR) {
      continue;
    }
    if (count < 0) {
      return fail_errno("key-file-unreadable", fmt::format("cannot read the key file {}", path),
                        errno);
    }
    if (count == 0) {
      break;
    }
    size += static_cast<std::size_t>(count);
  }
  text.resize(size);
  return text;
}

Result<Key> read_key_file(const std::string& path) {
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.valid()) {
    return fail_errno("key-file-unreadable", fmt::format("cannot open the key file {}", path),
                      errno);
  }
  if (const auto safe = check_permissions(fd.get(), path); !safe) {
    return tl::unexpected(safe.error());
  }
  const auto text = read_all(fd.get(), path);
  if (!text) {
    return tl::unexpected(text.error());
  }
  return Key::parse(*text);
}

Result<LoadedKey> named(Result<Key> key, const std::string& source) {
  if (!key) {
    return tl::unexpected(with_context(key.error(), source));
  }
  return LoadedKey{*key, source};
}

bool exists(const std::string& path) { return !path.empty() && ::access(path.c_str(), F_OK) == 0; }

Status make_directories(const std::filesystem::path& directory) {
  if (directory.empty() || exists(directory.string())) {
    return {};
  }
  if (const auto above = make_directories(directory.parent_path()); !above) {
    return above;
  }
  if (::mkdir(directory.c_str(), 0700) != 0 && errno != EEXIST) {
    return fail_errno("key-file-unwritable",
                      fmt::format("cannot create the directory {}", directory.string()), errno);
  }
  return {};
}

Status write_all(int fd, const std::string& path, std::string_view text) {
  if (::write(fd, text.data(), text.size()) != static_cast<ssize_t>(text.size()) ||
      ::fsync(fd) != 0) {
    const int error = errno;
    ::unlink(path.c_str());
    return fail_errno("key-file-unwritable", fmt::format("cannot write the key file {}", path),
                      error);
  }
  return {};
}

// No echo, and signal characters as bytes, so that Ctrl-C cannot leave the terminal without echo.
class QuietTerminal {
 public:
  explicit QuietTerminal(int fd) : fd_(fd), valid_(::tcgetattr(fd, &saved_) == 0) {
    termios quiet = saved_;
    quiet.c_lflag &= ~static_cast<tcflag_t>(ECHO | ICANON | ISIG);
    valid_ = valid_ && ::tcsetattr(fd_, TCSAFLUSH, &quiet) == 0;
  }
  QuietTerminal(const QuietTerminal&) = delete;
  QuietTerminal& operator=(const QuietTerminal&) = delete;
  ~QuietTerminal() {
    if (valid_) {
      ::tcsetattr(fd_, TCSAFLUSH, &saved_);
    }
  }
  [[nodiscard]] bool valid() const { return valid_; }

 private:
  int fd_;
  termios saved_{};
  bool valid_;
};

void say(int fd, std::string_view text) {
  [[maybe_unused]] const auto written = ::write(fd, text.data(), text.size());
}

Result<std::string> read_line(int fd) {
  std::string line;
  char c = 0;
  while (line.size() < kMaxKeyText && ::read(fd, &c, 1) == 1) {
    if (c == '\n' || c == '\r') {
      return line;
    }
    if (c == kInterrupt || c == kEndOfInput) {
      break;
    }
    if ((c == '\b' || c == 127) && !line.empty()) {
      line.pop_back();
    } else {
      line.push_back(c);
    }
  }
  return fail("cancelled", "no key was entered", {}, ExitClass::interrupted);
}

tl::unexpected<Error> key_missing(const std::string& default_file) {
  return fail("key-missing",
              fmt::format("no key: neither --key-file, nor $NETBENCH_KEY, nor {} gives one",
                          default_file.empty() ? "~/.config/netbench/key" : default_file),
              "put the agent's key into one of the three (`netbench keygen` makes one); or say "
              "--insecure on both ends");
}

}  // namespace

std::string default_key_file() {
  const char* home = std::getenv("HOME");
  if (home == nullptr || *home == '\0') {
    const passwd* user = ::getpwuid(::getuid());
    home = user != nullptr ? user->pw_dir : nullptr;
  }
  return home != nullptr ? fmt::format("{}/.config/netbench/key", home) : std::string();
}

KeySources KeySources::of_process(std::string key_file) {
  const char* environment = std::getenv("NETBENCH_KEY");
  return {std::move(key_file), environment != nullptr ? environment : "", default_key_file()};
}

Result<LoadedKey> load_key(const KeySources& sources) {
  if (!sources.key_file.empty()) {
    return named(read_key_file(sources.key_file), "--key-file " + sources.key_file);
  }
  if (!sources.environment.empty()) {
    return named(Key::parse(sources.environment), "$NETBENCH_KEY");
  }
  if (exists(sources.default_file)) {
    return named(read_key_file(sources.default_file), sources.default_file);
  }
  return key_missing(sources.default_file);
}

Status write_key_file(const std::string& path, const Key& key) {
  if (const auto made = make_directories(std::filesystem::path(path).parent_path()); !made) {
    return made;
  }
  const UniqueFd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!fd.valid() && errno == EEXIST) {
    return fail("key-file-exists", fmt::format("{} exists and is not overwritten", path),
                "use that key, or give another path, or remove the file first");
  }
  if (!fd.valid()) {
    return fail_errno("key-file-unwritable", fmt::format("cannot create the key file {}", path),
                      errno);
  }
  return write_all(fd.get(), path, key.to_base64() + "\n");
}

Result<Key> ask_key(int input_fd, int output_fd) {
  if (::isatty(input_fd) == 0 || ::isatty(output_fd) == 0) {
    return key_missing(default_key_file());
  }
  Result<std::string> line;
  {
    const QuietTerminal quiet(input_fd);
    if (!quiet.valid()) {
      return fail_errno("key-missing", "cannot switch the terminal's echo off", errno);
    }
    say(output_fd, "Key of the agent (not shown): ");
    line = read_line(input_fd);
    say(output_fd, "\n");
  }
  if (!line) {
    return tl::unexpected(line.error());
  }
  return Key::parse(*line);
}

}  // namespace netbench::session
