#include "bench/session/client.hpp"

#include <gtest/gtest.h>
#include <openssl/evp.h>
#include <openssl/rsa.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include "support.hpp"

namespace netbench::session {
namespace {

using namespace test;

const Key& good_key() {
  static const Key key = Key::generate().value();
  return key;
}

const Key& other_key() {
  static const Key key = Key::generate().value();
  return key;
}

void expect_error(const Result<AgentConnection>& result, const std::string& slug) {
  ASSERT_FALSE(result) << "expected " << slug;
  EXPECT_EQ(result.error().slug, slug) << result.error().message;
  EXPECT_EQ(result.error().exit_class, ExitClass::nothing_measured);
  EXPECT_FALSE(result.error().remedy.empty());
}

TEST(ConnectAgent, SameKeyGivesAnEncryptedChannel) {
  const TestAgent agent(keyed_agent(good_key()));
  const auto connection = connect_agent(client_of(agent.port(), good_key()));
  ASSERT_TRUE(connection) << connection.error().message;
  EXPECT_TRUE(connection->channel->secure());
  EXPECT_EQ(connection->agent.host_name, "agent");
  EXPECT_FALSE(connection->agent.insecure);
  EXPECT_EQ(connection->address.port(), agent.port());
}

TEST(ConnectAgent, InsecureOnBothEndsGivesAPlainChannelThatSaysSo) {
  const TestAgent agent(insecure_agent());
  const auto connection = connect_agent(client_of(agent.port()));
  ASSERT_TRUE(connection) << connection.error().message;
  EXPECT_FALSE(connection->channel->secure());
  EXPECT_TRUE(connection->agent.insecure);
}

TEST(ConnectAgent, KeyThatTheAgentDoesNotKnowIsUnknown) {
  const TestAgent agent(keyed_agent(good_key()));
  const auto connection = connect_agent(client_of(agent.port(), other_key()));
  expect_error(connection, "key-unknown");
  EXPECT_NE(connection.error().message.find(other_key().identity()), std::string::npos);
}

TEST(ConnectAgent, AnotherKeyUnderTheSameNameIsWrong) {
  const TestAgent agent(keyed_agent(good_key()));
  auto options = client_of(agent.port(), other_key());
  options.identity = good_key().identity();
  expect_error(connect_agent(options), "key-wrong");
}

TEST(ConnectAgent, InsecureClientOfAKeyedAgentIsToldToGiveTheKey) {
  const TestAgent agent(keyed_agent(good_key()));
  expect_error(connect_agent(client_of(agent.port())), "agent-wants-key");
}

TEST(ConnectAgent, KeyedClientOfAnInsecureAgentIsToldSo) {
  const TestAgent agent(insecure_agent());
  expect_error(connect_agent(client_of(agent.port(), good_key())), "agent-insecure");
}

TEST(ConnectAgent, VersionsOneApartAreRefusedNamingBoth) {
  const TestAgent agent(keyed_agent(good_key()));
  for (const int step : {-1, 1}) {
    auto options = client_of(agent.port(), good_key());
    options.hello.protocol = kProtocol + step;
    options.hello.version = "8.8.8";
    const auto connection = connect_agent(options);
    expect_error(connection, "version-mismatch");
    EXPECT_NE(connection.error().message.find("8.8.8"), std::string::npos);
    EXPECT_NE(connection.error().message.find("0.1.0"), std::string::npos);
  }
}

// Servers of other kinds; each is met by a client with a key and by one without.
struct StrangerCase {
  const char* name;
  const char* says;  // after it has read something; empty = closes, null = stays silent
  const char* shown;
};

class Strangers : public testing::TestWithParam<std::tuple<StrangerCase, bool>> {};

INSTANTIATE_TEST_SUITE_P(
    ConnectAgent, Strangers,
    testing::Combine(testing::Values(StrangerCase{"Http", "HTTP/1.1 400 Bad Request\r\n\r\n",
                                                  "HTTP/1.1 400 Bad Request\\x0d"},
                                     StrangerCase{"Iperf3", "\x09", "iperf3"},
                                     StrangerCase{"BusyIperf3", "\xff", "busy iperf3"},
                                     StrangerCase{"Escapes", "\x1b[2J", "\\x1b[2J"},
                                     StrangerCase{"Closing", "", "closes the connection"},
                                     StrangerCase{"Silent", nullptr, "said nothing"}),
                     testing::Bool()),
    [](const auto& one) {
      return std::string(std::get<0>(one.param).name) +
             (std::get<1>(one.param) ? "WithKey" : "Insecure");
    });

TEST_P(Strangers, AreNotAgentsWithinTwoSeconds) {
  const auto& [stranger, keyed] = GetParam();
  const FakeServer server([says = stranger.says](int fd) {
    std::array<char, 4096> bytes{};
    static_cast<void>(::recv(fd, bytes.data(), bytes.size(), 0));
    if (says != nullptr) {
      send_text(fd, says);
    } else {
      static_cast<void>(read_to_end(fd, 5s));
    }
  });
  const std::int64_t begin = monotonic_ns();
  auto options = client_of(server.port(), keyed ? std::optional(good_key()) : std::nullopt);
  options.answer_limit = ConnectOptions().answer_limit;
  EXPECT_LT(options.answer_limit, 2s);
  const auto connection = connect_agent(options);
  EXPECT_LT(seconds_since(begin), 4);
  expect_error(connection, "not-an-agent");
  EXPECT_NE(connection.error().message.find(stranger.shown), std::string::npos)
      << connection.error().message;
}

TEST(ConnectAgent, ServerThatSpeaksFirstIsNotAnAgent) {
  const FakeServer server([](int fd) {
    send_text(fd, "SSH-2.0-OpenSSH_9.2\r\n");
    static_cast<void>(read_to_end(fd, 5s));
  });
  const auto connection = connect_agent(client_of(server.port(), good_key()));
  expect_error(connection, "not-an-agent");
  EXPECT_NE(connection.error().message.find("SSH-2.0-OpenSSH_9.2"), std::string::npos);
}

// A TLS 1.3 server with a self-signed certificate, which takes whatever key is offered as unknown.
void serve_https(int fd) {
  EVP_PKEY* key = EVP_RSA_gen(2048);
  X509* certificate = X509_new();
  X509_gmtime_adj(X509_getm_notBefore(certificate), 0);
  X509_gmtime_adj(X509_getm_notAfter(certificate), 3600);
  X509_set_pubkey(certificate, key);
  X509_sign(certificate, key, EVP_sha256());
  SSL_CTX* context = SSL_CTX_new(TLS_server_method());
  SSL_CTX_use_certificate(context, certificate);
  SSL_CTX_use_PrivateKey(context, key);
  SSL* ssl = SSL_new(context);
  SSL_set_fd(ssl, fd);
  EXPECT_NE(SSL_accept(ssl), 1);
  SSL_free(ssl);
  SSL_CTX_free(context);
  X509_free(certificate);
  EVP_PKEY_free(key);
}

TEST(ConnectAgent, CertificateIsNeverAcceptedInPlaceOfTheKey) {
  const FakeServer server(serve_https);
  expect_error(connect_agent(client_of(server.port(), good_key())), "not-an-agent");
}

TEST(ConnectAgent, AgentThatFallsSilentInTheQueueIsLost) {
  const FakeServer server([](int fd) {
    send_text(fd, "NBC1" + encode_frame(encode_queued({1, "somebody"})).value());
    static_cast<void>(read_to_end(fd, 5s));
  });
  auto options = client_of(server.port());
  options.channel = {.silence = 300ms, .heartbeat = 50ms};
  const auto connection = connect_agent(options);
  ASSERT_FALSE(connection);
  EXPECT_EQ(connection.error().slug, "peer-lost");
  EXPECT_EQ(connection.error().exit_class, ExitClass::nothing_measured);
}

TEST(ConnectAgent, AgentThatSaysNonsenseIsRefused) {
  for (const Message& nonsense :
       {Message{"hello", "{"}, Message{"queued", "{}"}, Message{"other", "{}"}}) {
    const FakeServer server([&](int fd) {
      send_text(fd, "NBC1" + encode_frame(nonsense).value());
      static_cast<void>(read_to_end(fd, 5s));
    });
    const auto connection = connect_agent(client_of(server.port()));
    ASSERT_FALSE(connection);
    EXPECT_EQ(connection.error().slug, "bad-message");
  }
}

TEST(ConnectAgent, CancelEndsTheWait) {
  const TestAgent agent(insecure_agent());
  const auto holder = connect_agent(client_of(agent.port()));
  ASSERT_TRUE(holder);
  const WakeFd cancel;
  auto options = client_of(agent.port());
  options.cancel_fd = cancel.fd();
  options.on_queue = [&](const Queued&) { cancel.notify(); };
  const auto connection = connect_agent(options);
  ASSERT_FALSE(connection);
  EXPECT_EQ(connection.error().slug, "cancelled");
  EXPECT_EQ(connection.error().exit_class, ExitClass::interrupted);
}

}  // namespace
}  // namespace netbench::session
