#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/unit/verbs/pair.hpp"

namespace netbench::verbs::test {
namespace {

constexpr int kWindows = 3;
constexpr std::int64_t kWindowNs = 10 * kMillisecond;

struct Case {
  const char* name;
  Op op;
  Qp qp;
  std::int64_t bytes;
  nb_direction direction = NB_FORWARD;
  std::vector<Asked> more = {};
};

class Streams : public testing::TestWithParam<Case> {
 protected:
  [[nodiscard]] static Point point() {
    Point asked{.direction = GetParam().direction, .message_bytes = GetParam().bytes};
    asked.values = GetParam().more;
    asked.values.push_back(op(GetParam().op));
    asked.values.push_back(qp(GetParam().qp));
    return asked;
  }
};

/// Windows of one end; payload that arrived in them.
std::int64_t observe(Session& session) {
  std::int64_t bytes = 0;
  for (int i = 0; i < kWindows; ++i) {
    bytes += run(session, 0, kWindowNs).result.bytes;
  }
  return bytes;
}

TEST_P(Streams, DeliverEveryByteThatWasSent) {
  const nb_direction way = GetParam().direction;
  Pair pair(point());
  pair.connect();
  const auto drive = [](Session& session, bool receives) {
    return std::async(std::launch::async, [&session, receives] {
      return receives ? observe(session) : (run(session, 0, 0), std::int64_t{0});
    });
  };
  auto initiator = drive(pair.initiator(), way != NB_FORWARD);
  auto responder = drive(pair.responder(), way != NB_REVERSE);
  if (way != NB_FORWARD) {
    EXPECT_GT(initiator.get(), 0);
  }
  if (way != NB_REVERSE) {
    EXPECT_GT(responder.get(), 0);
  }
  pair.stop();
  const auto ours = counters_of(pair.initiator());
  const auto theirs = counters_of(pair.responder());
  const auto lost = [&](std::map<std::string, double> end) {
    return end["verbs.lost"] * static_cast<double>(GetParam().bytes);
  };
  EXPECT_EQ(ours.at("payload.sent_bytes"), theirs.at("payload.received_bytes") + lost(theirs));
  EXPECT_EQ(theirs.at("payload.sent_bytes"), ours.at("payload.received_bytes") + lost(ours));
  EXPECT_EQ(ours.at("verbs.check_failed") + theirs.at("verbs.check_failed"), 0);
  EXPECT_EQ(ours.at("verbs.errors") + theirs.at("verbs.errors"), 0);
}

const Case kCases[] = {
    {"WriteRc", Op::write, Qp::rc, 4096},
    {"WriteOneByte", Op::write, Qp::rc, 1},
    {"WriteOdd", Op::write, Qp::rc, 4097},
    {"WriteLarge", Op::write, Qp::rc, 1 << 20},
    {"WriteReverse", Op::write, Qp::rc, 4096, NB_REVERSE},
    {"WriteBoth", Op::write, Qp::rc, 4096, NB_BOTH},
    {"WriteUc", Op::write, Qp::uc, 4096},
    {"WriteFourQps", Op::write, Qp::rc, 4096, NB_BOTH, {{"qps", 4}, {"threads", 2}}},
    {"ImmRc", Op::write_imm, Qp::rc, 4096},
    {"ImmOneByte", Op::write_imm, Qp::rc, 1},
    {"ImmBoth", Op::write_imm, Qp::rc, 4096, NB_BOTH},
    {"ImmUc", Op::write_imm, Qp::uc, 4096},
    {"SendRc", Op::send, Qp::rc, 4096},
    {"SendThreeBytes", Op::send, Qp::rc, 3},
    {"SendBoth", Op::send, Qp::rc, 4096, NB_BOTH},
    {"SendUc", Op::send, Qp::uc, 4096},
    {"SendUd", Op::send, Qp::ud, 1024},
    {"SendUdBoth", Op::send, Qp::ud, 64, NB_BOTH},
    {"SendFiveQps", Op::send, Qp::rc, 512, NB_FORWARD, {{"qps", 5}, {"threads", 2}}},
    {"SendChained", Op::send, Qp::rc, 512, NB_FORWARD, {{"tx_depth", 64}, {"post_list", 8}}},
    {"SendEvents", Op::send, Qp::rc, 512, NB_BOTH, {{"wait", 2}}},
    {"SendPolled", Op::send, Qp::rc, 512, NB_FORWARD, {{"wait", 1}}},
    {"ReadRc", Op::read, Qp::rc, 4096},
    {"ReadOneByte", Op::read, Qp::rc, 1},
    {"ReadReverse", Op::read, Qp::rc, 65536, NB_REVERSE},
    {"ReadBoth", Op::read, Qp::rc, 4096, NB_BOTH},
    {"FetchAdd", Op::fetch_add, Qp::rc, 8},
    {"FetchAddBoth", Op::fetch_add, Qp::rc, 8, NB_BOTH},
    {"CompareSwap", Op::compare_swap, Qp::rc, 8, NB_REVERSE},
    {"DepthOne", Op::send, Qp::rc, 64, NB_FORWARD, {{"tx_depth", 1}, {"rx_depth", 1}}},
};
INSTANTIATE_TEST_SUITE_P(Operations, Streams, testing::ValuesIn(kCases),
                         [](const auto& param) { return std::string(param.param.name); });

}  // namespace
}  // namespace netbench::verbs::test
