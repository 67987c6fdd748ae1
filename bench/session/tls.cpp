#include "bench/session/tls.hpp"

#include <fmt/format.h>
#include <openssl/err.h>
#include <openssl/ssl.h>

#include <array>
#include <string_view>

namespace netbench::session {

namespace {

constexpr const char* kSuite = "TLS_AES_128_GCM_SHA256";
constexpr std::array<unsigned char, 2> kSuiteId = {0x13, 0x01};  // RFC 8446 appendix B.4

const TlsContext& context_of(const SSL* ssl) {
  return *static_cast<const TlsContext*>(SSL_CTX_get_app_data(SSL_get_SSL_CTX(ssl)));
}

// An external key is handed to OpenSSL as the session that would be resumed with it.
SSL_SESSION* make_session(SSL* ssl, const Key& key) {
  SSL_SESSION* session = SSL_SESSION_new();
  const SSL_CIPHER* cipher = SSL_CIPHER_find(ssl, kSuiteId.data());
  if (session == nullptr || cipher == nullptr ||
      SSL_SESSION_set1_master_key(session, key.bytes().data(), key.bytes().size()) != 1 ||
      SSL_SESSION_set_cipher(session, cipher) != 1 ||
      SSL_SESSION_set_protocol_version(session, TLS1_3_VERSION) != 1) {
    SSL_SESSION_free(session);
    return nullptr;
  }
  return session;
}

int offer_key(SSL* ssl, const EVP_MD* /*md*/, const unsigned char** id, std::size_t* id_size,
              SSL_SESSION** session) {
  const TlsContext& context = context_of(ssl);
  *session = make_session(ssl, context.key());
  *id = reinterpret_cast<const unsigned char*>(context.identity().data());
  *id_size = context.identity().size();
  return *session != nullptr ? 1 : 0;
}

// No session for an unknown identity: OpenSSL then looks for a certificate, has none, and ends the
// handshake with handshake_failure. A wrong binder ends it with illegal_parameter instead.
int find_key(SSL* ssl, const unsigned char* id, std::size_t id_size, SSL_SESSION** session) {
  const TlsContext& context = context_of(ssl);
  const std::string_view identity(reinterpret_cast<const char*>(id), id_size);
  *session = identity == context.identity() ? make_session(ssl, context.key()) : nullptr;
  return identity != context.identity() || *session != nullptr ? 1 : 0;
}

}  // namespace

void SslDeleter::operator()(SSL* ssl) const { SSL_free(ssl); }
void SslContextDeleter::operator()(SSL_CTX* context) const { SSL_CTX_free(context); }

TlsContext::TlsContext(const Key& key, std::string identity, bool client)
    : key_(key),
      identity_(identity.empty() ? key.identity() : std::move(identity)),
      client_(client),
      context_(SSL_CTX_new(client ? TLS_client_method() : TLS_server_method())) {}

Result<std::unique_ptr<TlsContext>> TlsContext::for_client(const Key& key, std::string identity) {
  return make(key, std::move(identity), true);
}

Result<std::unique_ptr<TlsContext>> TlsContext::for_agent(const Key& key, std::string identity) {
  return make(key, std::move(identity), false);
}

Result<std::unique_ptr<TlsContext>> TlsContext::make(const Key& key, std::string identity,
                                                     bool client) {
  std::unique_ptr<TlsContext> context(new TlsContext(key, std::move(identity), client));
  if (!context->configure()) {
    const unsigned long code = ERR_get_error();
    const char* reason = ERR_reason_error_string(code);
    return fail("tls-setup", fmt::format("OpenSSL cannot set up TLS 1.3 with a pre-shared key: {}",
                                         reason != nullptr ? reason : "no reason given"));
  }
  return context;
}

bool TlsContext::configure() {
  SSL_CTX* context = context_.get();
  if (context == nullptr || SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION) != 1 ||
      SSL_CTX_set_max_proto_version(context, TLS1_3_VERSION) != 1 ||
      SSL_CTX_set_ciphersuites(context, kSuite) != 1 || SSL_CTX_set_num_tickets(context, 0) != 1 ||
      SSL_CTX_set_max_early_data(context, 0) != 1) {
    return false;
  }
  SSL_CTX_set_app_data(context, this);
  SSL_CTX_set_options(context, SSL_OP_NO_TICKET);
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                                SSL_MODE_RELEASE_BUFFERS);
  if (client_) {
    // No trusted root is loaded: a server that answers with a certificate is never accepted.
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nullptr);
    SSL_CTX_set_psk_use_session_callback(context, offer_key);
  } else {
    SSL_CTX_set_psk_find_session_callback(context, find_key);
  }
  return true;
}

UniqueSsl TlsContext::make_ssl() const {
  UniqueSsl ssl(SSL_new(context_.get()));
  if (ssl == nullptr) {
    return ssl;
  }
  if (client_) {
    SSL_set_connect_state(ssl.get());
  } else {
    SSL_set_accept_state(ssl.get());
  }
  return ssl;
}

bool used_key(const SSL* ssl) { return SSL_session_reused(ssl) == 1; }

}  // namespace netbench::session
