#pragma once

#include <array>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>

#include "bench/core/clock.hpp"
#include "bench/core/result.hpp"
#include "bench/core/unique_fd.hpp"

namespace netbench::session {

inline constexpr std::size_t kTokenBytes = 16;
using Token = std::array<std::uint8_t, kTokenBytes>;

/// Pairs data connections with the tokens that were issued for them. A token works once.
/// All members: [any-thread].
class TokenDesk {
 public:
  static constexpr std::size_t kMaxTokens = 65536;

  /// Errors: `no-randomness`, `too-many-tokens`.
  [[nodiscard]] Result<Token> issue();
  /// Leaves a connection that showed `token`; false, and the connection closed, where the token is
  /// not known or was used before.
  bool deliver(const Token& token, UniqueFd connection);
  /// Errors: `data-timeout`, `unknown-token` (never issued, taken already, or cleared).
  [[nodiscard]] Result<UniqueFd> take(const Token& token, const Deadline& deadline);
  void clear();

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<Token, UniqueFd> connections_;  // an invalid descriptor: not yet connected
};

}  // namespace netbench::session
