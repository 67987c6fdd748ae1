#include "bench/measure/mtu_axis.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace netbench::measure {
namespace {

/// Records the order of calls: "local 1500", "remote 9000", "verify 9000".
struct Recorder {
  std::vector<std::string> calls;
  std::string failing;

  MtuAxis::Setter setter(const std::string& name) {
    return [this, name](std::int64_t mtu) -> Status {
      calls.push_back(name + " " + std::to_string(mtu));
      return calls.back() == failing ? fail("mtu-refused", "no") : Status{};
    };
  }
  MtuAxis axis(const MtuSituation& situation) {
    return MtuAxis(situation, setter("local"), setter("remote"), setter("verify"));
  }
};

using Calls = std::vector<std::string>;

TEST(MtuLevel, IsAsIsWhereBothInterfacesHaveIt) {
  EXPECT_EQ(mtu_level(1500, {1500, 1500, "", ""}).way, MtuWay::as_is);
  EXPECT_EQ(mtu_level(0, {1500, 9000, "", ""}).way, MtuWay::as_is);
}

TEST(MtuLevel, IsEmulatedDownwardsWhereAnEndRefuses) {
  const MtuLevel level = mtu_level(1500, {9000, 9000, "", "not allowed"});
  EXPECT_EQ(level.way, MtuWay::emulated);
  EXPECT_NE(level.reason.find("not allowed"), std::string::npos);
}

TEST(MtuLevel, IsNotVariedUpwardsWhereAnEndRefuses) {
  const MtuLevel level = mtu_level(9000, {1500, 1500, "no privilege", ""});
  EXPECT_EQ(level.way, MtuWay::not_varied);
  EXPECT_NE(level.reason.find("no privilege"), std::string::npos);
}

TEST(MtuAxis, RaisesTheResponderFirstAndLowersTheInitiatorFirst) {
  Recorder recorder;
  {
    MtuAxis axis = recorder.axis({1500, 1500, "", ""});
    ASSERT_TRUE(axis.apply(9000));
    ASSERT_TRUE(axis.apply(2000));
  }
  EXPECT_EQ(recorder.calls, (Calls{"remote 9000", "local 9000", "verify 9000", "local 2000",
                                   "remote 2000", "verify 2000", "remote 0", "local 0"}));
}

TEST(MtuAxis, ChangesNothingWhileTheLevelStays) {
  Recorder recorder;
  MtuAxis axis = recorder.axis({1500, 1500, "", ""});
  ASSERT_TRUE(axis.apply(9000));
  const std::size_t calls = recorder.calls.size();
  ASSERT_TRUE(axis.apply(9000));
  EXPECT_EQ(recorder.calls.size(), calls);
}

TEST(MtuAxis, RestoresBothEndsWhenAChangeFails) {
  Recorder recorder;
  recorder.failing = "verify 9000";
  MtuAxis axis = recorder.axis({1500, 1500, "", ""});
  const Status applied = axis.apply(9000);
  ASSERT_FALSE(applied);
  EXPECT_EQ(applied.error().slug, "mtu-refused");
  EXPECT_EQ(recorder.calls,
            (Calls{"remote 9000", "local 9000", "verify 9000", "remote 0", "local 0"}));
}

TEST(MtuAxis, RepeatsTheErrorOfALevelWithoutTryingAgain) {
  Recorder recorder;
  recorder.failing = "remote 9000";
  MtuAxis axis = recorder.axis({1500, 1500, "", ""});
  ASSERT_FALSE(axis.apply(9000));
  const std::size_t calls = recorder.calls.size();
  EXPECT_FALSE(axis.apply(9000));
  EXPECT_EQ(recorder.calls.size(), calls);
}

}  // namespace
}  // namespace netbench::measure
