#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <new>
#include <string>
#include <string_view>
#include <utility>

#include "transports/abi/nb_transport.h"

namespace netbench::sdk {

/// What a plug-in throws on its control path; the thunks of export.hpp turn it into an nb_error.
/// `slug` is stable (`tcp-connect-refused`, at most 39 bytes); `message` says what was tried, on
/// what, and what happened; `remedy` what to do next (may be empty).
class Error : public std::exception {
 public:
  Error(nb_status status, std::string slug, std::string message, std::string remedy = {},
        int sys_errno = 0)
      : status_(status),
        sys_errno_(sys_errno),
        slug_(std::move(slug)),
        message_(std::move(message)),
        remedy_(std::move(remedy)) {}

  [[nodiscard]] const char* what() const noexcept override { return message_.c_str(); }
  [[nodiscard]] nb_status status() const { return status_; }
  [[nodiscard]] int sys_errno() const { return sys_errno_; }
  [[nodiscard]] const std::string& slug() const { return slug_; }
  [[nodiscard]] const std::string& message() const { return message_; }
  [[nodiscard]] const std::string& remedy() const { return remedy_; }

 private:
  nb_status status_;
  int sys_errno_;
  std::string slug_;
  std::string message_;
  std::string remedy_;
};

/// strerror(3) as a string, from any thread.
[[nodiscard]] inline std::string errno_text(int sys_errno) {
  char buffer[128] = {};
  // The GNU variant returns a pointer, the POSIX one a number; only the former is built with glibc.
  return strerror_r(sys_errno, buffer, sizeof buffer);
}

/// A refused system call: appends ": <strerror>" to the message.
[[nodiscard]] inline Error system_error(std::string slug, const std::string& message, int sys_errno,
                                        std::string remedy = {}) {
  return {NB_FAILED, std::move(slug), message + ": " + errno_text(sys_errno), std::move(remedy),
          sys_errno};
}

/// A value that cannot be. `tunable` is the tunable's name and begins the message.
[[nodiscard]] inline Error invalid(std::string_view tunable, std::string_view reason,
                                   std::string remedy = {}) {
  std::string message(tunable);
  message.append(": ").append(reason);
  return {NB_INVALID, "invalid-value", std::move(message), std::move(remedy)};
}

/// run(), connect() or stop() ended by cancel().
[[nodiscard]] inline Error cancelled() { return {NB_CANCELLED, "cancelled", "cancelled"}; }

namespace detail {

template <std::size_t N>
void copy_text(char (&target)[N], std::string_view source) {
  const std::size_t length = std::min(source.size(), N - 1);
  std::memcpy(target, source.data(), length);
  target[length] = '\0';
}

}  // namespace detail

/// Writes `error` into the caller's struct, null or of any size, and returns its status.
inline nb_status fill(nb_error* target, const Error& error) {
  if (target != nullptr && NB_HAS(nb_error, target, remedy)) {
    target->status = error.status();
    target->sys_errno = error.sys_errno();
    detail::copy_text(target->slug, error.slug());
    detail::copy_text(target->message, error.message());
    detail::copy_text(target->remedy, error.remedy());
  }
  return error.status();
}

/// Runs `body` and turns whatever it throws into `target`; NB_OK where it throws nothing.
template <class Body>
nb_status guarded(nb_error* target, Body&& body) noexcept {
  try {
    try {
      std::forward<Body>(body)();
      return NB_OK;
    } catch (const Error& error) {
      return fill(target, error);
    } catch (const std::bad_alloc&) {
      return fill(target, {NB_FAILED, "out-of-memory", "out of memory",
                           "use fewer streams or smaller messages"});
    } catch (const std::exception& error) {
      return fill(target, {NB_FAILED, "transport-internal", error.what()});
    }
  } catch (...) {
    return NB_FAILED;
  }
}

}  // namespace netbench::sdk
