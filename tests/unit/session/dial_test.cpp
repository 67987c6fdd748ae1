#include "bench/session/dial.hpp"

#include <gtest/gtest.h>

#include <cerrno>

#include "bench/session/ping.hpp"
#include "support.hpp"

namespace netbench::session {
namespace {

using namespace test;

DialOptions to(const std::string& host, std::uint16_t port) {
  return {.host = host, .port = port, .resolve_limit = 3s, .connect_limit = 1s};
}

TEST(Dial, ClosedPortIsRefusedAtOnce) {
  std::uint16_t port = 0;
  { port = Listener::open("127.0.0.1", 0).value().port(); }
  const std::int64_t begin = monotonic_ns();
  const auto fd = dial(to("127.0.0.1", port));
  ASSERT_FALSE(fd);
  EXPECT_EQ(fd.error().slug, "peer-refused") << fd.error().message;
  EXPECT_EQ(fd.error().exit_class, ExitClass::nothing_measured);
  EXPECT_NE(fd.error().remedy.find("netbench agent"), std::string::npos);
  EXPECT_LT(seconds_since(begin), 0.9);  // its limit is 1 s
}

// With its accept queue full, Linux drops further SYNs as a firewall would.
TEST(Dial, PacketsThatVanishAreDropped) {
  const auto listener = Listener::open("127.0.0.1", 0).value();
  ASSERT_EQ(::listen(listener.fd(), 0), 0);
  std::vector<UniqueFd> filling;
  Result<UniqueFd> last = fail("none", "");
  for (int i = 0; i < 8; ++i) {
    last = dial(to("127.0.0.1", listener.port()));
    if (!last) {
      break;
    }
    filling.push_back(std::move(*last));
  }
  ASSERT_FALSE(last);
  EXPECT_EQ(last.error().slug, "peer-dropped") << last.error().message;
  EXPECT_NE(last.error().remedy.find(std::to_string(listener.port())), std::string::npos);
}

TEST(Dial, CancelEndsAConnectThatHangs) {
  const auto listener = Listener::open("127.0.0.1", 0).value();
  ASSERT_EQ(::listen(listener.fd(), 0), 0);
  const WakeFd cancel;
  cancel.notify();
  DialOptions options = to("127.0.0.1", listener.port());
  options.cancel_fd = cancel.fd();
  const auto fd = dial(options);
  ASSERT_FALSE(fd);
  EXPECT_EQ(fd.error().slug, "cancelled");
}

TEST(Dial, TriesTheNextAddressOfAName) {
  const auto listener = Listener::open("127.0.0.1", 0).value();  // "localhost" may be ::1 first
  const auto fd = dial(to("localhost", listener.port()));
  EXPECT_TRUE(fd) << fd.error().message;
}

TEST(Dial, ReportsEveryAddressThatDidNotAnswer) {
  const auto listener = Listener::open("127.0.0.1", 0).value();
  std::uint16_t closed = 0;
  { closed = Listener::open("127.0.0.1", 0).value().port(); }
  std::vector<ConnectFailure> failures;
  DialOptions options = to("127.0.0.1", closed);
  options.on_failure = [&](const SocketAddress& address, const ConnectFailure& failure) {
    EXPECT_EQ(address.port(), closed);
    failures.push_back(failure);
  };
  EXPECT_FALSE(dial(options));
  ASSERT_EQ(failures.size(), 1U);
  EXPECT_EQ(failures[0].sys_errno, ECONNREFUSED);
  EXPECT_EQ(failures[0].local.host(), "127.0.0.1");
  EXPECT_EQ(failures[0].syn_retransmits, 0);
}

TEST(Ping, OfTheLoopbackAddressIsAnsweredWhereItMayBeSent) {
  for (const char* host : {"127.0.0.1", "::1"}) {
    const auto answered = answers_ping(resolve(to(host, 18550))->at(0), 1s);
    if (!answered) {
      GTEST_SKIP() << host << ": no echo request may be sent here";
    }
    EXPECT_TRUE(*answered) << host;
  }
}

TEST(Resolve, NumericAddressesNeedNothing) {
  const auto four = resolve(to("192.168.1.101", 7));
  ASSERT_TRUE(four);
  EXPECT_EQ(four->at(0).text(), "192.168.1.101:7");
  const auto six = resolve(to("2001:db8::1", 7));
  ASSERT_TRUE(six);
  EXPECT_EQ(six->at(0).text(), "[2001:db8::1]:7");
}

TEST(Resolve, UnknownNameGivesTheCodeOfTheResolver) {
  const auto none = resolve(to("no-such-host.invalid", 7));  // RFC 6761 section 6.4
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().slug, "unknown-host");
  EXPECT_EQ(none.error().exit_class, ExitClass::nothing_measured);
  EXPECT_NE(none.error().message.find("no-such-host.invalid"), std::string::npos);
  EXPECT_NE(none.error().message.find("EAI_"), std::string::npos);
  EXPECT_FALSE(none.error().remedy.empty());
}

TEST(Resolve, AddressOfTheOtherFamilyIsRefused) {
  DialOptions options = to("127.0.0.1", 7);
  options.family = AddressFamily::ipv6;
  EXPECT_EQ(resolve(options).error().slug, "unknown-host");
}

TEST(Resolve, EmptyHostIsUnknown) { EXPECT_EQ(resolve(to("", 7)).error().slug, "unknown-host"); }

struct FailureCase {
  ConnectFailure failure;
  const char* slug;
};

SocketAddress address_of(const std::string& host) { return resolve(to(host, 18550))->at(0); }

void expect_slugs(const SocketAddress& address, std::initializer_list<FailureCase> cases) {
  for (const FailureCase& one : cases) {
    const Error error = explain_connect(address, one.failure);
    EXPECT_EQ(error.slug, one.slug) << error.message;
    EXPECT_EQ(error.exit_class, ExitClass::nothing_measured);
    EXPECT_NE(error.message.find(address.text()), std::string::npos);
    EXPECT_FALSE(error.remedy.empty());
  }
}

TEST(ExplainConnect, TellsTheCausesApart) {
  constexpr Neighbour kAnswers{NeighbourState::reachable, false};
  constexpr Neighbour kRouterAnswers{NeighbourState::reachable, true};
  constexpr Neighbour kSilent{NeighbourState::unanswered, false};
  constexpr Neighbour kAbsent{NeighbourState::absent, false};
  expect_slugs(address_of("192.168.1.101"),
               {{{ECONNREFUSED, 700ms, kAnswers}, "peer-refused"},
                {{EHOSTUNREACH, 1s, kAnswers}, "peer-rejected"},
                {{EHOSTUNREACH, 3s, kRouterAnswers}, "peer-unreachable"},
                {{EHOSTUNREACH, 3s, kSilent}, "peer-unreachable"},
                {{ETIMEDOUT, 2s, kSilent}, "peer-unreachable"},
                {{ETIMEDOUT, 5s, kAnswers}, "peer-dropped"},
                {{ETIMEDOUT, 5s, kAbsent}, "peer-dropped"},
                {{ENETUNREACH, 0s, {}}, "no-route"},
                {{EPERM, 0s, {}}, "connect-denied"},
                {{EMFILE, 0s, {}}, "connect-failed"}});
}

ConnectFailure with_icmp(int sys_errno, std::uint8_t type, std::uint8_t code,
                         const std::string& from) {
  const bool six = from.find(':') != std::string::npos;
  return {.sys_errno = sys_errno,
          .icmp = IcmpAnswer{type, code, address_of(from)},
          .local = address_of(six ? "fd00::1" : "192.168.1.100")};
}

TEST(ExplainConnect, IcmpErrorsNameTheFirewallOrTheRouter) {
  expect_slugs(address_of("192.168.1.101"),
               {{with_icmp(ECONNREFUSED, 3, 3, "192.168.1.101"), "peer-rejected"},
                {with_icmp(EHOSTUNREACH, 3, 13, "192.168.1.101"), "peer-rejected"},
                {with_icmp(EHOSTUNREACH, 3, 1, "192.168.1.101"), "peer-rejected"},
                {with_icmp(ETIMEDOUT, 3, 10, "10.0.0.1"), "peer-rejected"},
                {with_icmp(EHOSTUNREACH, 3, 1, "10.0.0.1"), "peer-unreachable"},
                {with_icmp(EHOSTUNREACH, 3, 1, "192.168.1.100"), "peer-unreachable"},
                {with_icmp(ECONNREFUSED, 3, 3, "192.168.1.100"), "connect-denied"}});
  expect_slugs(address_of("fd00::2"),
               {{with_icmp(EACCES, 1, 1, "fd00::2"), "peer-rejected"},
                {with_icmp(ECONNREFUSED, 1, 4, "fd00::2"), "peer-rejected"},
                {with_icmp(EHOSTUNREACH, 1, 3, "fd00::9"), "peer-unreachable"},
                {with_icmp(EHOSTUNREACH, 1, 3, "fd00::1"), "peer-unreachable"}});
  const Error error =
      explain_connect(address_of("192.168.1.101"), with_icmp(EHOSTUNREACH, 3, 13, "10.0.0.1"));
  EXPECT_NE(error.message.find("10.0.0.1 (ICMP type 3 code 13)"), std::string::npos);
}

TEST(FindNeighbour, OfTheLoopbackAddressIsNeverSilent) {
  const Neighbour neighbour = find_neighbour(resolve(to("127.0.0.1", 7))->at(0));
  EXPECT_NE(neighbour.state, NeighbourState::unanswered);
  EXPECT_FALSE(neighbour.gateway);
}

}  // namespace
}  // namespace netbench::session
