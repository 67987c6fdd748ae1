#include "bench/session/address.hpp"

#include <gtest/gtest.h>

#include "support.hpp"

namespace netbench::session {
namespace {

struct PeerCase {
  const char* text;
  const char* host;
  int port;
};

TEST(ParsePeer, ReadsEveryForm) {
  for (const PeerCase& one :
       std::initializer_list<PeerCase>{{"node7", "node7", 18550},
                                       {"node7:99", "node7", 99},
                                       {"192.168.1.101", "192.168.1.101", 18550},
                                       {"192.168.1.101:65535", "192.168.1.101", 65535},
                                       {"[fe80::1%eth0]:7", "fe80::1%eth0", 7},
                                       {"[::1]", "::1", 18550},
                                       {"::1", "::1", 18550},
                                       {"fe80::1%eth0", "fe80::1%eth0", 18550}}) {
    const auto peer = parse_peer(one.text);
    ASSERT_TRUE(peer) << one.text;
    EXPECT_EQ(peer->host, one.host) << one.text;
    EXPECT_EQ(peer->port, one.port) << one.text;
  }
}

TEST(ParsePeer, RefusesWhatIsNoneAndSaysTheForms) {
  for (const char* text : {"", ":99", "node7:", "node7:0", "node7:65536", "node7:x", "[::1", "[]",
                           "[::1]99", "[::1]:", "node7:99x"}) {
    const auto peer = parse_peer(text);
    ASSERT_FALSE(peer) << text;
    EXPECT_EQ(peer.error().slug, "bad-peer");
    EXPECT_EQ(peer.error().exit_class, ExitClass::usage);
    EXPECT_NE(peer.error().remedy.find("[IPv6]:PORT"), std::string::npos);
  }
}

TEST(SocketAddress, MappedAddressesComeOutAsIpv4) {
  auto listener = Listener::open("", 0).value();
  const UniqueFd client = test::connect_raw(listener.port());
  UniqueFd server;
  ASSERT_TRUE(test::eventually([&] {
    server.reset(::accept4(listener.fd(), nullptr, nullptr, SOCK_CLOEXEC));
    return server.valid();
  }));
  const SocketAddress peer = peer_address(server.get());
  EXPECT_EQ(peer.family(), AF_INET);
  EXPECT_EQ(peer.host(), "127.0.0.1");
  EXPECT_EQ(peer.text(), local_address(client.get()).text());
}

}  // namespace
}  // namespace netbench::session
