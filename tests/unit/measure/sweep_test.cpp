// A whole sweep on the simulated transport: two ends, one real control connection on loopback.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <memory>
#include <thread>

#include "bench/measure/initiator.hpp"
#include "bench/measure/responder.hpp"
#include "bench/plan/builder.hpp"
#include "bench/plan/levels.hpp"
#include "bench/plugin/host.hpp"
#include "bench/session/agent_server.hpp"
#include "bench/session/client.hpp"

namespace netbench::measure {
namespace {

class Recorder final : public SweepSink {
 public:
  std::size_t visits = 0;
  std::function<void(std::size_t)> on_visit = [](std::size_t) {};

  void visit_begins(const plan::TestPoint&, std::size_t, std::size_t) override {
    on_visit(++visits);
  }
  void row_changed(const std::vector<Measurement>&, std::size_t) override {}
};

/// An agent and a client of it, both in this process.
class Bench {
 public:
  Bench() : plugins_({NETBENCH_TRANSPORT_DIR}), meter_("lo", {}) {
    session::AgentOptions options;
    options.address = "127.0.0.1";
    options.port = 0;
    options.insecure = true;
    options.hello = session::local_hello("test");
    options.hello.insecure = true;
    server_ = session::AgentServer::start(options).value();
    agent_ = std::thread([this] {
      const ResponderContext context{plugins_, services_, false, {}, {}, {}, {}};
      server_->run([&](session::Channel& channel, const session::Hello&) {
        [[maybe_unused]] const auto served = serve_client(channel, context);
      });
    });
    session::ConnectOptions connect;
    connect.host = "127.0.0.1";
    connect.port = server_->port();
    connect.hello = session::local_hello("test");
    connect.hello.insecure = true;
    connection_ = session::connect_agent(connect).value();
    [[maybe_unused]] const auto host =
        session::ask<session::HostReply>(channel(), session::HostRequest{0},
                                         std::chrono::seconds(5))
            .value();
  }
  ~Bench() {
    connection_.channel->close();
    server_->stop();
    agent_.join();
  }

  [[nodiscard]] session::Channel& channel() { return *connection_.channel; }

  [[nodiscard]] plan::SweepPlan plan(std::uint32_t rounds,
                                     std::map<std::string, std::string> tunables = {}) {
    plan::PlanRequest request;
    request.transports = {plugins_.load("sim").value().spec()};
    request.workloads = {"latency", "bandwidth"};
    request.sizes = {1024};
    request.rounds = rounds;
    request.seed = 11;
    for (const auto& [name, text] : tunables) {
      const plan::Tunable* tunable = request.transports[0].find_tunable(name.substr(4));
      request.tunables[name] = {plan::Level::integer(0)};
      if (tunable != nullptr) {
        request.tunables[name] = plan::parse_levels(*tunable, text).value();
      }
    }
    return plan::build_plan(request).value();
  }

  [[nodiscard]] Status sweep(const plan::SweepPlan& plan, std::vector<Measurement>& rows) {
    const plan::TimePlan time = plan::plan_time(plan.points, plan.rounds, 0, plan.rounds);
    MtuAxis mtu({}, {}, {}, {});
    const SweepContext context{channel(), plugins_, services_, host_, host_, {},
                               {},        true,     meter_,    0.01,  0.005, interrupted};
    return run_sweep(plan, time, mtu, context, rows, sink);
  }

  Recorder sink;
  std::atomic<bool> interrupted = false;

 private:
  plugin::PluginHost plugins_;
  plugin::HostServices services_;
  HostMeter meter_;
  HostInfo host_;
  std::unique_ptr<session::AgentServer> server_;
  std::thread agent_;
  session::AgentConnection connection_;
};

const Measurement& row_of(const std::vector<Measurement>& rows, std::string_view workload) {
  return *std::ranges::find(rows, workload, &Measurement::workload);
}

TEST(Sweep, MeasuresEveryPointInEveryRound) {
  Bench bench;
  const plan::SweepPlan plan = bench.plan(3);
  std::vector<Measurement> rows = empty_rows(plan);
  ASSERT_TRUE(bench.sweep(plan, rows));
  ASSERT_EQ(rows.size(), plan.points.size());
  for (const Measurement& row : rows) {
    EXPECT_EQ(row.status, MeasurementStatus::ok) << row.id;
    EXPECT_EQ(row.rounds.size(), 3U) << row.id;
    EXPECT_EQ(row.summary.n_rounds, 3U) << row.id;
  }
  EXPECT_TRUE(row_of(rows, "latency").summary.rtt_p50_ns.has_value());
  EXPECT_GT(row_of(rows, "bandwidth").summary.goodput_bps.value_or(0), 0);
}

TEST(Sweep, TakesVirtualTimeNotRealTime) {
  Bench bench;
  const plan::SweepPlan plan = bench.plan(3);
  std::vector<Measurement> rows = empty_rows(plan);
  const std::int64_t began = monotonic_ns();
  ASSERT_TRUE(bench.sweep(plan, rows));
  const std::int64_t real_ns = monotonic_ns() - began;
  std::int64_t virtual_ns = 0;
  for (const Measurement& row : rows) {
    for (const Round& round : row.rounds) {
      virtual_ns += round.latency ? round.latency->measured_ns : 0;
      virtual_ns += round.forward ? round.forward->measured_ns : 0;
    }
  }
  EXPECT_LT(real_ns, virtual_ns);
}

TEST(Sweep, KeepsTheRoundsThatRowsAlreadyHave) {
  Bench bench;
  const plan::SweepPlan plan = bench.plan(3);
  std::vector<Measurement> rows = empty_rows(plan);
  ASSERT_TRUE(bench.sweep(plan, rows));
  const std::size_t visits = bench.sink.visits;
  rows.front().rounds.erase(rows.front().rounds.begin() + 1);
  ASSERT_TRUE(bench.sweep(plan, rows));
  EXPECT_EQ(bench.sink.visits, visits + 1);
  EXPECT_EQ(rows.front().rounds.size(), 3U);
}

TEST(Sweep, EndsWithItsRowsWhenInterrupted) {
  Bench bench;
  const plan::SweepPlan plan = bench.plan(5);
  std::vector<Measurement> rows = empty_rows(plan);
  bench.sink.on_visit = [&](std::size_t visit) { bench.interrupted = visit > plan.points.size(); };
  const Status done = bench.sweep(plan, rows);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().exit_class, ExitClass::interrupted);
  EXPECT_EQ(rows.front().rounds.size(), 1U);
}

TEST(Sweep, KeepsItsRowsWhenThePeerIsLost) {
  Bench bench;
  const plan::SweepPlan plan = bench.plan(5);
  std::vector<Measurement> rows = empty_rows(plan);
  bench.sink.on_visit = [&](std::size_t visit) {
    if (visit == plan.points.size() + 1) {
      bench.channel().close();
    }
  };
  ASSERT_FALSE(bench.sweep(plan, rows));
  EXPECT_EQ(rows.front().rounds.size(), 1U);
  EXPECT_EQ(rows.front().status, MeasurementStatus::ok);
}

}  // namespace
}  // namespace netbench::measure
