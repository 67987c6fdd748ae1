#include "bench/facts/text_files.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <memory>

namespace netbench::facts {

namespace {

constexpr std::string_view kSpace = " \t\r\n\v\f";

std::string below(const std::string& root, const std::string& path) {
  return root == "/" ? path : root + path;
}

std::vector<std::string_view> split(std::string_view text, std::string_view separators) {
  std::vector<std::string_view> parts;
  while (true) {
    const auto start = text.find_first_not_of(separators);
    if (start == std::string_view::npos) {
      return parts;
    }
    text.remove_prefix(start);
    const auto end = std::min(text.find_first_of(separators), text.size());
    parts.push_back(text.substr(0, end));
    text.remove_prefix(end);
  }
}

}  // namespace

Result<UniqueFd> open_regular_file(const std::string& root, const std::string& path) {
  UniqueFd file(::open(below(root, path).c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  struct stat state {};
  if (!file.valid() || ::fstat(file.get(), &state) != 0) {
    return fail_errno("file-unreadable", path, errno);
  }
  if (!S_ISREG(state.st_mode)) {
    return fail("file-unreadable", path + ": not a regular file");
  }
  return file;
}

Result<std::string> read_text_file(const std::string& root, const std::string& path) {
  const auto file = open_regular_file(root, path);
  if (!file) {
    return tl::unexpected(file.error());
  }
  std::string text;
  std::array<char, 16384> block{};
  while (text.size() <= kMostFileBytes) {
    const ssize_t got = ::read(file->get(), block.data(), block.size());
    if (got == 0) {
      return text;
    }
    if (got < 0) {
      return fail_errno("file-unreadable", path, errno);
    }
    text.append(block.data(), static_cast<std::size_t>(got));
  }
  return fail("file-unreadable", path + ": larger than 4 MiB");
}

Result<std::string> read_line_file(const std::string& root, const std::string& path) {
  return read_text_file(root, path).map([](const std::string& text) {
    return std::string(trimmed(text));
  });
}

std::vector<std::string> list_directory(const std::string& root, const std::string& path) {
  const std::unique_ptr<DIR, int (*)(DIR*)> directory(::opendir(below(root, path).c_str()),
                                                      &::closedir);
  std::vector<std::string> names;
  if (directory == nullptr) {
    return names;
  }
  while (const dirent* entry = ::readdir(directory.get())) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") {
      names.emplace_back(name);
    }
  }
  std::ranges::sort(names);
  return names;
}

std::string_view trimmed(std::string_view text) {
  const auto start = text.find_first_not_of(kSpace);
  if (start == std::string_view::npos) {
    return {};
  }
  return text.substr(start, text.find_last_not_of(kSpace) - start + 1);
}

std::vector<std::string_view> split_words(std::string_view text) { return split(text, kSpace); }

std::vector<std::string_view> split_lines(std::string_view text) { return split(text, "\n"); }

std::optional<std::int64_t> to_integer(std::string_view text) {
  std::int64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || stop != end) {
    return std::nullopt;
  }
  return value;
}

std::optional<std::int64_t> count_of_list(std::string_view list) {
  std::int64_t count = 0;
  for (const auto range : split(list, ",\n")) {
    const auto dash = range.find('-');
    const auto first = to_integer(range.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : to_integer(range.substr(dash + 1));
    if (!first || !last || *last < *first) {
      return std::nullopt;
    }
    count += *last - *first + 1;
  }
  return count;
}

}  // namespace netbench::facts
