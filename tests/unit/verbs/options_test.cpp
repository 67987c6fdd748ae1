#include <gtest/gtest.h>

#include <string>

#include "tests/unit/verbs/pair.hpp"

namespace netbench::verbs::test {
namespace {

struct Illegal {
  const char* name;
  Point point;
  const char* tunable;
};

class IllegalCombinations : public testing::TestWithParam<Illegal> {};

TEST_P(IllegalCombinations, AreRefusedNamingTheTunable) {
  try {
    (void)options_of(GetParam().point);
    FAIL() << "accepted";
  } catch (const sdk::Error& error) {
    EXPECT_EQ(error.status(), NB_INVALID);
    EXPECT_EQ(error.message().find(std::string(GetParam().tunable) + ": "), 0U) << error.message();
    EXPECT_FALSE(error.message().empty());
  }
}

const Illegal kIllegal[] = {
    {"ReadOnUc", {.values = {op(Op::read), qp(Qp::uc)}}, "op"},
    {"WriteOnUd", {.values = {op(Op::write), qp(Qp::ud)}}, "op"},
    {"ImmOnUd", {.values = {op(Op::write_imm), qp(Qp::ud)}}, "op"},
    {"AtomicOnUc", {.message_bytes = 8, .values = {op(Op::fetch_add), qp(Qp::uc)}}, "op"},
    {"AtomicOf64Bytes", {.message_bytes = 64, .values = {op(Op::compare_swap)}}, "op"},
    {"DatagramOfMoreThanAPathMtu",
     {.message_bytes = 2048, .values = {op(Op::send), qp(Qp::ud), {"path_mtu", 1024}}},
     "qp"},
    {"PathMtuOf1500", {.values = {{"path_mtu", 1500}}}, "path_mtu"},
    {"ChainBeyondDepth", {.values = {{"post_list", 64}, {"tx_depth", 8}}}, "post_list"},
    {"ModerationBeyondDepth",
     {.values = {{"cq_moderation", 64}, {"tx_depth", 8}}},
     "cq_moderation"},
    {"MoreThreadsThanQps", {.values = {{"threads", 4}}}, "threads"},
    {"InlineRead", {.values = {op(Op::read), {"inline", 64}}}, "inline"},
    {"ReadDepthOfWrites", {.values = {{"read_depth", 4}}}, "read_depth"},
    {"GidIndexOfLetters", {.values = {{"gid_index", 0, "one"}}}, "gid_index"},
    {"NoDevice", {.values = {{"device", 0, "/mlx5_0"}}}, "device"},
};
INSTANTIATE_TEST_SUITE_P(Rows, IllegalCombinations, testing::ValuesIn(kIllegal),
                         [](const auto& param) { return std::string(param.param.name); });

TEST(TextsOfBothEnds, AreReadByEachForItself) {
  const Point point{.values = {{"gid_index", 0, "1:3"}, {"device", 0, "mlx5_0/mlx4_0:2"}}};
  EXPECT_EQ(options_of(point, NB_INITIATOR).gid_index, 1U);
  EXPECT_EQ(options_of(point, NB_RESPONDER).gid_index, 3U);
  EXPECT_EQ(options_of(point, NB_INITIATOR).device, "mlx5_0");
  EXPECT_EQ(options_of(point, NB_RESPONDER).device, "mlx4_0:2");
}

}  // namespace
}  // namespace netbench::verbs::test
