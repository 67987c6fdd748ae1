#include "bench/session/frame.hpp"

#include <gtest/gtest.h>

namespace netbench::session {
namespace {

TEST(Frame, SurvivesBeingCutAnywhere) {
  const std::string wire =
      encode_frame({"hello", R"({"a":1})"}).value() + encode_frame({"end", ""}).value();
  for (std::size_t cut = 0; cut <= wire.size(); ++cut) {
    FrameDecoder decoder;
    std::vector<Message> messages;
    for (const std::string& part : {wire.substr(0, cut), wire.substr(cut)}) {
      decoder.feed(part);
      while (auto message = decoder.next().value()) {
        messages.push_back(*message);
      }
    }
    ASSERT_EQ(messages.size(), 2U) << cut;
    EXPECT_EQ(messages[0].type, "hello");
    EXPECT_EQ(messages[0].body, R"({"a":1})");
    EXPECT_EQ(messages[1].type, "end");
    EXPECT_EQ(messages[1].body, "");
  }
}

TEST(Frame, HostileLengthIsRefusedAtItsFourBytes) {
  FrameDecoder decoder;
  decoder.feed(std::string("\x80\x00\x00\x00", 4));  // 2^31
  const auto message = decoder.next();
  ASSERT_FALSE(message);
  EXPECT_EQ(message.error().slug, "frame-too-large");
  EXPECT_NE(message.error().message.find("2147483648"), std::string::npos);
}

TEST(Frame, LimitIsSmallBeforeHelloAndLargeAfter) {
  const Message large{"data", std::string(100'000, 'x')};
  const std::string wire = encode_frame(large).value();
  FrameDecoder before;
  before.feed(wire);
  EXPECT_EQ(before.next().error().slug, "frame-too-large");
  FrameDecoder after(kMaxFrame);
  after.feed(wire);
  EXPECT_EQ(after.next().value().value().body, large.body);
}

TEST(Frame, OverTheLimitIsNotSent) {
  EXPECT_EQ(encode_frame({"data", std::string(kMaxFrame, 'x')}).error().slug, "frame-too-large");
  EXPECT_TRUE(encode_frame({"data", std::string(kMaxFrame - 5, 'x')}));
}

TEST(Frame, IllegalTypesAreRefusedOnBothSides) {
  for (const std::string type : {"", "With Space", "a\n"}) {
    EXPECT_EQ(encode_frame({type, ""}).error().slug, "bad-frame");
  }
  EXPECT_EQ(encode_frame({std::string(65, 'a'), ""}).error().slug, "bad-frame");
  for (const std::string& wire :
       {std::string("\0\0\0\0", 4), std::string("\0\0\0\1\5", 5), std::string("\0\0\0\2\1\n", 6)}) {
    FrameDecoder decoder;
    decoder.feed(wire);
    EXPECT_EQ(decoder.next().error().slug, "bad-frame");
  }
}

TEST(Printable, ShowsStrangersBytesWithoutTerminalControls) {
  EXPECT_EQ(printable("GET /\r\n\x1b[2J\\"), "GET /\\x0d\\x0a\\x1b[2J\\x5c");
  EXPECT_EQ(printable("abcdef", 3), "abc...");
}

}  // namespace
}  // namespace netbench::session
