#include "bench/session/channel.hpp"

#include <gtest/gtest.h>

#include "support.hpp"

namespace netbench::session {
namespace {

using namespace test;

struct ChannelPair {
  std::unique_ptr<Channel> a;
  std::unique_ptr<Channel> b;
};

std::pair<Stream, Stream> tls_streams() {
  static const Key key = Key::generate().value();
  static const auto client = TlsContext::for_client(key).value();
  static const auto agent = TlsContext::for_agent(key).value();
  auto [client_fd, agent_fd] = connected_pair();
  Stream a(std::move(client_fd), client->make_ssl());
  Stream b(std::move(agent_fd), agent->make_ssl());
  EXPECT_TRUE(eventually([&] {
    const IoState at_a = a.handshake();
    const IoState at_b = b.handshake();
    return at_a == IoState::done && at_b == IoState::done;
  }));
  return {std::move(a), std::move(b)};
}

std::pair<Stream, Stream> plain_streams() {
  auto [a, b] = connected_pair();
  return {Stream(std::move(a)), Stream(std::move(b))};
}

ChannelPair make_channels(bool secure, const ChannelOptions& options = {}) {
  auto [a, b] = secure ? tls_streams() : plain_streams();
  return {std::make_unique<Channel>(std::move(a), FrameDecoder(), options),
          std::make_unique<Channel>(std::move(b), FrameDecoder(), options)};
}

// A channel whose peer is a bare socket.
struct HalfPair {
  std::unique_ptr<Channel> channel;
  UniqueFd peer;
};

HalfPair make_half(const ChannelOptions& options) {
  auto [a, b] = connected_pair();
  return {std::make_unique<Channel>(Stream(std::move(a)), FrameDecoder(), options), std::move(b)};
}

class BothKinds : public testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(Channel, BothKinds, testing::Bool(),
                         [](const auto& one) { return one.param ? "Tls" : "Plain"; });

TEST_P(BothKinds, CarryMessagesBothWaysInOrder) {
  const auto [a, b] = make_channels(GetParam());
  EXPECT_EQ(a->secure(), GetParam());
  for (int i = 0; i < 1000; ++i) {
    ASSERT_TRUE(a->send({"up", std::to_string(i)}));
    ASSERT_TRUE(b->send({"down", std::to_string(i)}));
  }
  for (int i = 0; i < 1000; ++i) {
    EXPECT_EQ(b->receive(soon())->body, std::to_string(i));
    EXPECT_EQ(a->receive(soon())->body, std::to_string(i));
  }
}

TEST_P(BothKinds, CarryTheLargestFrame) {
  const auto [a, b] = make_channels(GetParam());
  const std::string body(kMaxFrame - 5, 'x');
  ASSERT_TRUE(a->send({"data", body}));
  const auto got = b->receive(soon(20s));
  ASSERT_TRUE(got) << got.error().message;
  EXPECT_TRUE(got->body == body);
}

TEST_P(BothKinds, CloseSendsWhatIsQueuedAndThenTellsThePeer) {
  auto [a, b] = make_channels(GetParam());
  std::jthread closer([&a = a] {
    for (int i = 0; i < 100; ++i) {
      EXPECT_TRUE(a->send({"data", std::string(10'000, 'x')}));
    }
    a->close(5s);
    EXPECT_EQ(a->send({"late", ""}).error().slug, "peer-closed");
  });
  for (int i = 0; i < 100; ++i) {
    ASSERT_TRUE(b->receive(soon()));
  }
  EXPECT_EQ(b->receive(soon()).error().slug, "peer-closed");
  EXPECT_TRUE(b->ended());
  b->close();
  closer.join();
}

TEST_P(BothKinds, HeartbeatsKeepAQuietConnectionUp) {
  const auto [a, b] = make_channels(GetParam(), {.silence = 1s, .heartbeat = 50ms});
  std::this_thread::sleep_for(2500ms);
  EXPECT_FALSE(a->ended());
  EXPECT_FALSE(b->ended());
  EXPECT_EQ(a->receive(soon(10ms)).error().slug, "control-timeout");  // none of them is delivered
}

TEST_P(BothKinds, PeerThatIsKilledHasClosed) {
  auto [a, b] = GetParam() ? tls_streams() : plain_streams();
  Channel channel(std::move(a), FrameDecoder(), {});
  {
    const Stream killed = std::move(b);  // no close_notify, as from a killed process
  }
  EXPECT_EQ(channel.receive(soon()).error().slug, "peer-closed");
}

TEST(Channel, SilentPeerIsLostAfterTheSilence) {
  const auto [channel, peer] = make_half({.silence = 300ms, .heartbeat = 50ms});
  const std::int64_t begin = monotonic_ns();
  const auto got = channel->receive(soon());
  EXPECT_EQ(got.error().slug, "peer-lost");
  EXPECT_GE(seconds_since(begin), 0.25);
  EXPECT_LT(seconds_since(begin), 5);
  EXPECT_EQ(channel->end_reason()->slug, "peer-lost");
  EXPECT_EQ(channel->send({"data", ""}).error().slug, "peer-lost");
}

TEST(Channel, MessagesBeforeTheEndAreDeliveredFirst) {
  const auto [channel, peer] = make_half({.silence = 200ms});
  send_text(peer.get(), encode_frame({"last", "words"}).value());
  ASSERT_TRUE(eventually([&channel = channel] { return channel->ended(); }));
  EXPECT_EQ(channel->receive(soon())->body, "words");
  EXPECT_EQ(channel->receive(soon()).error().slug, "peer-lost");
}

TEST(Channel, DeadlineEndsReceive) {
  const auto [a, b] = make_channels(false);
  const std::int64_t begin = monotonic_ns();
  EXPECT_EQ(a->receive(soon(100ms)).error().slug, "control-timeout");
  EXPECT_LT(seconds_since(begin), 5);
  EXPECT_FALSE(a->ended());
}

TEST(Channel, CancelWakesOneReceive) {
  const auto [a, b] = make_channels(false);
  std::jthread canceller([&a = a] {
    std::this_thread::sleep_for(50ms);
    a->cancel();
  });
  EXPECT_EQ(a->receive(soon(30s)).error().slug, "cancelled");
  canceller.join();
  ASSERT_TRUE(b->send({"still", "there"}));
  EXPECT_EQ(a->receive(soon())->body, "there");
  a->cancel();
  EXPECT_EQ(a->receive(soon()).error().slug, "cancelled");
}

TEST(Channel, HostileLengthEndsTheConnection) {
  auto [channel, peer] = make_half({});
  send_text(peer.get(), std::string("\x80\x00\x00\x00", 4));
  EXPECT_EQ(channel->receive(soon()).error().slug, "frame-too-large");
  channel->close();
  EXPECT_TRUE(eventually([&peer = peer] { return is_closed(peer.get()); }));
}

TEST(Channel, SendQueueIsBounded) {
  const auto [channel, peer] = make_half({.silence = 30s, .max_queued_bytes = 1 << 20});
  Status sent;
  for (int i = 0; i < 1000 && sent; ++i) {
    sent = channel->send({"data", std::string(64 * 1024, 'x')});
  }
  EXPECT_EQ(sent.error().slug, "send-queue-full");
  const std::int64_t begin = monotonic_ns();
  channel->close(200ms);  // nobody reads: what is queued cannot be sent
  EXPECT_LT(seconds_since(begin), 5);
}

TEST(Channel, ReceiverThatIsBusyLosesNothingAndNobody) {
  const auto [a, b] =
      make_channels(true, {.silence = 1500ms, .heartbeat = 50ms, .max_queued_bytes = 1 << 20});
  std::jthread sender([&a = a] {
    for (int i = 0; i < 200; ++i) {
      while (!a->send({"data", std::string(64 * 1024, 'x')}) && !a->ended()) {
        std::this_thread::sleep_for(1ms);
      }
    }
  });
  std::this_thread::sleep_for(2500ms);
  for (int i = 0; i < 200; ++i) {
    const auto got = b->receive(soon());
    ASSERT_TRUE(got) << got.error().message;
  }
  sender.join();
}

TEST(Channel, KnowsBothAddresses) {
  const auto [a, b] = make_channels(false);
  EXPECT_EQ(a->local().text(), b->peer().text());
  EXPECT_EQ(a->peer().text(), b->local().text());
  EXPECT_EQ(a->peer().host(), "127.0.0.1");
}

}  // namespace
}  // namespace netbench::session
