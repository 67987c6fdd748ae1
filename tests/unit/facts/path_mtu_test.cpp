#include "bench/facts/path_mtu.hpp"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>

#include <atomic>
#include <optional>
#include <thread>

#include "bench/facts/path_probe_wire.hpp"
#include "tests/unit/facts/namespaces.hpp"
#include "tests/unit/facts/sockets.hpp"

namespace netbench::facts {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr std::uint16_t kPort = 18550;
constexpr ProbeToken kToken{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};

ProbeTarget target_at(const std::string& address) {
  ProbeTarget target;
  target.address = address_of(address, kPort, target.address_bytes);
  return target;
}

// Two hosts and a router between them: a (10.1.0.1) - r - b (10.2.0.1), both sides also with IPv6.
struct RoutedPath {
  Namespace a, r, b;

  explicit RoutedPath(int mtu) {
    for (const auto* host : {&a, &r, &b}) {
      host->run(
          "cd /proc/sys/net/ipv6/conf && echo 0 >all/accept_dad && echo 0 >default/accept_dad");
    }
    r.run("echo 1 >/proc/sys/net/ipv4/ip_forward; echo 1 >/proc/sys/net/ipv6/conf/all/forwarding");
    a.run("ip link add a0 type veth peer name r0 netns " + r.path());
    b.run("ip link add b0 type veth peer name r1 netns " + r.path());
    join(a, "a0", "1", mtu);
    join(b, "b0", "2", mtu);
    router_side("r0", "1", mtu);
    router_side("r1", "2", mtu);
  }

  static void join(const Namespace& host, const std::string& device, const std::string& net,
                   int mtu) {
    host.run("ip link set " + device + " mtu " + std::to_string(mtu) + " up && ip addr add 10." +
             net + ".0.1/24 dev " + device + " && ip -6 addr add fd00:" + net +
             "::1/64 nodad dev " + device + " && ip route add default via 10." + net +
             ".0.254 && ip -6 route add default via fd00:" + net + "::254");
  }
  void router_side(const std::string& device, const std::string& net, int mtu) const {
    r.run("ip link set " + device + " mtu " + std::to_string(mtu) + " up && ip addr add 10." + net +
          ".0.254/24 dev " + device + " && ip -6 addr add fd00:" + net + "::254/64 nodad dev " +
          device);
  }
};

// The router takes no larger packets towards that net (1: a's, 2: b's), and says so by ICMP.
void limit(const RoutedPath& path, const std::string& net, int mtu) {
  const std::string device = net == "1" ? "r0" : "r1";
  const auto metric = " dev " + device + " mtu lock " + std::to_string(mtu);
  path.r.run("ip route replace 10." + net + ".0.0/24" + metric + " && ip -6 route add fd00:" + net +
             "::/65" + metric);
}

void silence_icmp(const RoutedPath& path) {
  path.r.run(
      "nft 'add table inet t; add chain inet t o { type filter hook output priority 0 ; }; "
      "add rule inet t o icmp type destination-unreachable drop'");
}

std::unique_ptr<PathProbeResponder> responder_in(const Namespace& host,
                                                 const std::string& address = "::") {
  const Namespace::Stay stay(host);
  auto responder = PathProbeResponder::start(udp_bound(address, kPort));
  EXPECT_TRUE(responder.has_value());
  (*responder)->allow(kToken);
  return std::move(*responder);
}

PathMtu probe_from(const Namespace& host, const std::string& address,
                   const ProbeToken& token = kToken) {
  const Namespace::Stay stay(host);
  const auto result = probe_path(target_at(address), token, Deadline::after(seconds(8)));
  EXPECT_TRUE(result.has_value()) << (result ? "" : to_text(result.error()));
  return result.value_or(PathMtu{});
}

TEST(PathProbe, PassesTheWholeInterfaceMtuOnACleanPath) {
  SKIP_WITHOUT_NAMESPACES();
  const RoutedPath path(9000);
  const auto responder = responder_in(path.b);
  const auto result = probe_from(path.a, "10.2.0.1");
  EXPECT_EQ(result.forward_bytes, 9000) << result.note;
  EXPECT_EQ(result.reverse_bytes, 9000) << result.note;
  EXPECT_EQ(result.method, kMethodUdp);
  EXPECT_EQ(result.note, "");
  EXPECT_FALSE(result.black_hole);
}

TEST(PathProbe, WorksOverIpv6) {
  SKIP_WITHOUT_NAMESPACES();
  const RoutedPath path(9000);
  const auto responder = responder_in(path.b);
  const auto result = probe_from(path.a, "fd00:2::1");
  EXPECT_EQ(result.forward_bytes, 9000) << result.note;
  EXPECT_EQ(result.reverse_bytes, 9000) << result.note;
}

TEST(PathProbe, WorksOverLoopback) {
  SKIP_WITHOUT_NAMESPACES();
  const Namespace here;
  const auto responder = responder_in(here, "0.0.0.0");
  const auto result = probe_from(here, "127.0.0.1");
  EXPECT_EQ(result.forward_bytes, 65535) << result.note;
  EXPECT_EQ(result.reverse_bytes, 65535) << result.note;
}

TEST(PathProbe, HearsTheSmallerMtuFromIcmp) {
  SKIP_WITHOUT_NAMESPACES();
  const RoutedPath path(9000);
  limit(path, "2", 1500);
  const auto responder = responder_in(path.b);
  for (const std::string address : {"10.2.0.1", "fd00:2::1"}) {
    const auto result = probe_from(path.a, address);
    EXPECT_EQ(result.forward_bytes, 1500) << result.note;
    EXPECT_EQ(result.reverse_bytes, 9000) << result.note;
    EXPECT_FALSE(result.black_hole) << result.note;
    EXPECT_NE(result.note.find("ICMP names 1500"), std::string::npos) << result.note;
  }
}

TEST(PathProbe, HearsTheSmallerMtuOfTheWayBack) {
  SKIP_WITHOUT_NAMESPACES();
  const RoutedPath path(9000);
  limit(path, "1", 1400);
  const auto responder = responder_in(path.b);
  const auto result = probe_from(path.a, "10.2.0.1");
  EXPECT_EQ(result.forward_bytes, 9000) << result.note;
  EXPECT_EQ(result.reverse_bytes, 1400) << result.note;
  EXPECT_FALSE(result.black_hole) << result.note;
}

TEST(PathProbe, CallsASilentHopABlackHoleInTime) {
  SKIP_WITHOUT_NAMESPACES();
  const RoutedPath path(9000);
  silence_icmp(path);
  limit(path, "2", 1777);
  limit(path, "1", 1600);
  const auto responder = responder_in(path.b);
  const auto start_ns = monotonic_ns();
  const auto result = probe_from(path.a, "10.2.0.1");
  EXPECT_LT(monotonic_ns() - start_ns, 8'500'000'000);
  EXPECT_EQ(result.forward_bytes, 1777) << result.note;
  EXPECT_EQ(result.reverse_bytes, 1600) << result.note;
  EXPECT_TRUE(result.black_hole) << result.note;
}

TEST(PathProbe, CallsAPeerWithASmallerInterfaceNoBlackHole) {
  SKIP_WITHOUT_NAMESPACES();
  const Namespace here;
  const Namespace there;
  here.run("ip link add va0 type veth peer name vb0 netns " + there.path());
  here.run("ip addr add 10.9.0.1/24 dev va0 && ip link set va0 mtu 9000 up");
  there.run("ip addr add 10.9.0.2/24 dev vb0 && ip link set vb0 mtu 1500 up");
  const auto responder = responder_in(there);
  const auto result = probe_from(here, "10.9.0.2");
  EXPECT_GE(result.forward_bytes, 1500) << result.note;
  EXPECT_EQ(result.reverse_bytes, 1500) << result.note;
  EXPECT_FALSE(result.black_hole) << result.note;
}

TEST(PathProbe, SurvivesLoss) {
  SKIP_WITHOUT_NAMESPACES();
  const RoutedPath path(9000);
  path.r.run(
      "nft 'add table inet t; add chain inet t f { type filter hook forward priority 0 ; }; "
      "add rule inet t f numgen random mod 10 == 0 drop'");
  const auto responder = responder_in(path.b);
  const auto result = probe_from(path.a, "10.2.0.1");
  EXPECT_GT(result.forward_bytes, 8000) << result.note;
  EXPECT_GT(result.reverse_bytes, 8000) << result.note;
}

TEST(PathProbe, SaysThatUdpIsFiltered) {
  SKIP_WITHOUT_NAMESPACES();
  const RoutedPath path(1500);
  path.r.run(
      "nft 'add table inet t; add chain inet t f { type filter hook forward priority 0 ; }; "
      "add rule inet t f meta l4proto udp drop'");
  const auto responder = responder_in(path.b);
  const auto start_ns = monotonic_ns();
  const auto result = probe_from(path.a, "10.2.0.1");
  EXPECT_LT(monotonic_ns() - start_ns, 3'000'000'000);
  EXPECT_EQ(result.method, kMethodUdpFiltered);
  EXPECT_EQ(result.forward_bytes, 0);
  EXPECT_FALSE(result.black_hole);
}

TEST(PathProbe, SaysThatTheUdpPortIsRefused) {
  SKIP_WITHOUT_NAMESPACES();
  const Namespace here;
  const auto result = probe_from(here, "127.0.0.1");
  EXPECT_EQ(result.method, kMethodUdpFiltered);
  EXPECT_NE(result.note.find("refuses"), std::string::npos) << result.note;
}

TEST(PathProbe, EndsByItsDeadline) {
  SKIP_WITHOUT_NAMESPACES();
  const RoutedPath path(9000);
  silence_icmp(path);
  limit(path, "2", 1777);
  const auto responder = responder_in(path.b);
  const Namespace::Stay stay(path.a);
  const auto start_ns = monotonic_ns();
  const auto result = probe_path(target_at("10.2.0.1"), kToken, Deadline::after(milliseconds(150)));
  EXPECT_LT(monotonic_ns() - start_ns, 1'000'000'000);
  ASSERT_TRUE(result.has_value());
  EXPECT_FALSE(result->black_hole) << "not proven in so short a time";
}

// What comes back to this datagram within 100 ms, in bytes.
ssize_t answer_to(const Namespace& host, const std::vector<std::uint8_t>& datagram) {
  const Namespace::Stay stay(host);
  const UniqueFd socket = udp_bound("127.0.0.1", 0);
  socklen_t bytes = 0;
  const auto target = address_of("127.0.0.1", kPort, bytes);
  ::sendto(socket.get(), datagram.data(), datagram.size(), 0,
           reinterpret_cast<const sockaddr*>(&target), bytes);
  pollfd wait{socket.get(), POLLIN, 0};
  std::array<char, 65536> answer{};
  return ::poll(&wait, 1, 100) == 1 ? ::recv(socket.get(), answer.data(), answer.size(), 0) : 0;
}

TEST(PathProbeResponder, AnswersNobodyWithoutTheToken) {
  SKIP_WITHOUT_NAMESPACES();
  const Namespace here;
  const auto responder = responder_in(here, "0.0.0.0");
  ProbeMessage hello{ProbeType::hello, kToken, 0, 0};
  EXPECT_EQ(answer_to(here, encode(hello)), static_cast<ssize_t>(kProbeMessageBytes));
  hello.token[0] = 99;
  EXPECT_EQ(answer_to(here, encode(hello)), 0);
  responder->forget(kToken);
  hello.token = kToken;
  EXPECT_EQ(answer_to(here, encode(hello)), 0);
}

TEST(PathProbeResponder, IgnoresGarbage) {
  SKIP_WITHOUT_NAMESPACES();
  const Namespace here;
  const auto responder = responder_in(here, "0.0.0.0");
  EXPECT_EQ(answer_to(here, {}), 0);
  EXPECT_EQ(answer_to(here, {'N', 'B', 'P', '1'}), 0);
  EXPECT_EQ(answer_to(here, std::vector<std::uint8_t>(2000, 0xff)), 0);
  auto wrong_type = encode({ProbeType::hello, kToken, 0, 0});
  wrong_type[4] = 200;
  EXPECT_EQ(answer_to(here, wrong_type), 0);
  const ProbeMessage too_small{ProbeType::request, kToken, 3, 0};
  const ProbeMessage too_large{ProbeType::request, kToken, 0xffffffffU, 0};
  EXPECT_EQ(answer_to(here, encode(too_small)), static_cast<ssize_t>(kProbeMessageBytes));
  EXPECT_EQ(answer_to(here, encode(too_large)), static_cast<ssize_t>(kProbeMessageBytes));
  EXPECT_EQ(answer_to(here, encode({ProbeType::hello, kToken, 0, 0})),
            static_cast<ssize_t>(kProbeMessageBytes));
}

TEST(PathProbeResponder, HandsOnWhatIsNoProbe) {
  SKIP_WITHOUT_NAMESPACES();
  const Namespace here;
  std::atomic<std::size_t> handed_on{0};
  const Namespace::Stay stay(here);
  const auto responder = PathProbeResponder::start(
      udp_bound("0.0.0.0", kPort), [&](std::span<const std::uint8_t> datagram, const sockaddr*,
                                       socklen_t) { handed_on = datagram.size(); });
  ASSERT_TRUE(responder.has_value());
  EXPECT_EQ(answer_to(here, {1, 2, 3, 4, 5}), 0);
  EXPECT_EQ(handed_on, 5U);
  EXPECT_EQ(answer_to(here, encode({ProbeType::hello, kToken, 0, 0})), 0);
  EXPECT_EQ(handed_on, 5U) << "a probe with an unknown token is nobody's";
}

// An echo server for one namespace; ends with the object.
class EchoServer {
 public:
  explicit EchoServer(const Namespace& host) {
    const Namespace::Stay stay(host);
    listener_ = tcp_listener("0.0.0.0", kPort);
    thread_ = std::thread([this] { serve(); });
  }
  ~EchoServer() {
    stop_ = true;
    thread_.join();
  }
  EchoServer(const EchoServer&) = delete;
  EchoServer& operator=(const EchoServer&) = delete;

 private:
  void serve() {
    while (!stop_) {
      pollfd wait{listener_.get(), POLLIN, 0};
      if (::poll(&wait, 1, 20) == 1) {
        const UniqueFd client(::accept(listener_.get(), nullptr, nullptr));
        echo(client.get());
      }
    }
  }
  void echo(int client) {
    std::array<char, 65536> block{};
    while (!stop_) {
      pollfd wait{client, POLLIN, 0};
      if (::poll(&wait, 1, 20) != 1) {
        continue;
      }
      const ssize_t got = ::recv(client, block.data(), block.size(), MSG_DONTWAIT);
      if (got <= 0) {
        return;
      }
      ::send(client, block.data(), static_cast<std::size_t>(got), MSG_NOSIGNAL | MSG_DONTWAIT);
    }
  }

  UniqueFd listener_;
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

PathMtu mss_probe_from(const Namespace& host, std::int64_t interface_mtu) {
  const Namespace::Stay stay(host);
  const auto result = tcp_mss_probe(
      [](std::int64_t mss) -> Result<UniqueFd> {
        return tcp_connect("10.2.0.1", kPort, static_cast<int>(mss));
      },
      AF_INET, interface_mtu, Deadline::after(seconds(8)));
  EXPECT_TRUE(result.has_value());
  return result.value_or(PathMtu{});
}

TEST(TcpMssProbe, PassesTheFirstStepOnACleanPath) {
  SKIP_WITHOUT_NAMESPACES();
  const RoutedPath path(1500);
  const EchoServer server(path.b);
  const auto result = mss_probe_from(path.a, 1500);
  EXPECT_FALSE(result.black_hole) << result.note;
  EXPECT_GE(result.forward_bytes, 1448) << result.note;
  EXPECT_LE(result.forward_bytes, 1500) << result.note;
  EXPECT_EQ(result.method, kMethodTcp);
}

TEST(TcpMssProbe, StepsDownToWhatPassesThroughABlackHole) {
  SKIP_WITHOUT_NAMESPACES();
  const RoutedPath path(9000);
  silence_icmp(path);
  limit(path, "2", 1500);
  path.a.run("echo 0 >/proc/sys/net/ipv4/tcp_mtu_probing");
  const EchoServer server(path.b);
  const auto start_ns = monotonic_ns();
  const auto result = mss_probe_from(path.a, 9000);
  EXPECT_LT(monotonic_ns() - start_ns, 8'000'000'000);
  EXPECT_TRUE(result.black_hole) << result.note;
  EXPECT_GT(result.forward_bytes, 1228) << result.note;
  EXPECT_LE(result.forward_bytes, 1500) << result.note;
}

TEST(TcpMssProbe, PassesOnWhyThereIsNoConnection) {
  const auto result = tcp_mss_probe(
      [](std::int64_t) -> Result<UniqueFd> { return fail("peer-refused", "refused"); }, AF_INET,
      1500, Deadline::after(seconds(1)));
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().slug, "peer-refused");
}

}  // namespace
}  // namespace netbench::facts
