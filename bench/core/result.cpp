#include "bench/core/result.hpp"

#include <fmt/format.h>

#include <cstring>

namespace netbench {

tl::unexpected<Error> fail_errno(std::string slug, std::string message, int sys_errno,
                                 ExitClass exit_class) {
  return fail(std::move(slug), fmt::format("{}: {}", message, std::strerror(sys_errno)), {},
              exit_class);
}

Error with_context(Error error, std::string_view where) {
  error.message = fmt::format("{}: {}", where, error.message);
  return error;
}

std::string to_text(const Error& error) {
  if (error.remedy.empty()) {
    return fmt::format("error[{}]: {}", error.slug, error.message);
  }
  return fmt::format("error[{}]: {}\n  {}", error.slug, error.message, error.remedy);
}

}  // namespace netbench
