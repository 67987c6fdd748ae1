#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bench/core/result.hpp"
#include "bench/core/unique_fd.hpp"

namespace netbench::facts {

/// No file of facts is larger: what is, was put there to be endless.
inline constexpr std::size_t kMostFileBytes = std::size_t{4} << 20U;

/// Opens a file below `root` to read it. Never waits: a FIFO or a device that stands in its place
/// is refused. Errors: `file-unreadable`, "<path>: <reason>". [any-thread]
[[nodiscard]] Result<UniqueFd> open_regular_file(const std::string& root, const std::string& path);

/// Reads a whole small file below `root` ("/" on a live host, a recorded tree in tests). `path` is
/// absolute inside that tree. Errors: `file-unreadable`, "<path>: <reason>", also where it is no
/// regular file or larger than kMostFileBytes. [any-thread]
[[nodiscard]] Result<std::string> read_text_file(const std::string& root, const std::string& path);

/// As read_text_file, without the white space at both ends.
[[nodiscard]] Result<std::string> read_line_file(const std::string& root, const std::string& path);

/// Names in a directory below `root`, sorted; empty if it cannot be read.
[[nodiscard]] std::vector<std::string> list_directory(const std::string& root,
                                                      const std::string& path);

[[nodiscard]] std::string_view trimmed(std::string_view text);
[[nodiscard]] std::vector<std::string_view> split_words(std::string_view text);
[[nodiscard]] std::vector<std::string_view> split_lines(std::string_view text);

/// A whole decimal number and nothing else, or nothing.
[[nodiscard]] std::optional<std::int64_t> to_integer(std::string_view text);

/// Number of CPUs or nodes in a kernel list: "0-3,8" → 5. Nothing if it is not such a list.
[[nodiscard]] std::optional<std::int64_t> count_of_list(std::string_view list);

}  // namespace netbench::facts
