#include "bench/session/agent_server.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <mutex>
#include <stdexcept>

#include "support.hpp"

namespace netbench::session {
namespace {

using namespace test;

/// A client that connects on a thread of its own and notes what it is told while it waits.
class WaitingClient {
 public:
  explicit WaitingClient(ConnectOptions options) {
    options.on_queue = [this](const Queued& queued) {
      const std::lock_guard lock(mutex_);
      places_.push_back(queued);
    };
    thread_ = std::thread([this, options] {
      auto connection = connect_agent(options);
      if (connection) {
        channel_ = std::move(connection->channel);
      }
      done_ = true;
    });
  }
  WaitingClient(const WaitingClient&) = delete;
  WaitingClient& operator=(const WaitingClient&) = delete;
  ~WaitingClient() { thread_.join(); }

  [[nodiscard]] std::vector<Queued> places() const {
    const std::lock_guard lock(mutex_);
    return places_;
  }
  [[nodiscard]] bool is_told(int position, const std::string& holder) const {
    return eventually([&] {
      const auto told = places();
      return !told.empty() && told.back().position == position &&
             told.back().holder.find(holder) != std::string::npos;
    });
  }
  [[nodiscard]] bool is_served() const {
    return eventually([&] { return done_.load(); }) && channel_;
  }
  void leave() { channel_.reset(); }

 private:
  mutable std::mutex mutex_;
  std::vector<Queued> places_;
  std::atomic<bool> done_{false};
  std::unique_ptr<Channel> channel_;
  std::thread thread_;
};

ConnectOptions named(ConnectOptions options, const std::string& host_name) {
  options.hello.host_name = host_name;
  return options;
}

TEST(AgentServer, QueueTellsPlaceAndHolderAndTheirChanges) {
  const TestAgent agent(insecure_agent());
  WaitingClient first(named(client_of(agent.port()), "first"));
  ASSERT_TRUE(first.is_served());
  WaitingClient second(named(client_of(agent.port()), "second"));
  ASSERT_TRUE(second.is_told(1, "(first)"));
  WaitingClient third(named(client_of(agent.port()), "third"));
  ASSERT_TRUE(third.is_told(2, "(first)"));
  first.leave();
  EXPECT_TRUE(second.is_served());
  EXPECT_TRUE(third.is_told(1, "(second)"));
  second.leave();
  EXPECT_TRUE(third.is_served());
  EXPECT_TRUE(first.places().empty());
  EXPECT_EQ(second.places().size(), 1U);
  EXPECT_EQ(third.places().size(), 2U);
}

TEST(AgentServer, WaitingClientThatVanishesIsRemoved) {
  const TestAgent agent(insecure_agent());
  WaitingClient first(named(client_of(agent.port()), "first"));
  ASSERT_TRUE(first.is_served());
  UniqueFd vanishing = connect_raw(agent.port());
  send_text(vanishing.get(), "NBC1" + encode_frame(encode_hello(hello_of("gone"))).value());
  std::array<char, 8> some{};
  ASSERT_GT(::recv(vanishing.get(), some.data(), some.size(), MSG_WAITALL), 0);
  WaitingClient third(named(client_of(agent.port()), "third"));
  ASSERT_TRUE(third.is_told(2, "(first)"));
  vanishing.reset();
  EXPECT_TRUE(third.is_told(1, "(first)"));
  first.leave();
  EXPECT_TRUE(third.is_served());
}

TEST(AgentServer, ClientThatDoesNotWaitIsRefusedWithTheHoldersName) {
  const TestAgent agent(insecure_agent());
  WaitingClient first(named(client_of(agent.port()), "first"));
  ASSERT_TRUE(first.is_served());
  auto options = client_of(agent.port());
  options.hello.no_wait = true;
  const auto refused = connect_agent(options);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().slug, "peer-busy");
  EXPECT_EQ(refused.error().exit_class, ExitClass::nothing_measured);
  EXPECT_NE(refused.error().message.find("(first)"), std::string::npos);
}

TEST(AgentServer, FullQueueRefuses) {
  auto options = insecure_agent();
  options.queue_limit = 1;
  const TestAgent agent(options);
  WaitingClient first(client_of(agent.port()));
  ASSERT_TRUE(first.is_served());
  WaitingClient second(client_of(agent.port()));
  ASSERT_TRUE(second.is_told(1, "(client)"));
  const auto third = connect_agent(client_of(agent.port()));
  ASSERT_FALSE(third);
  EXPECT_EQ(third.error().slug, "peer-busy");
  EXPECT_NE(third.error().message.find("queue of 1 is full"), std::string::npos);
  first.leave();
  EXPECT_TRUE(second.is_served());
}

TEST(AgentServer, WaitingEndsWithPeerBusyAtTheClientsLimit) {
  const TestAgent agent(insecure_agent());
  WaitingClient first(client_of(agent.port()));
  ASSERT_TRUE(first.is_served());
  auto options = client_of(agent.port());
  options.queue_limit = 300ms;
  const auto waited = connect_agent(options);
  ASSERT_FALSE(waited);
  EXPECT_EQ(waited.error().slug, "peer-busy");
}

TEST(AgentServer, ClientsOneAfterTheOtherAreNeverRefused) {
  const Key key = Key::generate().value();
  const TestAgent agent(keyed_agent(key));
  for (int i = 0; i < 30; ++i) {
    auto options = client_of(agent.port(), key);
    options.hello.no_wait = true;
    const auto connection = connect_agent(options);
    ASSERT_TRUE(connection) << i << connection.error().message;
  }
}

TEST(AgentServer, ServesTheNextAfterAClientThatWentSilent) {
  auto options = insecure_agent();
  options.channel = {.silence = 1s, .heartbeat = 50ms};
  std::mutex mutex;
  std::string slug;
  const TestAgent agent(options, [&](Channel& channel, const Hello& client) {
    const auto got = channel.receive(soon());
    if (client.host_name == "stopped") {
      const std::lock_guard lock(mutex);
      slug = got.error().slug;
    }
  });
  const UniqueFd stopped = connect_raw(agent.port());
  send_text(stopped.get(), "NBC1" + encode_frame(encode_hello(hello_of("stopped"))).value());
  auto client = client_of(agent.port());
  client.channel.heartbeat = 50ms;
  const auto next = connect_agent(client);
  ASSERT_TRUE(next) << next.error().message;
  const std::lock_guard lock(mutex);
  EXPECT_EQ(slug, "peer-lost");
}

TEST(AgentServer, SurvivesAHandlerThatThrows) {
  std::atomic<int> served{0};
  const TestAgent agent(insecure_agent(), [&](Channel& channel, const Hello& client) {
    if (served++ == 0) {
      throw std::runtime_error("out of luck");
    }
    serve_until_end(channel, client);
  });
  const auto first = connect_agent(client_of(agent.port()));
  ASSERT_TRUE(first);
  EXPECT_EQ(first->channel->receive(soon()).error().slug, "peer-closed");
  EXPECT_TRUE(connect_agent(client_of(agent.port())));
}

TEST(AgentServer, HandlerSeesTheClientsHello) {
  std::atomic<bool> seen{false};
  const Key key = Key::generate().value();
  const TestAgent agent(keyed_agent(key), [&](Channel& channel, const Hello& client) {
    seen = client.host_name == "client" && client.plugins.size() == 1 && channel.secure();
    static_cast<void>(channel.send({"echo", channel.receive(soon())->body}));
    serve_until_end(channel, client);
  });
  auto options = client_of(agent.port(), key);
  options.hello.plugins = {{"tcp", "1", "x"}};
  const auto connection = connect_agent(options);
  ASSERT_TRUE(connection) << connection.error().message;
  ASSERT_TRUE(connection->channel->send({"say", "\"hi\""}));
  EXPECT_EQ(connection->channel->receive(soon())->body, "\"hi\"");
  EXPECT_TRUE(seen);
}

TEST(AgentServer, LeavesNoTokensToTheNextClient) {
  std::mutex mutex;
  std::vector<Token> tokens;
  AgentServer* server = nullptr;
  TestAgent agent(insecure_agent(), [&](Channel& channel, const Hello& client) {
    {
      const std::lock_guard lock(mutex);
      tokens.push_back(server->acceptor().issue_token().value());
    }
    serve_until_end(channel, client);
  });
  server = &agent.server();
  ASSERT_TRUE(connect_agent(client_of(agent.port())));
  ASSERT_TRUE(connect_agent(client_of(agent.port())));
  const std::lock_guard lock(mutex);
  EXPECT_EQ(server->acceptor().take_connection(tokens.at(0), soon(0s)).error().slug,
            "unknown-token");
}

TEST(AgentServer, StopEndsTheServedClientAndSendsTheWaitingAway) {
  auto agent = std::make_unique<TestAgent>(insecure_agent(), [](Channel& channel, const Hello&) {
    static_cast<void>(channel.receive(soon(60s)));
  });
  const auto served = connect_agent(client_of(agent->port()));
  ASSERT_TRUE(served);
  WaitingClient waiting(client_of(agent->port()));
  ASSERT_TRUE(waiting.is_told(1, "(client)"));
  const std::int64_t begin = monotonic_ns();
  std::jthread closer([&] { EXPECT_FALSE(served->channel->receive(soon())); });
  agent.reset();
  closer.join();
  EXPECT_LT(seconds_since(begin), 4);
  EXPECT_FALSE(waiting.is_served());
}

TEST(AgentServer, StopEndsAnIdleAgentAtOnce) {
  const std::int64_t begin = monotonic_ns();
  { const TestAgent agent(insecure_agent()); }
  EXPECT_LT(seconds_since(begin), 4);
}

}  // namespace
}  // namespace netbench::session
