#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <thread>

#include "tests/unit/udp/pair.hpp"
#include "tests/unit/udp/relay.hpp"

namespace netbench::udp {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr std::int64_t kMs = 1'000'000;

/// So slow (bit/s) that what is sent while a busy machine stalls a reader fits into its socket.
constexpr std::int64_t kGentle = 1'000'000;

nb_value number(const char* name, std::int64_t value) { return {name, value, nullptr}; }

/// Runs both ends for a while: a window of the responder, the initiator sends or serves beside it.
struct Traffic {
  explicit Traffic(Pair& pair) : serving([&pair] { (void)pair.initiator.serve(); }) {}
  ~Traffic() { serving.join(); }
  std::thread serving;
};

/// A forward stream for this long; counters of both ends after an orderly end.
struct Counted {
  std::map<std::string, double> initiator;
  std::map<std::string, double> responder;
  nb_batch_result window{};
};

Counted run_forward(Pair& pair, std::int64_t duration_ns) {
  Counted counted;
  {
    const Traffic traffic(pair);
    counted.window = pair.responder.window(duration_ns);
    pair.stop();
  }
  counted.initiator = pair.initiator.counters();
  counted.responder = pair.responder.counters();
  return counted;
}

/// Nothing is missing, wherever it went: a busy machine may drop at the receiver's socket.
void expect_all_accounted_for(std::map<std::string, double> from,
                              std::map<std::string, double> to) {
  EXPECT_GT(from["udp.sent"], 0);
  EXPECT_EQ(to["udp.received"] + to["udp.socket_drops"], from["udp.sent"]);
  EXPECT_EQ(to["udp.lost"], 0);
}

double rate_bps(const nb_batch_result& window) {
  return static_cast<double>(window.bytes) * 8e9 /
         static_cast<double>(window.end_ns - window.begin_ns);
}

TEST(UdpStream, CountsExactlyWithoutLoss) {
  Pair pair({.values = {number("rate", kGentle)}});
  Counted seen = run_forward(pair, 300 * kMs);
  EXPECT_GT(seen.initiator["udp.sent"], 1);
  EXPECT_EQ(seen.responder["udp.received"], seen.initiator["udp.sent"]);
  EXPECT_EQ(seen.responder["payload.received_bytes"], seen.initiator["payload.sent_bytes"]);
  EXPECT_EQ(seen.responder["udp.bytes"], seen.initiator["udp.sent"] * 1448);
  EXPECT_EQ(seen.responder["udp.lost"], 0);
  EXPECT_EQ(seen.responder["udp.socket_drops"], 0);
  EXPECT_EQ(seen.responder["udp.duplicates"], 0);
  EXPECT_EQ(seen.responder["udp.reordered"], 0);
  EXPECT_EQ(seen.responder["udp.end_known"], 1);
  EXPECT_EQ(seen.responder["udp.fragments_per_datagram"], 1);
}

TEST(UdpStream, WindowsAddUpToTheTotal) {
  Pair pair({.values = {number("rate", 20'000'000)}});
  std::int64_t bytes = 0;
  std::int64_t last_end_ns = 0;
  {
    const Traffic traffic(pair);
    for (int i = 0; i < 8; ++i) {
      const nb_batch_result window = pair.responder.window(25 * kMs);
      bytes += window.bytes;
      EXPECT_GT(window.end_ns, window.begin_ns);
      EXPECT_EQ(window.messages * 1448, window.bytes);
      if (last_end_ns != 0) {
        EXPECT_EQ(window.begin_ns, last_end_ns);
      }
      last_end_ns = window.end_ns;
    }
    EXPECT_EQ(pair.initiator.stop().status, NB_OK);
  }
  std::this_thread::sleep_for(milliseconds(50));
  bytes += pair.responder.window(1 * kMs).bytes;
  EXPECT_EQ(static_cast<double>(bytes), pair.responder.counters()["payload.received_bytes"]);
}

/// The rate of 2 s at 1 Mbit/s; nothing where the machine stalled the sender, which then gives up
/// what it missed.
std::optional<double> rate_of_one_megabit() {
  Pair pair({.values = {number("rate", 1'000'000)}});
  const Traffic traffic(pair);
  (void)pair.responder.window(100 * kMs);
  const nb_batch_result window = pair.responder.window(2000 * kMs);
  pair.stop();
  const bool stalled = pair.initiator.counters()["udp.pacing_lost_ns"] > 0;
  return stalled ? std::nullopt : std::optional(rate_bps(window));
}

TEST(UdpStream, PacesOneMegabitWithinTwoPercent) {
  std::optional<double> rate;
  for (int i = 0; i < 3 && !(rate && std::abs(*rate - 1e6) <= 2e4); ++i) {
    rate = rate_of_one_megabit();
  }
  if (!rate) {
    GTEST_SKIP() << "this machine is too busy: the sender was stalled each time";
  }
  EXPECT_NEAR(*rate, 1e6, 2e4);
}

TEST(UdpStream, TellsDropsOfTheReceiversSocketFromLossInTheNetwork) {
  Pair pair({.values = {number("rcvbuf", 1), number("rate", NB_AUTO)}});
  Counted seen = run_forward(pair, 200 * kMs);
  EXPECT_GT(seen.responder["udp.socket_drops"], 0);
  expect_all_accounted_for(seen.initiator, seen.responder);
}

TEST(UdpStream, TellsLossInTheNetworkFromDropsOfTheReceiversSocket) {
  Relay relay([](const Header& header) { return header.sequence % 10 == 3 ? 0 : 1; });
  Pair pair({.values = {number("rate", kGentle)}},
            [&](std::uint16_t port) { return relay.start(port); });
  Counted seen = run_forward(pair, 300 * kMs);
  const auto sent = static_cast<std::uint64_t>(seen.initiator["udp.sent"]);
  EXPECT_GT(sent, 3u);
  EXPECT_EQ(seen.responder["udp.lost"], static_cast<double>((sent + 6) / 10));
  EXPECT_EQ(seen.responder["udp.socket_drops"], 0);
  EXPECT_EQ(seen.responder["udp.received"] + seen.responder["udp.lost"], static_cast<double>(sent));
}

TEST(UdpStream, CountsADuplicateOnceAsPayload) {
  Relay relay([](const Header& header) { return header.sequence % 4 == 0 ? 2 : 1; });
  Pair pair({.values = {number("rate", kGentle)}},
            [&](std::uint16_t port) { return relay.start(port); });
  Counted seen = run_forward(pair, 200 * kMs);
  const auto sent = static_cast<std::uint64_t>(seen.initiator["udp.sent"]);
  EXPECT_EQ(seen.responder["udp.duplicates"], static_cast<double>((sent + 3) / 4));
  EXPECT_EQ(seen.responder["udp.received"], static_cast<double>(sent));
  EXPECT_EQ(seen.responder["udp.lost"], 0);
}

TEST(UdpStream, CountsLossAtTheTail) {
  Relay relay([](const Header& header) { return header.sequence >= 2 ? 0 : 1; });
  Pair pair({.values = {number("rate", kGentle)}},
            [&](std::uint16_t port) { return relay.start(port); });
  Counted seen = run_forward(pair, 200 * kMs);
  EXPECT_EQ(seen.responder["udp.received"], 2);
  EXPECT_EQ(seen.responder["udp.expected"], seen.initiator["udp.sent"]);
  EXPECT_EQ(seen.responder["udp.lost"], seen.initiator["udp.sent"] - 2);
}

TEST(UdpStream, ReversesTheDirection) {
  Pair pair({.direction = NB_REVERSE, .values = {number("rate", kGentle)}});
  std::thread serving([&] { (void)pair.responder.serve(); });
  const nb_batch_result window = pair.initiator.window(200 * kMs);
  pair.stop();
  serving.join();
  EXPECT_GT(window.bytes, 0);
  expect_all_accounted_for(pair.responder.counters(), pair.initiator.counters());
  EXPECT_EQ(pair.responder.counters().count("udp.received"), 0u);
}

TEST(UdpStream, SendsBothWaysOnManyStreams) {
  Pair pair({.direction = NB_BOTH,
             .values = {number("rate", 20'000'000), number("streams", 4), number("batch", 8)}});
  nb_batch_result theirs{};
  std::thread other([&] { theirs = pair.responder.window(300 * kMs); });
  const nb_batch_result ours = pair.initiator.window(300 * kMs);
  other.join();
  pair.stop();
  EXPECT_GT(ours.messages, 0);
  EXPECT_GT(theirs.messages, 0);
  expect_all_accounted_for(pair.responder.counters(), pair.initiator.counters());
  expect_all_accounted_for(pair.initiator.counters(), pair.responder.counters());
}

TEST(UdpStream, CarriesTheLargestDatagram) {
  Pair pair({.message_bytes = kMaxDatagramBytes,
             .values = {number("rate", 200'000'000), number("rcvbuf", 1 << 20)}});
  Counted seen = run_forward(pair, 200 * kMs);
  expect_all_accounted_for(seen.initiator, seen.responder);
}

TEST(UdpStream, CountsFragmentsAndSaysSo) {
  if (!session::UdpDesk::open_socket("::1", 0)) {
    GTEST_SKIP() << "no IPv6 here";
  }
  const Point point{.message_bytes = kMaxDatagramBytes,
                    .values = {number("rate", 100'000'000)},
                    .address = "::1"};  // 65507 + 48 > 65536, the MTU of loopback
  Pair pair(point);
  const auto fragments = static_cast<int>(pair.responder.counters()["udp.fragments_per_datagram"]);
  EXPECT_GE(fragments, 2);
  EXPECT_NE(pair.initiator.effective().at("rate").note.find(std::to_string(fragments) +
                                                            " IP fragments (path MTU"),
            std::string::npos);
  const Counted seen = run_forward(pair, 100 * kMs);
  expect_all_accounted_for(seen.initiator, seen.responder);
}

TEST(UdpStream, LetsTheKernelCutLargeSends) {
  Pair pair({.values = {number("rate", 50'000'000), number("gso", 1)}});
  if (pair.initiator.effective().at("gso").number == 0) {
    GTEST_SKIP() << pair.initiator.effective().at("gso").note;
  }
  Counted seen = run_forward(pair, 200 * kMs);
  expect_all_accounted_for(seen.initiator, seen.responder);
}

TEST(UdpStream, SpinsWhereAsked) {
  Pair pair({.message_bytes = 64, .values = {number("rate", 5'000'000), number("wait", 1)}});
  Counted seen = run_forward(pair, 200 * kMs);
  expect_all_accounted_for(seen.initiator, seen.responder);
}

TEST(UdpStream, MarksACappedBufferAndNamesTheSysctl) {
  Pair pair({.values = {number("rcvbuf", 1 << 30), number("rate", 1'000'000)}});
  const auto rcvbuf = pair.responder.effective().at("rcvbuf");
  EXPECT_EQ(rcvbuf.flags, NB_EFFECTIVE_CAPPED);
  EXPECT_LT(rcvbuf.number, 1 << 30);
  EXPECT_NE(rcvbuf.note.find("net.core.rmem_max"), std::string::npos);
}

TEST(UdpStream, CancelEndsARunAtOnce) {
  const auto cancel_time = [] {
    Pair pair({.values = {number("rate", 1000)}});
    Outcome outcome;
    std::thread serving([&] { outcome = pair.initiator.serve(); });
    std::this_thread::sleep_for(milliseconds(50));
    const auto begin = steady_clock::now();
    pair.initiator.cancel();
    serving.join();
    const auto took = steady_clock::now() - begin;
    EXPECT_EQ(outcome.status, NB_CANCELLED);
    EXPECT_EQ(pair.initiator.stop().status, NB_CANCELLED);
    return took;
  };
  EXPECT_LT(best_of_three(cancel_time), milliseconds(100));
}

TEST(UdpStream, AVanishedPeerEndsTheSender) {
  Pair pair({.values = {number("rate", 10'000'000)}});
  Outcome outcome;
  std::thread serving([&] { outcome = pair.initiator.serve(); });
  std::this_thread::sleep_for(milliseconds(50));
  pair.responder.close();
  pair.agent.reset();
  serving.join();
  EXPECT_EQ(outcome.status, NB_PEER_CLOSED) << outcome.error.message;
  EXPECT_EQ(outcome.slug(), "udp-peer-closed");
  EXPECT_EQ(pair.initiator.stop().status, NB_PEER_CLOSED);
}

TEST(UdpStream, ASilentPeerEndsStopAtItsTimeOut) {
  Pair pair({.values = {number("rate", 10'000'000)}});
  const Traffic traffic(pair);
  (void)pair.responder.window(50 * kMs);
  pair.responder.close();  // the agent still has the port, so nothing says that the peer is gone
  const auto begin = steady_clock::now();
  const Outcome outcome = pair.initiator.stop(300 * kMs);
  EXPECT_EQ(outcome.status, NB_TIMED_OUT);
  EXPECT_LT(steady_clock::now() - begin, milliseconds(500));
}

}  // namespace
}  // namespace netbench::udp
