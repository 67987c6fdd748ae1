#include "bench/session/acceptor.hpp"

#include <gtest/gtest.h>
#include <netinet/tcp.h>
#include <sys/resource.h>

#include <algorithm>
#include <ctime>
#include <random>

#include "bench/session/rendezvous.hpp"
#include "support.hpp"

namespace netbench::session {
namespace {

using namespace test;

std::unique_ptr<Acceptor> start(AcceptorOptions options) {
  options.address = "127.0.0.1";
  options.port = 0;
  return Acceptor::start(options,
                         [](Arrival&) {
                           return Error{"peer-busy", "nobody is let in here", {}, {}};
                         })
      .value();
}

std::string data_greeting(const Token& token) {
  return "NBD1" + std::string(reinterpret_cast<const char*>(token.data()), token.size());
}

int option_of(int fd, int level, int name) {
  int value = -1;
  socklen_t size = sizeof(value);
  EXPECT_EQ(::getsockopt(fd, level, name, &value, &size), 0);
  return value;
}

std::string congestion_of(int fd) {
  std::array<char, 16> name{};
  socklen_t size = name.size();
  EXPECT_EQ(::getsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, name.data(), &size), 0);
  return name.data();
}

void allow_descriptors(rlim_t wanted) {
  rlimit limit{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &limit), 0);
  limit.rlim_cur = std::max(limit.rlim_cur, std::min(limit.rlim_max, wanted));
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &limit), 0);
  ASSERT_GE(limit.rlim_cur, wanted);
}

double process_cpu_seconds() {
  timespec now{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

TEST(Acceptor, HandsADataConnectionOverInBlockingMode) {
  const auto acceptor = start({.allow_insecure = true});
  const Token token = acceptor->issue_token().value();
  const UniqueFd client = connect_raw(acceptor->port());
  const std::string greeting = data_greeting(token);
  for (const std::string& part :
       {greeting.substr(0, 2), greeting.substr(2, 7), greeting.substr(9) + "payload"}) {
    send_text(client.get(), part);
    std::this_thread::sleep_for(20ms);
  }
  const UniqueFd taken = acceptor->take_connection(token, soon()).value();
  EXPECT_EQ(::fcntl(taken.get(), F_GETFL) & O_NONBLOCK, 0);
  std::array<char, 7> payload{};
  EXPECT_EQ(::recv(taken.get(), payload.data(), payload.size(), MSG_WAITALL), 7);
  EXPECT_EQ(std::string_view(payload.data(), payload.size()), "payload");
}

TEST(Acceptor, TokenWorksOnce) {
  const auto acceptor = start({.allow_insecure = true});
  const Token token = acceptor->issue_token().value();
  const UniqueFd first = connect_raw(acceptor->port());
  send_text(first.get(), data_greeting(token));
  const auto waits_for_taking = [&] {
    const UniqueFd second = connect_raw(acceptor->port());
    send_text(second.get(), data_greeting(token));
    return eventually([&] { return is_closed(second.get()); });
  };
  EXPECT_TRUE(waits_for_taking());
  EXPECT_TRUE(acceptor->take_connection(token, soon()));
  EXPECT_TRUE(waits_for_taking());
  EXPECT_EQ(acceptor->take_connection(token, soon()).error().slug, "unknown-token");
}

TEST(Acceptor, UnknownAndClearedTokensAreClosed) {
  const auto acceptor = start({.allow_insecure = true});
  const Token cleared = acceptor->issue_token().value();
  acceptor->clear_tokens();
  for (const Token& token : {Token{}, cleared}) {
    const UniqueFd client = connect_raw(acceptor->port());
    send_text(client.get(), data_greeting(token));
    EXPECT_TRUE(eventually([&] { return is_closed(client.get()); }));
  }
}

TEST(Acceptor, TakingAConnectionThatNeverComesTimesOut) {
  const auto acceptor = start({.allow_insecure = true});
  const Token token = acceptor->issue_token().value();
  EXPECT_EQ(acceptor->take_connection(token, soon(50ms)).error().slug, "data-timeout");
}

TEST(Acceptor, StrangersReadWhoAnswersAndAreClosed) {
  const auto acceptor = start({.key = Key::generate().value()});
  for (const std::string said : {"GET / HTTP/1.1\r\nHost: x\r\n\r\n", "\r\n", "x", "NBX"}) {
    const UniqueFd client = connect_raw(acceptor->port());
    send_text(client.get(), said);
    const std::int64_t begin = monotonic_ns();
    const std::string answer = read_to_end(client.get());
    EXPECT_TRUE(answer.starts_with("netbench agent: ")) << said << answer;
    EXPECT_LT(seconds_since(begin), 4);
  }
}

TEST(Acceptor, RandomBytesNeitherStopItNorKeepItBusy) {
  const auto acceptor = start({.key = Key::generate().value()});
  std::mt19937 random(1);
  std::vector<UniqueFd> clients;
  for (int i = 0; i < 200; ++i) {
    std::string bytes(1 + random() % 600, '\0');
    std::generate(bytes.begin(), bytes.end(), [&] { return static_cast<char>(random()); });
    bytes.front() = i % 2 == 0 ? '\x16' : bytes.front();
    clients.push_back(connect_raw(acceptor->port()));
    send_text(clients.back().get(), bytes);
  }
  std::this_thread::sleep_for(1200ms);  // until those that were answered are closed
  const double cpu_before = process_cpu_seconds();
  std::this_thread::sleep_for(2s);
  EXPECT_LT(process_cpu_seconds() - cpu_before, 0.02);  // 1 %
  const UniqueFd next = connect_raw(acceptor->port());
  send_text(next.get(), "hello?");
  EXPECT_TRUE(read_to_end(next.get()).starts_with("netbench agent: "));
}

TEST(Acceptor, HalfClosedClientsDoNotKeepItBusy) {
  const auto acceptor = start({.allow_insecure = true});
  std::vector<UniqueFd> clients;
  for (const char* said : {"N", "NBD1ab", "NBC1", "\x16"}) {
    clients.push_back(connect_raw(acceptor->port()));
    send_text(clients.back().get(), said);
    ::shutdown(clients.back().get(), SHUT_WR);
  }
  const double cpu_before = process_cpu_seconds();
  for (const UniqueFd& client : clients) {
    EXPECT_TRUE(eventually([&] {
      static_cast<void>(read_to_end(client.get(), 1ms));
      return is_closed(client.get());
    }));
  }
  EXPECT_LT(process_cpu_seconds() - cpu_before, 0.5);
}

TEST(Acceptor, ConnectionsThatOnlyConnectCostNothingLasting) {
  const auto acceptor = start({.allow_insecure = true});
  for (int i = 0; i < 2000; ++i) {
    ASSERT_TRUE(connect_raw(acceptor->port()).valid()) << i;
  }
  const UniqueFd next = connect_raw(acceptor->port());
  send_text(next.get(), "hello?");
  EXPECT_TRUE(read_to_end(next.get()).starts_with("netbench agent: "));
}

TEST(Acceptor, HalfOpenConnectionIsDroppedAfterItsTime) {
  const auto acceptor =
      start({.key = Key::generate().value(), .allow_insecure = true, .half_open_limit = 200ms});
  for (const std::string said : {"", "NB", "NBC1", "NBD1abc", "\x16\x03\x01"}) {
    const UniqueFd client = connect_raw(acceptor->port());
    send_text(client.get(), said);
    const std::int64_t begin = monotonic_ns();
    static_cast<void>(read_to_end(client.get()));
    EXPECT_TRUE(is_closed(client.get())) << said;
    EXPECT_LT(seconds_since(begin), 4) << said;
  }
}

TEST(Acceptor, HostileLengthIsRefusedByName) {
  const auto acceptor = start({.allow_insecure = true});
  const UniqueFd client = connect_raw(acceptor->port());
  send_text(client.get(), std::string("NBC1\x80\x00\x00\x00", 8));
  const std::string answer = read_to_end(client.get());
  ASSERT_TRUE(answer.starts_with("NBC1"));
  FrameDecoder decoder;
  decoder.feed(answer.substr(4));
  EXPECT_EQ(decode_refused(decoder.next().value().value()).slug, "frame-too-large");
}

TEST(Acceptor, ServesAClientAtOnceBesideAThousandHalfOpenConnections) {
  allow_descriptors(2048);
  const Key key = Key::generate().value();
  const TestAgent agent(keyed_agent(key));
  std::vector<UniqueFd> half_open;
  for (int i = 0; i < 1000; ++i) {
    half_open.push_back(connect_raw(agent.port()));
    ASSERT_TRUE(half_open.back().valid()) << i;
    if (i % 2 == 0) {
      send_text(half_open.back().get(), "\x16\x03\x01");
    }
  }
  const std::int64_t begin = monotonic_ns();
  const auto connection = connect_agent(client_of(agent.port(), key));
  ASSERT_TRUE(connection) << connection.error().message;
  EXPECT_LT(seconds_since(begin), 4);  // a half-open connection has 5 s
  EXPECT_TRUE(eventually([&] { return is_closed(half_open.front().get()); }));
  EXPECT_FALSE(is_closed(half_open.back().get()));
}

TEST(Acceptor, PortInUseIsSaid) {
  const auto first = start({.allow_insecure = true});
  AcceptorOptions options{.address = "127.0.0.1", .port = first->port()};
  const auto second = Acceptor::start(options, [](Arrival&) { return std::nullopt; });
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().slug, "port-in-use");
  options.address = "192.0.2.1";
  EXPECT_EQ(Acceptor::start(options, {}).error().slug, "bad-address");
  options.address = "node7";
  EXPECT_EQ(Acceptor::start(options, {}).error().slug, "bad-address");
}

struct Accepted {
  UniqueFd client;
  UniqueFd server;
};

Accepted connect_data(Acceptor& acceptor) {
  const Token token = acceptor.issue_token().value();
  Accepted out;
  out.client = connect_raw(acceptor.port());
  send_text(out.client.get(), data_greeting(token));
  out.server = acceptor.take_connection(token, soon()).value();
  return out;
}

TEST(Listener, OptionsReachTheConnectionsAndAreRestored) {
  const auto acceptor = start({.allow_insecure = true});
  const Accepted before = connect_data(*acceptor);
  const int buffer = 32 * 1024;
  const int mss = 600;
  ASSERT_EQ(::setsockopt(acceptor->listener(), SOL_SOCKET, SO_RCVBUF, &buffer, sizeof(buffer)), 0);
  ASSERT_EQ(::setsockopt(acceptor->listener(), IPPROTO_TCP, TCP_MAXSEG, &mss, sizeof(mss)), 0);
  ASSERT_EQ(::setsockopt(acceptor->listener(), IPPROTO_TCP, TCP_CONGESTION, "reno", 4), 0);
  const Accepted changed = connect_data(*acceptor);
  EXPECT_EQ(option_of(changed.server.get(), SOL_SOCKET, SO_RCVBUF), 2 * buffer);
  EXPECT_LE(option_of(changed.server.get(), IPPROTO_TCP, TCP_MAXSEG), mss);
  EXPECT_EQ(congestion_of(changed.server.get()), "reno");

  ASSERT_TRUE(acceptor->restore_listener());
  const Accepted after = connect_data(*acceptor);
  EXPECT_EQ(option_of(after.server.get(), SOL_SOCKET, SO_RCVBUF),
            option_of(before.server.get(), SOL_SOCKET, SO_RCVBUF));
  EXPECT_EQ(option_of(after.server.get(), IPPROTO_TCP, TCP_MAXSEG),
            option_of(before.server.get(), IPPROTO_TCP, TCP_MAXSEG));
  EXPECT_EQ(congestion_of(after.server.get()), congestion_of(before.server.get()));
}

TEST(Listener, AutotuningIsBackAfterRestore) {
  const auto acceptor = start({.allow_insecure = true});
  const int buffer = 32 * 1024;
  ASSERT_EQ(::setsockopt(acceptor->listener(), SOL_SOCKET, SO_RCVBUF, &buffer, sizeof(buffer)), 0);
  ASSERT_TRUE(acceptor->restore_listener());
  const Accepted after = connect_data(*acceptor);
  constexpr int kBufLock = 72;  // SO_BUF_LOCK
  int lock = -1;
  socklen_t size = sizeof(lock);
  if (::getsockopt(after.server.get(), SOL_SOCKET, kBufLock, &lock, &size) != 0) {
    GTEST_SKIP() << "this kernel has no SO_BUF_LOCK to look at";
  }
  EXPECT_EQ(lock, 0);
}

TEST(Listener, ReplacementKeepsPortAndDescriptorAndTakesConnections) {
  auto listener = Listener::open("127.0.0.1", 0).value();
  const int fd = listener.fd();
  const std::uint16_t port = listener.port();
  const int mss = 600;
  ASSERT_EQ(::setsockopt(fd, IPPROTO_TCP, TCP_MAXSEG, &mss, sizeof(mss)), 0);
  ASSERT_TRUE(listener.reopen());
  EXPECT_EQ(listener.fd(), fd);
  EXPECT_EQ(local_address(fd).port(), port);
  const UniqueFd client = connect_raw(port);
  ASSERT_TRUE(client.valid());
  EXPECT_GT(option_of(client.get(), IPPROTO_TCP, TCP_MAXSEG), mss);
}

// As a plug-in sees it.
struct Host {
  nb_host host{};
  Rendezvous rendezvous;

  explicit Host(Acceptor& acceptor) : rendezvous(acceptor) {
    host.struct_size = sizeof(host);
    host.context = &rendezvous;
    host.extension = [](const nb_host* self, const char* id) -> const void* {
      return std::string_view(id) == NB_RENDEZVOUS_ID
                 ? static_cast<Rendezvous*>(self->context)->table()
                 : nullptr;
    };
  }
};

TEST(Rendezvous, GivesAPlugInItsDataConnections) {
  const auto acceptor = start({.allow_insecure = true});
  const Host owner(*acceptor);
  const auto* table =
      static_cast<const nb_rendezvous*>(owner.host.extension(&owner.host, NB_RENDEZVOUS_ID));
  Token token{};
  ASSERT_EQ(table->issue_token(&owner.host, token.data()), NB_OK);
  int fd = -1;
  EXPECT_EQ(table->take_connection(&owner.host, token.data(), 10'000'000, &fd), NB_TIMED_OUT);
  const UniqueFd client = connect_raw(acceptor->port());
  send_text(client.get(), data_greeting(token));
  ASSERT_EQ(table->take_connection(&owner.host, token.data(), 5'000'000'000, &fd), NB_OK);
  const UniqueFd taken(fd);
  EXPECT_EQ(peer_address(taken.get()).text(), local_address(client.get()).text());
  EXPECT_EQ(table->take_connection(&owner.host, token.data(), 0, &fd), NB_INVALID);
  EXPECT_EQ(table->listener(&owner.host), acceptor->listener());
}

}  // namespace
}  // namespace netbench::session
