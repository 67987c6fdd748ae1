#pragma once

#include <string>
#include <string_view>
#include <tl/expected.hpp>

namespace netbench {

/// Class of an error; its value is the process's exit code.
enum class ExitClass : int {
  passed = 0,
  error = 1,
  usage = 2,
  acceptance_failed = 3,
  nothing_measured = 4,
  partial = 5,
  interrupted = 130,
};

/// What went wrong. `slug` is stable and machine-readable (`peer-refused`); `message` says what was
/// tried, on what, what happened; `remedy` says what to do next (may be empty).
struct Error {
  std::string slug;
  std::string message;
  std::string remedy;
  ExitClass exit_class = ExitClass::error;

  friend bool operator==(const Error&, const Error&) = default;
};

template <class T>
using Result = tl::expected<T, Error>;

using Status = Result<void>;

/// Shorthand for returning an error from a function that returns Result<T>.
[[nodiscard]] inline tl::unexpected<Error> fail(std::string slug, std::string message,
                                                std::string remedy = {},
                                                ExitClass exit_class = ExitClass::error) {
  return tl::unexpected<Error>(
      Error{std::move(slug), std::move(message), std::move(remedy), exit_class});
}

/// As fail(), for a failed system call: appends ": <strerror(sys_errno)>" to the message.
[[nodiscard]] tl::unexpected<Error> fail_errno(std::string slug, std::string message, int sys_errno,
                                               ExitClass exit_class = ExitClass::error);

/// Puts "<where>: " in front of the message, when an error crosses a layer.
[[nodiscard]] Error with_context(Error error, std::string_view where);

/// "error[slug]: message" and, on a second line, the remedy.
[[nodiscard]] std::string to_text(const Error& error);

}  // namespace netbench
