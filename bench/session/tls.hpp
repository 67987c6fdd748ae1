#pragma once

#include <openssl/types.h>

#include <memory>
#include <string>

#include "bench/core/result.hpp"
#include "bench/session/key.hpp"

namespace netbench::session {

struct SslDeleter {
  void operator()(SSL* ssl) const;
};
struct SslContextDeleter {
  void operator()(SSL_CTX* context) const;
};
using UniqueSsl = std::unique_ptr<SSL, SslDeleter>;

/// TLS alerts by which the ends tell each other why they do not talk (RFC 8446 section 6.2).
inline constexpr int kAlertHandshakeFailure = 40;      // the agent does not know the identity
inline constexpr int kAlertIllegalParameter = 47;      // the binder does not verify: another key
inline constexpr int kAlertInsufficientSecurity = 71;  // the agent runs without a key

/// TLS 1.3 by an external pre-shared key with ephemeral Diffie-Hellman and nothing else: no
/// certificates, no tickets, no early data, TLS_AES_128_GCM_SHA256. Outlives the SSL objects it
/// made.
class TlsContext {
 public:
  /// `identity`: empty for the key's own. Errors: `tls-setup`.
  [[nodiscard]] static Result<std::unique_ptr<TlsContext>> for_client(const Key& key,
                                                                      std::string identity = {});
  [[nodiscard]] static Result<std::unique_ptr<TlsContext>> for_agent(const Key& key,
                                                                     std::string identity = {});
  TlsContext(const TlsContext&) = delete;
  TlsContext& operator=(const TlsContext&) = delete;

  /// A new connection's state, in connect or accept role; null when out of memory. [any-thread]
  [[nodiscard]] UniqueSsl make_ssl() const;

  [[nodiscard]] const Key& key() const { return key_; }
  [[nodiscard]] const std::string& identity() const { return identity_; }

 private:
  TlsContext(const Key& key, std::string identity, bool client);
  [[nodiscard]] static Result<std::unique_ptr<TlsContext>> make(const Key& key,
                                                                std::string identity, bool client);
  [[nodiscard]] bool configure();

  Key key_;
  std::string identity_;
  bool client_;
  std::unique_ptr<SSL_CTX, SslContextDeleter> context_;
};

/// True where the handshake was authenticated by the pre-shared key.
[[nodiscard]] bool used_key(const SSL* ssl);

}  // namespace netbench::session
