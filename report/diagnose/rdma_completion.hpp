#pragma once

#include <optional>
#include <string_view>

#include "bench/core/result.hpp"

namespace netbench::report {

/// Completion statuses that rules tell apart: enum ibv_wc_status of infiniband/verbs.h.
enum class Completion : int {
  local_length = 1,
  local_operation = 2,
  local_protection = 4,
  flushed = 5,
  bad_response = 7,
  local_access = 8,
  remote_invalid = 9,
  remote_access = 10,
  remote_operation = 11,
  retry_exceeded = 12,
  receiver_not_ready = 13,
  remote_abort = 16,
  device_failed = 19,
  response_timeout = 20,
  general = 21,
};

/// The status that an error is of: by its slug ("rdma-retry-exceeded", "verbs-wc-retry-exc-err"),
/// else by the number behind "status " in its message. Nothing for other errors.
[[nodiscard]] std::optional<Completion> completion_of(const Error& error);

/// "RETRY_EXC (12)".
[[nodiscard]] std::string completion_text(Completion completion);

}  // namespace netbench::report
