#include "transports/rdma/preflight.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>

#include "tests/unit/rdma/gids.hpp"
#include "tests/unit/rdma/tree.hpp"

namespace netbench::rdma {
namespace {

constexpr const char* kLimits =
    "Limit                     Soft Limit           Hard Limit           Units     \n"
    "Max processes             31000                31000                processes \n"
    "Max locked memory         65536                8388608              bytes     \n";
constexpr const char* kNoCaps = "Name:\tnetbench\nCapEff:\t0000000000000000\n";
constexpr const char* kAllCaps = "Name:\tnetbench\nCapEff:\t000001ffffffffff\n";

TEST(PinLimit, IsTheSoftLimitWithoutTheCapability) {
  Tree tree;
  tree.file("proc/self/limits", kLimits).file("proc/self/status", kNoCaps);
  const PinLimit limit = read_pin_limit(tree.root());
  EXPECT_EQ(limit.memlock_bytes, 65536U);
  EXPECT_FALSE(limit.cap_ipc_lock);
  const Check check = check_pin_limit(limit, 1 << 20);
  EXPECT_EQ(check.verdict, Verdict::failed);
  EXPECT_EQ(check.slug, "rdma-memlock");
  EXPECT_NE(check.message.find("1048576 B to pin"), std::string::npos);
  EXPECT_NE(check.message.find("65536 B"), std::string::npos);
  EXPECT_TRUE(check.remedy.starts_with("ulimit -l 1024 "));
  EXPECT_EQ(check_pin_limit(limit, 65536).verdict, Verdict::passed);
}

TEST(PinLimit, DoesNotCountWithTheCapability) {
  Tree tree;
  tree.file("proc/self/limits", kLimits).file("proc/self/status", kAllCaps);
  const PinLimit limit = read_pin_limit(tree.root());
  EXPECT_TRUE(limit.cap_ipc_lock);
  EXPECT_EQ(check_pin_limit(limit, UINT64_MAX).verdict, Verdict::passed);
}

TEST(PinLimit, ThatIsUnlimitedPasses) {
  Tree tree;
  tree.file("proc/self/limits", "Max locked memory         unlimited            unlimited bytes\n")
      .file("proc/self/status", kNoCaps);
  const PinLimit limit = read_pin_limit(tree.root());
  EXPECT_FALSE(limit.memlock_bytes);
  EXPECT_EQ(check_pin_limit(limit, UINT64_MAX).verdict, Verdict::passed);
}

TEST(PinLimit, ThatCannotBeReadIsUnknownAndNeverFine) {
  const Tree tree;
  const Check check = check_pin_limit(read_pin_limit(tree.root()), 1);
  EXPECT_EQ(check.verdict, Verdict::unknown);
  EXPECT_NE(check.message.find("cannot read"), std::string::npos);
}

TEST(PinLimit, OfThisProcessCanBeRead) { EXPECT_EQ(read_pin_limit().unknown_because, ""); }

TEST(DeviceNode, PassesWhereThisProcessMayUseIt) {
  Tree tree;
  tree.file("sys/class/infiniband_verbs/abi_version", "6\n")
      .file("sys/class/infiniband_verbs/uverbs0/ibdev", "mlx5_0\n")
      .file("sys/class/infiniband_verbs/uverbs1/ibdev", "mlx5_1\n")
      .file("dev/infiniband/uverbs1", "");
  EXPECT_EQ(check_device_node("mlx5_1", tree.root()).verdict, Verdict::passed);
  const Check absent = check_device_node("mlx5_0", tree.root());
  EXPECT_EQ(absent.verdict, Verdict::failed);
  EXPECT_EQ(absent.slug, "rdma-no-device-node");
  EXPECT_NE(absent.message.find("/dev/infiniband/uverbs0"), std::string::npos);
  EXPECT_EQ(check_device_node("mlx5_7", tree.root()).verdict, Verdict::unknown);
}

TEST(WhyNoDevice, IsThatThereIsNone) {
  const Tree tree;
  EXPECT_EQ(why_no_device(tree.root()).slug(), "rdma-no-device-here");
}

TEST(WhyNoDevice, IsThatTheKernelGivesProgramsNoAccess) {
  Tree tree;
  tree.file("sys/class/infiniband/mlx5_0/fw_ver", "28.45\n");
  EXPECT_EQ(why_no_device(tree.root()).slug(), "rdma-no-uverbs");
  EXPECT_NE(why_no_device(tree.root()).message().find("mlx5_0"), std::string::npos);
}

TEST(WhyNoDevice, IsAContainerWithoutDeviceNodes) {
  Tree tree;
  tree.file("sys/class/infiniband/mlx5_0/fw_ver", "28.45\n")
      .file("sys/class/infiniband_verbs/uverbs0/ibdev", "mlx5_0\n");
  const sdk::Error error = why_no_device(tree.root());
  EXPECT_EQ(error.slug(), "rdma-no-device-node");
  EXPECT_EQ(error.status(), NB_UNAVAILABLE);
  EXPECT_NE(error.remedy().find("--device=/dev/infiniband"), std::string::npos);
}

TEST(WhyNoDevice, IsTheProviderWhereAllElseIsThere) {
  Tree tree;
  tree.file("sys/class/infiniband/mlx5_0/fw_ver", "28.45\n")
      .file("sys/class/infiniband_verbs/uverbs0/ibdev", "mlx5_0\n")
      .file("dev/infiniband/uverbs0", "");
  EXPECT_EQ(why_no_device(tree.root()).slug(), "rdma-no-provider");
}

/// Root may open every file: this makes it somebody else for a while.
class Unprivileged {
 public:
  Unprivileged() : was_(::geteuid()) {
    if (was_ == 0) {
      EXPECT_EQ(::setresuid(kNobody, kNobody, 0), 0);
    }
  }
  Unprivileged(const Unprivileged&) = delete;
  Unprivileged& operator=(const Unprivileged&) = delete;
  ~Unprivileged() {
    if (was_ == 0) {
      EXPECT_EQ(::setresuid(0, 0, 0), 0);
    }
  }

 private:
  static constexpr uid_t kNobody = 65534;
  uid_t was_;
};

TEST(WhyNotOpened, IsThePermissionOfItsNode) {
  Tree tree;
  tree.file("sys/class/infiniband_verbs/uverbs0/ibdev", "mlx5_0\n")
      .file("dev/infiniband/uverbs0", "");
  std::filesystem::permissions(tree.root() + "/dev/infiniband/uverbs0",
                               std::filesystem::perms::none);
  const Unprivileged somebody;
  EXPECT_EQ(why_not_opened("mlx5_0", EACCES, tree.root()).slug(), "rdma-no-permission");
}

TEST(WhyNotOpened, IsTheErrnoWhereNothingElseShows) {
  const Tree tree;
  const sdk::Error error = why_not_opened("mlx5_0", EIO, tree.root());
  EXPECT_EQ(error.slug(), "rdma-open-failed");
  EXPECT_NE(error.message().find("Input/output error"), std::string::npos);
}

struct StateCase {
  LinkLayer layer;
  PortState state;
  Verdict verdict;
  const char* text;
};

class PortStates : public ::testing::TestWithParam<StateCase> {};

TEST_P(PortStates, AreExplainedByLinkLayer) {
  PortDescription port = port_of("mlx5_0", {});
  port.link_layer = GetParam().layer;
  port.state = GetParam().state;
  const Check check = check_port_state(port);
  EXPECT_EQ(check.verdict, GetParam().verdict);
  EXPECT_NE(check.message.find(GetParam().text), std::string::npos) << check.message;
}

INSTANTIATE_TEST_SUITE_P(
    State, PortStates,
    ::testing::Values(
        StateCase{LinkLayer::ethernet, PortState::active, Verdict::passed, "ACTIVE"},
        StateCase{LinkLayer::ethernet, PortState::down, Verdict::failed, "no carrier"},
        StateCase{LinkLayer::iwarp, PortState::down, Verdict::failed, "no carrier"},
        StateCase{LinkLayer::infiniband, PortState::down, Verdict::failed, "no link"},
        StateCase{LinkLayer::infiniband, PortState::init, Verdict::failed, "no subnet manager"},
        StateCase{LinkLayer::infiniband, PortState::armed, Verdict::failed, "not finished"},
        StateCase{LinkLayer::ethernet, PortState::unknown, Verdict::unknown, "unknown"}));

TEST(MtuCheck, NamesTheInterfaceAndWhatItWouldTake) {
  Tree tree;
  tree.file("sys/class/net/eth0/mtu", "1500\n");
  const Check check = check_mtu(port_of("rxe0", {entry(0, "10.0.0.1")}), tree.root());
  EXPECT_EQ(check.verdict, Verdict::warning);
  EXPECT_EQ(check.message,
            "rxe0 has a path MTU of 1024 B of 4096 B, since eth0 has an MTU of 1500 B");
  EXPECT_TRUE(check.remedy.starts_with("ip link set eth0 mtu 4192 "));
}

TEST(MtuCheck, PassesAtTheLargestAndOnInfiniband) {
  Tree tree;
  PortDescription port = port_of("rxe0", {entry(0, "10.0.0.1")});
  port.active_mtu_bytes = 4096;
  EXPECT_EQ(check_mtu(port, tree.root()).verdict, Verdict::passed);
  port.active_mtu_bytes = 2048;
  EXPECT_EQ(check_mtu(port, tree.root()).verdict, Verdict::unknown);
  port.link_layer = LinkLayer::infiniband;
  EXPECT_EQ(check_mtu(port, tree.root()).verdict, Verdict::passed);
}

TEST(Preflight, EndsWithTheFirstCheckThatFails) {
  Tree tree;
  tree.file("proc/self/limits", kLimits)
      .file("proc/self/status", kNoCaps)
      .file("sys/class/infiniband_verbs/uverbs0/ibdev", "rxe0\n")
      .file("dev/infiniband/uverbs0", "")
      .file("sys/class/net/eth0/mtu", "1500\n");
  PortDescription port = port_of("rxe0", {entry(0, "10.0.0.1")});
  EXPECT_TRUE(require(preflight({4096, &port}, tree.root())));
  EXPECT_EQ(require(preflight({1 << 20, &port}, tree.root())).error().slug(), "rdma-memlock");
  port.state = PortState::down;
  const auto refused = require(preflight({1 << 20, &port}, tree.root()));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().slug(), "rdma-port-not-active");
  EXPECT_EQ(refused.error().status(), NB_UNAVAILABLE);
}

}  // namespace
}  // namespace netbench::rdma
