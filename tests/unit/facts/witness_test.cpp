#include "bench/facts/witness.hpp"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include "bench/core/unique_fd.hpp"
#include "tests/unit/facts/namespaces.hpp"

namespace netbench::facts {
namespace {

// As Linux on a little-endian machine prints them.
constexpr std::string_view kTcp =
    "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid\n"
    "   0: 0100007F:4876 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0\n"
    "   1: 6501A8C0:4876 6401A8C0:D431 01 00000000:00000000 00:00000000 00000000     0\n"
    "   2: 00000000:0016 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0\n";
constexpr std::string_view kTcp6 =
    "  sl  local_address                         remote_address                        st\n"
    "   0: 00000000000000000000000001000000:4876 00000000000000000000000000000000:0000 0A\n";

TEST(Listeners, AreThoseOfThePortAlone) {
  EXPECT_EQ(listening_addresses(kTcp, kTcp6, 18550), "127.0.0.1:18550 [::1]:18550");
  EXPECT_EQ(listening_addresses(kTcp, kTcp6, 22), "0.0.0.0:22");
  EXPECT_EQ(listening_addresses(kTcp, kTcp6, 80), "");
}

TEST(Listeners, AreNotMadeOutOfNonsense) {
  EXPECT_EQ(listening_addresses("a b c 0A\n 0: zz:4876 x 0A\n 0: 01:4876 x 0A", "", 18550), "");
}

TEST(Witness, SeesTheListenerTheWayBackAndTheResets) {
  SKIP_WITHOUT_NAMESPACES();
  const Namespace here;
  const Namespace there;
  here.run("ip link add va0 type veth peer name vb0 netns " + there.path());
  here.run("ip addr add 10.9.0.1/24 dev va0 && ip link set va0 up");
  there.run("ip addr add 10.9.0.2/24 dev vb0 && ip link set vb0 up");
  const Namespace::Stay stay(here);
  const UniqueFd listener(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(18550);
  ASSERT_EQ(::inet_pton(AF_INET, "10.9.0.1", &address.sin_addr), 1);
  ASSERT_EQ(::bind(listener.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)),
            0);
  ASSERT_EQ(::listen(listener.get(), 1), 0);
  const auto network = open_kernel_network();
  ASSERT_TRUE(network);
  const Witness before = look_as_witness({"10.9.0.2", "10.9.0.1", 18550}, **network);
  EXPECT_EQ(before.listens_on, "10.9.0.1:18550");
  EXPECT_EQ(before.way_back, "va0");
  EXPECT_TRUE(before.has_address);
  there.run("! timeout 2 bash -c '</dev/tcp/10.9.0.1/18551' 2>/dev/null");  // a closed port
  const Witness after = look_as_witness({"10.7.7.7", "10.9.0.3", 18551}, **network);
  EXPECT_EQ(after.listens_on, "");
  EXPECT_EQ(after.way_back, "");
  EXPECT_FALSE(after.has_address);
  EXPECT_EQ(after.out_rsts - before.out_rsts, 1);
}

}  // namespace
}  // namespace netbench::facts
