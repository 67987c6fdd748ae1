#include "bench/session/messages.hpp"

#include <gtest/gtest.h>

namespace netbench::session {
namespace {

TEST(Messages, CarryAPointAsItIs) {
  OpenRequest request;
  request.point.transport = "tcp";
  request.point.workload = "bandwidth";
  request.point.pattern = plan::Pattern::stream;
  request.point.direction = Direction::both;
  request.point.message_bytes = 131072;
  request.point.tunables = {{"rcvbuf", plan::Level::integer(65536)},
                            {"sndbuf", plan::Level::automatic()},
                            {"congestion", {0, "bbr", false}}};
  request.point.mtu_bytes = 9000;
  request.seed = 0xffff'ffff'ffff'fff0;
  request.deadline_ns = 7;
  const auto read = from_message<OpenRequest>(to_message(request));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->point, request.point);
  EXPECT_EQ(read->seed, request.seed);
  EXPECT_EQ(read->deadline_ns, 7);
}

TEST(Messages, CarryBytesAsTheyAre) {
  const auto read = from_message<OpenReply>(to_message(OpenReply{{0, 1, 127, 128, 255}}));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->blob, (std::vector<std::uint8_t>{0, 1, 127, 128, 255}));
}

TEST(Messages, CarryAnObservationOrItsError) {
  StreamRecord record;
  record.goodput_bps = 1e9;
  record.series = {{25, 25, 3000}};
  const auto seen = from_message<Observed>(to_message(Observed{record, {}}));
  ASSERT_TRUE(seen);
  ASSERT_TRUE(seen->stream.has_value());
  EXPECT_EQ(seen->stream->series.size(), 1U);
  EXPECT_FALSE(seen->error.has_value());
  const auto failed = from_message<Observed>(
      to_message(Observed{{}, Error{"peer-closed", "gone", "", ExitClass::error}}));
  ASSERT_TRUE(failed);
  EXPECT_EQ(failed->error->slug, "peer-closed");
}

TEST(Messages, GiveBackTheErrorThatCameInsteadOfAReply) {
  const Message message =
      to_message(ErrorReply{Error{"mtu-range", "no", "try less", ExitClass::usage}});
  const auto reply = from_message<MtuReply>(message);
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().slug, "mtu-range");
  EXPECT_EQ(reply.error().remedy, "try less");
}

TEST(Messages, RefuseAnotherType) {
  const auto reply = from_message<MtuReply>(to_message(StartReply{}));
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().slug, "protocol");
}

TEST(Messages, RefuseBodiesThatDoNotFit) {
  for (const char* body : {"", "[]", "null", "{}", "{", R"({"blob": 5})", R"({"blob": "0g"})",
                           R"({"blob": ["00"]})"}) {
    const auto reply = from_message<OpenReply>({"opened", body});
    ASSERT_FALSE(reply) << body;
    EXPECT_EQ(reply.error().slug, "protocol") << body;
  }
}

TEST(Messages, RefuseAPointOfUnknownPatternOrDirection) {
  Message message = to_message(OpenRequest{});
  const std::size_t pattern = message.body.find("ping_pong");
  ASSERT_NE(pattern, std::string::npos);
  message.body.replace(pattern, 9, "tele_path");
  EXPECT_FALSE(from_message<OpenRequest>(message));
}

}  // namespace
}  // namespace netbench::session
