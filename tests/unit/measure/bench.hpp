#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "bench/measure/initiator.hpp"
#include "bench/measure/responder.hpp"
#include "bench/plan/builder.hpp"
#include "bench/plan/levels.hpp"
#include "bench/plugin/host.hpp"
#include "bench/session/agent_server.hpp"
#include "bench/session/client.hpp"

/// Two ends on the simulated transport, over one real control connection on loopback.
namespace netbench::measure::test {

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
      const ResponderContext context{plugins_, services_, false, {}, {}, {}, {}, {}};
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
    return run_sweep(plan, time, mtu, context(), rows, sink);
  }

  [[nodiscard]] SweepContext context() {
    return {channel(), plugins_, services_, host_, host_, {},
            {},        true,     meter_,    0.01,  0.005, interrupted};
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

}  // namespace netbench::measure::test
