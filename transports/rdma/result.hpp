#pragma once

#include <string>
#include <tl/expected.hpp>
#include <type_traits>
#include <utility>

#include "transports/abi/nb_transport.h"
#include "transports/sdk/error.hpp"

/// Failures of this library are values, with the slug, remedy and errno of sdk::Error; a plug-in
/// turns them into its own exception with take().
namespace netbench::rdma {

template <class T>
using Result = tl::expected<T, sdk::Error>;
using Failure = tl::unexpected<sdk::Error>;

[[nodiscard]] inline Failure fail(nb_status status, std::string slug, std::string message,
                                  std::string remedy = {}, int sys_errno = 0) {
  return Failure(
      sdk::Error(status, std::move(slug), std::move(message), std::move(remedy), sys_errno));
}

/// NB_FAILED; appends ": <strerror>" to the message.
[[nodiscard]] inline Failure fail_errno(std::string slug, const std::string& message, int sys_errno,
                                        std::string remedy = {}) {
  return Failure(sdk::system_error(std::move(slug), message, sys_errno, std::move(remedy)));
}

/// The value; throws the error where there is none.
template <class T>
T take(Result<T>&& result) {
  if (!result) {
    throw std::move(result.error());
  }
  if constexpr (!std::is_void_v<T>) {
    return std::move(*result);
  }
}

}  // namespace netbench::rdma
