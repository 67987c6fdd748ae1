#pragma once

#include <optional>
#include <string>

#include "bench/core/clock.hpp"
#include "bench/core/result.hpp"
#include "bench/core/unique_fd.hpp"
#include "bench/session/frame.hpp"
#include "bench/session/key.hpp"
#include "bench/session/stream.hpp"

namespace netbench::session {

struct GreetOptions {
  std::optional<Key> key{};  // none = without a key
  std::string identity{};    // empty = the key's own
  Message hello{};           // sent first
  Nanoseconds answer_limit{};
  int cancel_fd = -1;
};

/// Finds out whether an agent is behind a connected non-blocking socket, and speaks with it from
/// here on: TLS handshake or magic, then this end's hello. Errors, exit class nothing_measured:
/// `not-an-agent` (with what was received in printable form), `key-unknown`, `key-wrong`,
/// `agent-insecure`, `tls-setup`; `cancelled`.
[[nodiscard]] Result<Stream> greet(UniqueFd fd, const GreetOptions& options);

}  // namespace netbench::session
