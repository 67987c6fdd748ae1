#include "transports/rdma/device.hpp"

#include <gtest/gtest.h>

#include <cerrno>

#include "tests/unit/rdma/gids.hpp"
#include "tests/unit/rdma/tree.hpp"
#include "transports/rdma/testing/fake_verbs.hpp"

namespace netbench::rdma {
namespace {

using testing::FakeDevice;
using testing::FakePort;
using testing::FakeVerbs;

FakeDevice device(const std::string& name, std::vector<GidEntry> gids = {}) {
  FakeDevice made;
  made.name = name;
  made.ports[0].gids = std::move(gids);
  return made;
}

TEST(Gid, HasTheTextAndFamilyOfItsAddress) {
  EXPECT_EQ(text_of(gid_at("10.77.0.1")), "10.77.0.1");
  EXPECT_EQ(text_of(gid_at("fd77::1")), "fd77::1");
  EXPECT_EQ(family_of(gid_at("10.77.0.1")), GidFamily::ipv4);
  EXPECT_EQ(family_of(gid_at("fe80::1")), GidFamily::link_local);
  EXPECT_EQ(family_of(gid_at("fd77::1")), GidFamily::ipv6);
  EXPECT_TRUE(is_zero(Gid{}));
}

TEST(PortDescription, IsReadFromTheVerbsCalls) {
  FakeDevice spec = device("mlx5_0", {entry(3, "127.0.0.1", 0, GidType::roce_v2, "lo"),
                                      entry(4, "fd77::9", 0, GidType::roce_v1, "")});
  spec.ports[0].attributes.lid = 12;
  FakeVerbs fake({spec});
  const VerbsTable verbs = fake.table();
  const Context context = take(Context::open(verbs, "mlx5_0"));
  const auto port = describe_port(context, 1);
  ASSERT_TRUE(port) << port.error().message();
  EXPECT_EQ(port->device, "mlx5_0");
  EXPECT_EQ(port->state, PortState::active);
  EXPECT_EQ(port->link_layer, LinkLayer::ethernet);
  EXPECT_EQ(port->active_mtu_bytes, 1024U);
  EXPECT_EQ(port->max_mtu_bytes, 4096U);
  EXPECT_EQ(port->lid, 12);
  ASSERT_EQ(port->gids.size(), 2U);
  EXPECT_EQ(port->gids[0], entry(3, "127.0.0.1", 8, GidType::roce_v2, "lo"));  // of lo's address
  EXPECT_EQ(port->gids[1].type, GidType::roce_v1);
}

TEST(PortDescription, HasItsGidsFromSysfsWhereTheLibraryIsOlder) {
  Tree tree;
  const std::string port = "sys/class/infiniband/mlx5_0/ports/1/";
  tree.file(port + "gids/0", "fe80:0000:0000:0000:0202:c9ff:fe00:0001\n")
      .file(port + "gids/1", "0000:0000:0000:0000:0000:0000:0000:0000\n")
      .file(port + "gids/2", "0000:0000:0000:0000:0000:ffff:0a4d:0001\n")
      .file(port + "gid_attrs/types/0", "IB/RoCE v1\n")
      .file(port + "gid_attrs/types/2", "RoCE v2\n")
      .file(port + "gid_attrs/ndevs/2", "eth7\n");
  FakeVerbs fake({device("mlx5_0")});
  VerbsTable verbs = fake.table();
  verbs.query_gid_table = nullptr;
  const Context context = take(Context::open(verbs, "mlx5_0"));
  const auto described = describe_port(context, 1, tree.root());
  ASSERT_TRUE(described);
  ASSERT_EQ(described->gids.size(), 2U);
  EXPECT_EQ(described->gids[0].type, GidType::roce_v1);
  EXPECT_EQ(described->gids[1], entry(2, "10.77.0.1", 0, GidType::roce_v2, "eth7"));
}

TEST(PortDescription, OfIwarpHasTheAddressesOfTheInterfaceWithItsMac) {
  Tree tree;
  tree.file("sys/class/net/eth9/address", "52:54:00:77:00:01\n")
      .file("sys/class/net/lo/address", "00:00:00:00:00:07\n");
  FakeDevice spec = device("siw0", {{0, {0, 0, 0, 0, 0, 7}, GidType::infiniband, "", 0}});
  spec.iwarp = true;
  FakeVerbs fake({spec});
  const VerbsTable verbs = fake.table();
  const Context context = take(Context::open(verbs, "siw0"));
  const PortDescription port = take(describe_port(context, 1, tree.root()));
  EXPECT_EQ(port.link_layer, LinkLayer::iwarp);
  ASSERT_FALSE(port.gids.empty());
  EXPECT_EQ(port.gids[0], entry(0, "127.0.0.1", 8, GidType::iwarp, "lo"));
}

TEST(SocketAddress, IsOfTheEntrysFamily) {
  EXPECT_EQ(socket_address(entry(0, "10.77.0.2"), 9).text(), "10.77.0.2:9");
  EXPECT_EQ(socket_address(entry(0, "fd77::2"), 9).text(), "[fd77::2]:9");
}

TEST(PortDescription, OfAnOldLibraryWithoutALinkLayerIsInfiniband) {
  FakeDevice spec = device("mlx4_0");
  spec.ports[0].attributes.link_layer = IBV_LINK_LAYER_UNSPECIFIED;
  FakeVerbs fake({spec});
  const VerbsTable verbs = fake.table();
  const Context context = take(Context::open(verbs, "mlx4_0"));
  EXPECT_EQ(take(describe_port(context, 1)).link_layer, LinkLayer::infiniband);
}

TEST(PortDescription, OfAPortThatIsNotThereIsAnError) {
  FakeVerbs fake;
  const VerbsTable verbs = fake.table();
  const Context context = take(Context::open(verbs, "fake0"));
  EXPECT_EQ(describe_port(context, 2).error().slug(), "rdma-no-port");
}

TEST(DeviceLimits, AreThoseOfTheDevice) {
  FakeDevice spec = device("mlx5_0");
  spec.attributes.max_qp_rd_atom = 300;
  spec.attributes.max_qp_init_rd_atom = 4;
  spec.attributes.atomic_cap = IBV_ATOMIC_NONE;
  FakeVerbs fake({spec});
  const VerbsTable verbs = fake.table();
  const Context context = take(Context::open(verbs, "mlx5_0"));
  const DeviceLimits limits = take(describe_limits(context));
  EXPECT_EQ(limits.max_reads_in, 255);
  EXPECT_EQ(limits.max_reads_out, 4);
  EXPECT_FALSE(limits.atomics);
  EXPECT_EQ(limits.firmware, "1.2.3");
}

TEST(Rails, AreEveryPortOfEveryDevice) {
  FakeDevice two = device("mlx4_0", {entry(0, "10.0.0.1")});
  two.ports.push_back(FakePort());
  FakeVerbs fake({two, device("mlx5_0", {entry(0, "10.0.1.1")})});
  const VerbsTable verbs = fake.table();
  const std::vector<Rail> rails = take(list_rails(verbs));
  ASSERT_EQ(rails.size(), 3U);
  EXPECT_EQ(rail_name(rails[0].port), "mlx4_0:1");
  EXPECT_EQ(rail_name(rails[1].port), "mlx4_0:2");
  EXPECT_EQ(rail_name(rails[2].port), "mlx5_0");
  EXPECT_EQ(fake.live(), 0U);
}

TEST(Rails, ThatCannotBeOpenedSayWhy) {
  FakeVerbs fake;
  const VerbsTable verbs = fake.table();
  Tree tree;
  tree.file("sys/class/infiniband_verbs/uverbs0/ibdev", "fake0\n");
  fake.refuse("open_device", ENOENT);
  const std::vector<Rail> rails = take(list_rails(verbs, tree.root()));
  ASSERT_EQ(rails.size(), 1U);
  EXPECT_NE(rails[0].problem.find("no /dev/infiniband/uverbs0"), std::string::npos);
  const auto chosen = choose_rail(rails, {});
  ASSERT_FALSE(chosen);
  EXPECT_EQ(chosen.error().slug(), "rdma-no-port");
  EXPECT_NE(chosen.error().message().find("fake0: the kernel has fake0"), std::string::npos);
}

std::vector<Rail> three_rails() {
  std::vector<Rail> rails(3);
  rails[0].port = port_of("mlx5_0", {entry(0, "10.0.0.1", 24, GidType::roce_v2, "eth0")});
  rails[0].port.state = PortState::down;
  rails[1].port = port_of("mlx5_1", {entry(0, "10.0.1.1", 24, GidType::roce_v2, "eth1")});
  rails[2].port = port_of("mlx5_2", {entry(0, "10.0.2.1", 24, GidType::roce_v2, "eth2")});
  return rails;
}

TEST(ChooseRail, TakesTheFirstThatIsActive) {
  const std::vector<Rail> rails = three_rails();
  EXPECT_EQ(take(choose_rail(rails, {}))->port.device, "mlx5_1");
}

TEST(ChooseRail, TakesTheOneOnTheInterfaceThatIsPreferredOrAskedFor) {
  const std::vector<Rail> rails = three_rails();
  RailWish wish;
  wish.preferred_interface = "eth2";
  EXPECT_EQ(take(choose_rail(rails, wish))->port.device, "mlx5_2");
  wish.preferred_interface = "eth9";
  EXPECT_EQ(take(choose_rail(rails, wish))->port.device, "mlx5_1");
  wish.interface = "eth9";
  EXPECT_FALSE(choose_rail(rails, wish));
}

TEST(ChooseRail, NamesEveryRailWithWhyItWasRefused) {
  const std::vector<Rail> rails = three_rails();
  RailWish wish;
  wish.rail = "mlx5_0";
  const auto chosen = choose_rail(rails, wish);
  ASSERT_FALSE(chosen);
  const std::string& message = chosen.error().message();
  EXPECT_NE(message.find("mlx5_0: mlx5_0 is DOWN"), std::string::npos) << message;
  EXPECT_NE(message.find("mlx5_2: mlx5_0 is asked for"), std::string::npos) << message;
}

TEST(ChooseRail, UnderstandsAPortByNumber) {
  const std::vector<Rail> rails = three_rails();
  RailWish wish;
  wish.rail = "mlx5_2:1";
  EXPECT_EQ(take(choose_rail(rails, wish))->port.device, "mlx5_2");
}

}  // namespace
}  // namespace netbench::rdma
