#include "bench/session/tokens.hpp"

#include <openssl/rand.h>

#include <utility>

namespace netbench::session {

Result<Token> TokenDesk::issue() {
  Token token{};
  if (RAND_bytes(token.data(), static_cast<int>(token.size())) != 1) {
    return fail("no-randomness", "the system gave no random bytes for a token");
  }
  const std::lock_guard lock(mutex_);
  if (connections_.size() >= kMaxTokens) {
    return fail("too-many-tokens", "too many data connections are waited for at once");
  }
  connections_.emplace(token, UniqueFd());
  return token;
}

bool TokenDesk::deliver(const Token& token, UniqueFd connection) {
  const std::lock_guard lock(mutex_);
  const auto found = connections_.find(token);
  if (found == connections_.end() || found->second.valid()) {
    return false;
  }
  found->second = std::move(connection);
  changed_.notify_all();
  return true;
}

Result<UniqueFd> TokenDesk::take(const Token& token, const Deadline& deadline) {
  std::unique_lock lock(mutex_);
  auto found = connections_.end();
  const bool decided = changed_.wait_for(lock, deadline.left(), [&] {
    found = connections_.find(token);
    return found == connections_.end() || found->second.valid();
  });
  if (!decided) {
    return fail("data-timeout", "the other end opened no data connection in time",
                "see whether a firewall lets only some connections to the agent's port pass");
  }
  if (found == connections_.end()) {
    return fail("unknown-token", "no data connection is waited for under that token");
  }
  UniqueFd connection = std::move(found->second);
  connections_.erase(found);
  return connection;
}

void TokenDesk::clear() {
  const std::lock_guard lock(mutex_);
  connections_.clear();
  changed_.notify_all();
}

}  // namespace netbench::session
