#include "bench/plan/levels.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/unit/plan/specs.hpp"

namespace netbench::plan {
namespace {

std::vector<std::int64_t> numbers(const Result<std::vector<Level>>& levels) {
  std::vector<std::int64_t> out;
  if (levels) {
    std::ranges::transform(*levels, std::back_inserter(out), &Level::number);
  }
  return out;
}

using Numbers = std::vector<std::int64_t>;

TEST(Levels, SingleValueIsReadInTheUnitOfTheTunable) {
  EXPECT_EQ(numbers(parse_levels(buffer_tunable(), "64K")), Numbers{65536});
}

TEST(Levels, ListsKeepTheirOrderAndDropRepeats) {
  EXPECT_EQ(numbers(parse_levels(buffer_tunable(), "1M,64K,1M")), (Numbers{1 << 20, 65536}));
}

TEST(Levels, GeometricRangeAlwaysIncludesTheUpperEnd) {
  EXPECT_EQ(numbers(parse_levels(buffer_tunable(), "64K:1M:x4")),
            (Numbers{65536, 262144, 1 << 20}));
  EXPECT_EQ(numbers(parse_levels(buffer_tunable(), "64K:1M:x10")),
            (Numbers{65536, 655360, 1 << 20}));
}

TEST(Levels, ArithmeticRangeStepsInTheUnit) {
  EXPECT_EQ(numbers(parse_levels(buffer_tunable(), "4K:12K:+4K")), (Numbers{4096, 8192, 12288}));
  EXPECT_EQ(numbers(parse_levels(buffer_tunable(), "4K:10K:+4K")), (Numbers{4096, 8192, 10240}));
}

TEST(Levels, AutoIsALevelBesideNumbers) {
  const auto levels = parse_levels(buffer_tunable(), "auto,64K");
  ASSERT_TRUE(levels);
  ASSERT_EQ(levels->size(), 2U);
  EXPECT_TRUE(levels->front().is_auto);
  EXPECT_EQ(to_string(levels->front()), "auto");
}

TEST(Levels, AutoIsRefusedWhereTheTunableDoesNotAllowIt) {
  Tunable strict = buffer_tunable();
  strict.allows_auto = false;
  EXPECT_EQ(parse_levels(strict, "auto").error().slug, "bad-level");
}

TEST(Levels, BooleansTakeEverydayWords) {
  EXPECT_EQ(numbers(parse_levels(nodelay_tunable(), "on,off,true,false")), (Numbers{1, 0}));
  EXPECT_EQ(to_string(*parse_level(nodelay_tunable(), "no")), "off");
}

TEST(Levels, ChoicesAreIndexAndName) {
  const auto level = parse_level(congestion_tunable(), "bbr");
  ASSERT_TRUE(level);
  EXPECT_EQ(level->number, 1);
  EXPECT_EQ(to_string(*level), "bbr");
}

TEST(Levels, NearChoiceIsSuggested) {
  const auto level = parse_level(congestion_tunable(), "cubik");
  ASSERT_FALSE(level);
  EXPECT_NE(level.error().message.find("did you mean \"cubic\"?"), std::string::npos);
  EXPECT_NE(level.error().remedy.find("cubic, bbr, dctcp"), std::string::npos);
  EXPECT_EQ(level.error().exit_class, ExitClass::usage);
}

TEST(Levels, TextKeepsColonsOfIpv6Addresses) {
  EXPECT_EQ(parse_level(bind_tunable(), "fe80::1")->text, "fe80::1");
}

TEST(Levels, ErrorNamesTunableValueRangeAndUnit) {
  const auto levels = parse_levels(buffer_tunable(), "1K");
  ASSERT_FALSE(levels);
  EXPECT_EQ(levels.error().slug, "bad-level");
  EXPECT_NE(levels.error().message.find("--tcp.sndbuf \"1K\""), std::string::npos);
  EXPECT_NE(levels.error().remedy.find("a size from 4K to 256M, or auto"), std::string::npos);
}

class BadLevels : public testing::TestWithParam<const char*> {};
TEST_P(BadLevels, AreRefused) {
  const auto levels = parse_levels(buffer_tunable(), GetParam());
  ASSERT_FALSE(levels);
  EXPECT_EQ(levels.error().slug, "bad-level");
}
INSTANTIATE_TEST_SUITE_P(Buffer, BadLevels,
                         testing::Values("", ",", "64K,", "64Q", "-64K", "1T", "64K:1M",
                                         "1M:64K:x2", "64K:1M:x1", "64K:1M:x0", "64K:1M:+0",
                                         "64K:1M:2", "64K:1M:x-2", "64K:1M:x2:x2", "4K:256M:+1",
                                         "auto:1M:x2", "64K:1M:xx", "on"));

TEST(Sizes, AreParsedWithRanges) {
  EXPECT_EQ(*parse_sizes("1:8M:x4"), (Numbers{1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144,
                                              1 << 20, 4 << 20, 8 << 20}));
}

TEST(Sizes, RangesUpToTheLargestNumberEnd) {
  const auto sizes = parse_sizes("1:4611686018427387904:x1024");
  ASSERT_TRUE(sizes);
  EXPECT_EQ(sizes->back(), 4611686018427387904);
}

class BadSizes : public testing::TestWithParam<const char*> {};
TEST_P(BadSizes, AreRefused) {
  const auto sizes = parse_sizes(GetParam());
  ASSERT_FALSE(sizes);
  EXPECT_EQ(sizes.error().slug, "bad-size");
  EXPECT_EQ(sizes.error().exit_class, ExitClass::usage);
}
INSTANTIATE_TEST_SUITE_P(Sizes, BadSizes,
                         testing::Values("0", "-1", "9223372036854775808", "1Q", "", "64,", "auto",
                                         "1:1M:+1", "1e30", "nan", "0:8:x2"));

TEST(Mtus, AreLimitedByIpv4) {
  EXPECT_EQ(*parse_mtus("1500,9000"), (Numbers{1500, 9000}));
  EXPECT_EQ(parse_mtus("67").error().slug, "bad-mtu");
  EXPECT_EQ(parse_mtus("65536").error().slug, "bad-mtu");
}

TEST(LevelNotation, IsReadBackAsTheSameLevel) {
  for (const std::int64_t number : {4096L, 4097L, 65536L, 3L << 20, 256L << 20}) {
    const Level level = Level::integer(number);
    EXPECT_EQ(*parse_level(buffer_tunable(), to_string(level, Unit::bytes)), level);
  }
  EXPECT_EQ(to_string(Level::integer(100'000'000), Unit::bits_per_second), "100M");
  EXPECT_EQ(to_string(Level::integer(50'000), Unit::nanoseconds), "50us");
  EXPECT_EQ(to_string(Level::integer(0), Unit::nanoseconds), "0ns");
}

TEST(Level, OrdersAutoBeforeNumbers) {
  EXPECT_LT(Level::automatic(), Level::integer(-5));
  EXPECT_LT(Level::integer(2), Level::integer(10));
}

TEST(Level, BecomesATypedValueOfTheDocument) {
  EXPECT_EQ(to_value(buffer_tunable(), Level::automatic()), Value(std::string("auto")));
  EXPECT_EQ(to_value(buffer_tunable(), Level::integer(7)), Value(std::int64_t{7}));
  EXPECT_EQ(to_value(nodelay_tunable(), Level{1, "on", false}), Value(true));
  EXPECT_EQ(to_value(congestion_tunable(), Level{1, "bbr", false}), Value(std::string("bbr")));
}

TEST(NearestName, IsEmptyWhereNothingIsNear) {
  const std::vector<std::string> names{"cubic", "bbr"};
  EXPECT_EQ(nearest_name("cubc", names), "cubic");
  EXPECT_EQ(nearest_name("quantum", names), "");
}

}  // namespace
}  // namespace netbench::plan
