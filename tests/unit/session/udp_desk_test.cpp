#include "bench/session/udp_desk.hpp"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "bench/session/wake.hpp"

namespace netbench::session {
namespace {

using std::chrono::milliseconds;

/// The owner of the agent's UDP socket: hands everything to the desk on a thread of its own, and
/// keeps what the desk did not want.
class Owner {
 public:
  explicit Owner(const std::string& address)
      : socket_(UdpDesk::open_socket(address, 0).value()), desk_(socket_.get()) {
    thread_ = start_thread("desk", [this] { loop(); });
  }
  ~Owner() {
    wake_.notify();
    thread_.join();
  }

  UdpDesk& desk() { return desk_; }
  [[nodiscard]] int unwanted() const { return unwanted_; }

 private:
  void loop() {
    std::array<pollfd, 2> fds{{{socket_.get(), POLLIN, 0}, {wake_.fd(), POLLIN, 0}}};
    while (::poll(fds.data(), fds.size(), -1) > 0 && fds[1].revents == 0) {
      std::array<std::uint8_t, 2048> buffer{};
      sockaddr_storage from{};
      socklen_t size = sizeof(from);
      auto* source = reinterpret_cast<sockaddr*>(&from);
      const auto got = ::recvfrom(socket_.get(), buffer.data(), buffer.size(), 0, source, &size);
      const auto length = static_cast<std::size_t>(std::max<ssize_t>(got, 0));
      unwanted_ += desk_.on_datagram(std::span(buffer).first(length), source, size) ? 0 : 1;
    }
  }

  UniqueFd socket_;
  UdpDesk desk_;
  WakeFd wake_;
  std::atomic<int> unwanted_{0};
  std::thread thread_;
};

/// A client's socket, connected to the agent.
UniqueFd client(const std::string& address, std::uint16_t port) {
  sockaddr_storage to{};
  socklen_t size = sizeof(sockaddr_in);
  auto* four = reinterpret_cast<sockaddr_in*>(&to);
  auto* six = reinterpret_cast<sockaddr_in6*>(&to);
  if (::inet_pton(AF_INET, address.c_str(), &four->sin_addr) == 1) {
    four->sin_family = AF_INET;
    four->sin_port = htons(port);
  } else {
    ::inet_pton(AF_INET6, address.c_str(), &six->sin6_addr);
    six->sin6_family = AF_INET6;
    six->sin6_port = htons(port);
    size = sizeof(sockaddr_in6);
  }
  UniqueFd fd(::socket(to.ss_family, SOCK_DGRAM, 0));
  EXPECT_EQ(::connect(fd.get(), reinterpret_cast<sockaddr*>(&to), size), 0);
  return fd;
}

void send_text(const UniqueFd& fd, std::string_view text) {
  ASSERT_EQ(::send(fd.get(), text.data(), text.size(), 0), static_cast<ssize_t>(text.size()));
}

std::string hello(const Token& token) {
  return NB_DATAGRAM_MAGIC + std::string(token.begin(), token.end());
}

/// What arrives within a second; "" where nothing does.
std::string receive_text(const UniqueFd& fd, milliseconds limit = milliseconds(1000)) {
  pollfd one{fd.get(), POLLIN, 0};
  std::array<char, 256> buffer{};
  if (::poll(&one, 1, static_cast<int>(limit.count())) != 1) {
    return {};
  }
  const auto got = ::recv(fd.get(), buffer.data(), buffer.size(), 0);
  return got < 0 ? std::string("error") : std::string(buffer.data(), static_cast<std::size_t>(got));
}

Result<UniqueFd> take(UdpDesk& desk, const Token& token, milliseconds limit = milliseconds(1000)) {
  return desk.take(token, {}, Deadline::after(limit));
}

TEST(UdpDesk, MakesASocketConnectedToTheSourceOfTheToken) {
  Owner owner("");
  const Token token = owner.desk().issue_token().value();
  const UniqueFd end = client("127.0.0.1", owner.desk().port());
  send_text(end, hello(token));
  const auto taken = take(owner.desk(), token);
  ASSERT_TRUE(taken.has_value()) << to_text(taken.error());
  EXPECT_EQ(local_address(taken->get()).port(), owner.desk().port());
  send_text(*taken, "from the agent");
  EXPECT_EQ(receive_text(end), "from the agent");
  send_text(end, "to the agent");
  EXPECT_EQ(receive_text(*taken), "to the agent");
}

TEST(UdpDesk, ServesIpv6OnTheSamePort) {
  Owner owner("");
  if (local_address(client("::1", owner.desk().port()).get()).size == 0) {
    GTEST_SKIP() << "no IPv6 here";
  }
  const Token token = owner.desk().issue_token().value();
  const UniqueFd end = client("::1", owner.desk().port());
  send_text(end, hello(token));
  const auto taken = take(owner.desk(), token);
  ASSERT_TRUE(taken.has_value()) << to_text(taken.error());
  send_text(*taken, "six");
  EXPECT_EQ(receive_text(end), "six");
}

TEST(UdpDesk, AnswersFromTheAddressThatTheCallerNames) {
  Owner owner("");
  const Token token = owner.desk().issue_token().value();
  const UniqueFd end = client("127.0.0.2", owner.desk().port());
  send_text(end, hello(token));
  const auto taken =
      owner.desk().take(token, peer_address(end.get()), Deadline::after(milliseconds(1000)));
  ASSERT_TRUE(taken.has_value()) << to_text(taken.error());
  EXPECT_EQ(local_address(taken->get()).host(), "127.0.0.2");
  send_text(*taken, "here");
  EXPECT_EQ(receive_text(end), "here");
}

TEST(UdpDesk, LetsTheRouteDecideWhereTheNamedAddressIsOfNoUse) {
  Owner owner("");
  const Token token = owner.desk().issue_token().value();
  const UniqueFd end = client("127.0.0.1", owner.desk().port());
  send_text(end, hello(token));
  sockaddr_in elsewhere{};
  elsewhere.sin_family = AF_INET;
  elsewhere.sin_addr.s_addr = htonl(0xC000024D);  // 192.0.2.77, RFC 5737
  const SocketAddress named =
      make_address(reinterpret_cast<sockaddr*>(&elsewhere), sizeof(elsewhere));
  const auto taken = owner.desk().take(token, named, Deadline::after(milliseconds(1000)));
  ASSERT_TRUE(taken.has_value()) << to_text(taken.error());
  send_text(*taken, "routed");
  EXPECT_EQ(receive_text(end), "routed");
}

TEST(UdpDesk, KeepsManySourcesApartAndTheirDataFromTheSharedSocket) {
  Owner owner("");
  std::vector<UniqueFd> ends;
  std::vector<UniqueFd> taken;
  for (int i = 0; i < 8; ++i) {
    const Token token = owner.desk().issue_token().value();
    ends.push_back(client("127.0.0.1", owner.desk().port()));
    send_text(ends.back(), hello(token));
    taken.push_back(take(owner.desk(), token).value());
  }
  const int unwanted = owner.unwanted();
  for (std::size_t i = 0; i < ends.size(); ++i) {
    send_text(ends[i], "data " + std::to_string(i));
  }
  for (std::size_t i = 0; i < taken.size(); ++i) {
    EXPECT_EQ(receive_text(taken[i]), "data " + std::to_string(i));
  }
  EXPECT_EQ(owner.unwanted(), unwanted);
}

TEST(UdpDesk, ATokenWorksOnce) {
  Owner owner("127.0.0.1");
  const Token token = owner.desk().issue_token().value();
  const UniqueFd end = client("127.0.0.1", owner.desk().port());
  send_text(end, hello(token));
  ASSERT_TRUE(take(owner.desk(), token).has_value());
  send_text(end, hello(token));
  const auto again = take(owner.desk(), token, milliseconds(100));
  ASSERT_FALSE(again.has_value());
  EXPECT_EQ(again.error().slug, "unknown-token");
}

TEST(UdpDesk, TheTokenStaysGoodAfterATimeOut) {
  Owner owner("127.0.0.1");
  const Token token = owner.desk().issue_token().value();
  const auto early = take(owner.desk(), token, milliseconds(30));
  ASSERT_FALSE(early.has_value());
  EXPECT_EQ(early.error().slug, "data-timeout");
  const UniqueFd end = client("127.0.0.1", owner.desk().port());
  send_text(end, hello(token));
  EXPECT_TRUE(take(owner.desk(), token).has_value());
}

TEST(UdpDesk, NeverAnswersStrangers) {
  Owner owner("127.0.0.1");
  const Token token = owner.desk().issue_token().value();
  const UniqueFd end = client("127.0.0.1", owner.desk().port());
  Token wrong = token;
  wrong[0] ^= 1;
  const std::vector<std::string> garbage = {"",
                                            "x",
                                            "NBU1",
                                            hello(wrong),
                                            hello(token) + "x",
                                            "NBD1" + hello(token).substr(4),
                                            std::string(1400, 'z')};
  for (const std::string& text : garbage) {
    send_text(end, text);
  }
  EXPECT_EQ(receive_text(end, milliseconds(200)), "");
  EXPECT_EQ(owner.unwanted(), static_cast<int>(garbage.size()));
  send_text(end, hello(token));
  EXPECT_TRUE(take(owner.desk(), token).has_value());
}

TEST(UdpDesk, ClearEndsAWaitingTake) {
  Owner owner("127.0.0.1");
  const Token token = owner.desk().issue_token().value();
  std::thread clearing([&] {
    std::this_thread::sleep_for(milliseconds(50));
    owner.desk().clear();
  });
  const auto taken = take(owner.desk(), token, milliseconds(5000));
  clearing.join();
  ASSERT_FALSE(taken.has_value());
  EXPECT_EQ(taken.error().slug, "unknown-token");
}

TEST(UdpDesk, SaysThatAPortIsTaken) {
  const UniqueFd other(::socket(AF_INET, SOCK_DGRAM, 0));
  sockaddr_in any{};
  any.sin_family = AF_INET;
  any.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  ASSERT_EQ(::bind(other.get(), reinterpret_cast<sockaddr*>(&any), sizeof(any)), 0);
  const auto opened = UdpDesk::open_socket("127.0.0.1", local_address(other.get()).port());
  ASSERT_FALSE(opened.has_value());
  EXPECT_EQ(opened.error().slug, "udp-port-in-use");
  EXPECT_EQ(UdpDesk::open_socket("not an address", 0).error().slug, "bad-address");
  EXPECT_EQ(UdpDesk::open_socket("192.0.2.77", 0).error().slug, "bad-address");
}

/// A host that knows one extension.
struct TestHost {
  explicit TestHost(const UdpDesk& desk) {
    host.struct_size = sizeof(nb_host);
    host.context = const_cast<void*>(static_cast<const void*>(desk.table()));
    host.extension = [](const nb_host* self, const char* id) -> const void* {
      return std::strcmp(id, NB_DATAGRAM_RENDEZVOUS_ID) == 0 ? self->context : nullptr;
    };
  }
  nb_host host{};
};

TEST(UdpDesk, WorksThroughTheCTable) {
  Owner owner("");
  const TestHost host(owner.desk());
  const nb_datagram_rendezvous& table = *owner.desk().table();
  Token token{};
  ASSERT_EQ(table.issue_token(&host.host, token.data()), NB_OK);
  int fd = -1;
  EXPECT_EQ(table.take_peer(&host.host, token.data(), nullptr, 0, 10'000'000, &fd), NB_TIMED_OUT);
  const UniqueFd end = client("127.0.0.1", owner.desk().port());
  send_text(end, hello(token));
  ASSERT_EQ(table.take_peer(&host.host, token.data(), nullptr, 0, 1'000'000'000, &fd), NB_OK);
  const UniqueFd taken(fd);
  send_text(taken, "hi");
  EXPECT_EQ(receive_text(end), "hi");
  EXPECT_EQ(table.take_peer(&host.host, token.data(), nullptr, 0, 10'000'000, &fd), NB_FAILED);
}

}  // namespace
}  // namespace netbench::session
