#include "transports/tcp/gauges.hpp"

#include <gtest/gtest.h>

#include <array>

#include "tests/unit/tcp/pair.hpp"
#include "transports/tcp/socket.hpp"

namespace netbench::tcp::test {
namespace {

constexpr double kEstablished = 1;  // TCP_ESTABLISHED, linux/tcp_states.h

/// Both ends run one window, the initiator sends; then they stop.
void run_and_stop(Pair& pair, std::int64_t window_ns) {
  auto responding =
      std::async(std::launch::async, [&] { return pair.responder().run(0, window_ns); });
  EXPECT_EQ(pair.initiator().run(0, window_ns).message, "");
  EXPECT_EQ(responding.get().message, "");
  const auto [initiated, responded] = pair.stop();
  EXPECT_EQ(initiated.message + responded.message, "");
}

TEST(Gauges, AreOfTheRunningStreamNotOfItsEnd) {
  Pair pair({.values = {{"streams", 2, ""}}});
  ASSERT_EQ(pair.connect().message, "");
  run_and_stop(pair, 350 * kMillisecond);
  auto sender = pair.initiator().counters();
  EXPECT_EQ(sender.at("tcp_info.state"), kEstablished);
  EXPECT_GT(sender.at("tcp_info.snd_cwnd"), 0);
  EXPECT_GT(sender.at("sock.wmem_queued_bytes"), 0);
  EXPECT_GE(sender.at("tcp_info.bytes_acked"), sender.at("payload.sent_bytes"));
  EXPECT_GT(pair.responder().counters().at("sock.rcvbuf_bytes"), 0);
}

TEST(Gauges, EncloseTheMedianInTheirExtremes) {
  Pair pair({});
  ASSERT_EQ(pair.connect().message, "");
  run_and_stop(pair, 350 * kMillisecond);
  auto sender = pair.initiator().counters();
  for (const std::string name : {"rtt_us", "snd_cwnd", "snd_wnd", "notsent_bytes", "backoff"}) {
    EXPECT_LE(sender.at("tcp_info_min." + name), sender.at("tcp_info." + name)) << name;
    EXPECT_GE(sender.at("tcp_info_max." + name), sender.at("tcp_info." + name)) << name;
  }
  EXPECT_GE(sender.at("sock_max.sndbuf_bytes"), sender.at("sock.sndbuf_bytes"));
}

TEST(Gauges, AreTakenAtLeastOnce) {
  Pair pair({});
  ASSERT_EQ(pair.connect().message, "");
  run_and_stop(pair, 20 * kMillisecond);
  for (End* end : {&pair.initiator(), &pair.responder()}) {
    EXPECT_EQ(end->counters().count("tcp_info.state"), 1u);  // whichever end stopped first
    EXPECT_EQ(end->counters().count("sock.sndbuf_bytes"), 1u);
  }
}

TEST(Gauges, SumBuffersOverConnections) {
  const Fd one(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const Fd other(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const std::array fds = {one.get(), other.get()};
  set_option(one.get(), SOL_SOCKET, SO_SNDBUF, 100'000, "sndbuf");
  set_option(other.get(), SOL_SOCKET, SO_SNDBUF, 50'000, "sndbuf");
  Gauges gauges(fds);
  gauges.look();
  std::map<std::string, double> numbers;
  const nb_sink sink{sizeof sink, &numbers,
                     [](void* context, const char* name, double value) {
                       (*static_cast<std::map<std::string, double>*>(context))[name] = value;
                     },
                     [](void*, const char*, const char*) {}};
  gauges.emit(sdk::Sink(&sink));
  EXPECT_EQ(numbers.at("sock.sndbuf_bytes"), 300'000) << "the kernel doubles (socket(7))";
}

TEST(Gauges, OfLoadedLatencyCoverItsBulkStreams) {
  Pair pair({.workload = "loaded_latency", .message_bytes = 64, .values = {{"rate", 1000, ""}}});
  ASSERT_EQ(pair.connect().message, "");
  auto serving = std::async(std::launch::async, [&] { return pair.responder().run(0, 0); });
  EXPECT_EQ(pair.initiator().run(300, 0).message, "");
  const auto [initiated, responded] = pair.stop();
  EXPECT_EQ(initiated.message + responded.message + serving.get().message, "");
  auto sender = pair.initiator().counters();
  EXPECT_EQ(sender.at("tcp_info.state"), kEstablished);
  EXPECT_EQ(sender.at("send.threads"), 1);
  EXPECT_EQ(pair.responder().counters().at("recv.threads"), 1);
  EXPECT_GT(sender.at("sock.wmem_queued_bytes"), 0);
}

}  // namespace
}  // namespace netbench::tcp::test
