#include "bench/cli/pair_run.hpp"

#include <fmt/format.h>
#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <utility>

#include "bench/cli/diagnose_pair.hpp"
#include "bench/cli/meet_hosts.hpp"
#include "bench/cli/pair_connect.hpp"
#include "bench/core/clock.hpp"
#include "bench/core/log.hpp"
#include "bench/core/units.hpp"
#include "bench/facts/mtu_knob.hpp"
#include "bench/measure/harness_cost.hpp"
#include "bench/measure/initiator.hpp"
#include "bench/measure/interface_mtu.hpp"
#include "bench/measure/path_probe.hpp"
#include "bench/measure/row_notes.hpp"
#include "bench/plan/builder.hpp"
#include "bench/session/messages.hpp"
#include "report/bounds/ceiling.hpp"
#include "report/bounds/rfc6349.hpp"
#include "report/document/writer.hpp"

namespace netbench::cli {

namespace {

std::vector<std::uint8_t> bytes_of(const session::SocketAddress& address) {
  const auto* begin = reinterpret_cast<const std::uint8_t*>(&address.storage);
  return {begin, begin + address.size};
}

std::int64_t mtu_of(const HostInfo& host) {
  const Fact* fact = find_fact(host, fmt::format("if.{}.mtu_bytes", host.interface));
  const auto* number = fact != nullptr ? std::get_if<std::int64_t>(&fact->value) : nullptr;
  return number != nullptr ? *number : 0;
}

/// One run of `netbench pair`, step by step; each step may end it.
class PairRun {
 public:
  PairRun(const PairOptions& options, const plugin::PluginHost& plugins, Interrupt& interrupt,
          Document& document, PairOutput& output)
      : options_(options),
        plugins_(plugins),
        interrupt_(interrupt),
        document_(document),
        output_(output) {}

  ~PairRun() { interrupt_.on_signal({}); }
  PairRun(const PairRun&) = delete;
  PairRun& operator=(const PairRun&) = delete;

  [[nodiscard]] Status run() {
    for (const std::string& line : facts::recover_journal()) {
      log(LogLevel::warning, line);
    }
    using Step = Status (PairRun::*)();
    for (const Step step :
         {&PairRun::choose_transports, &PairRun::resume, &PairRun::connect, &PairRun::meet_hosts,
          &PairRun::probe_path, &PairRun::make_plan, &PairRun::sweep, &PairRun::experiment}) {
      const Status done = interrupt_.flag() ? interrupted() : (this->*step)();
      if (!done) {
        return interrupt_.flag() ? interrupted() : pair_ ? with_an_agent(done.error()) : done;
      }
    }
    channel().close();
    return {};
  }

 private:
  /// What ends a run that had an agent already: not the user's error, but the hosts'.
  [[nodiscard]] static Status with_an_agent(Error error) {
    if (error.exit_class == ExitClass::error) {
      error.exit_class = ExitClass::nothing_measured;
    }
    return tl::unexpected(std::move(error));
  }

  [[nodiscard]] static Status interrupted() {
    return fail("interrupted", "stopped by a signal", {}, ExitClass::interrupted);
  }

  [[nodiscard]] session::Channel& channel() { return *pair_->agent.channel; }
  [[nodiscard]] HostInfo& local() { return document_.hosts["h0"]; }
  [[nodiscard]] HostInfo& remote() { return document_.hosts["h1"]; }

  /// Loads the chosen transports; those that are unavailable here are left out with their reason,
  /// unless the user asked for them.
  [[nodiscard]] Status choose_transports() {
    for (const std::string& name : options_.transports) {
      const auto transport = plugins_.load(name);
      if (!transport) {
        return tl::unexpected(transport.error());
      }
      if (const auto probed = transport->probe(services_); !probed) {
        if (options_.transports_given) {
          Error error = probed.error();
          error.exit_class = ExitClass::nothing_measured;
          return tl::unexpected(error);
        }
        log(LogLevel::warning, fmt::format("{} is left out: {}", name, probed.error().message));
        continue;
      }
      transports_.push_back(name);
      specs_.push_back(transport->spec());
    }
    return specs_.empty() ? fail("no-transport", "no transport is available on this host",
                                 "\"netbench transports\" says why.", ExitClass::nothing_measured)
                          : Status{};
  }

  [[nodiscard]] Status resume() {
    if (!options_.resume) {
      return {};
    }
    auto earlier = report::read_resumable(options_.json);
    if (!earlier) {
      return tl::unexpected(earlier.error());
    }
    if (*earlier) {
      earlier_ = std::move(**earlier);
      document_.run.id = earlier_->run.id;
      document_.run.started_utc = earlier_->run.started_utc;
      // Kept whatever happens before the sweep goes on.
      document_.measurements = earlier_->measurements;
      document_.hosts = earlier_->hosts;
      document_.config = earlier_->config;
    }
    return {};
  }

  [[nodiscard]] Status connect() {
    output_.say(fmt::format("connecting to {} …", options_.peer));
    ConnectWatch watch;
    auto pair = connect_pair(options_, plugins_, transports_, watch, interrupt_.fd());
    if (!pair) {
      watch.record(document_);
      return tl::unexpected(pair.error());
    }
    pair_.emplace(std::move(*pair));
    document_.run.authenticated = channel().secure();
    interrupt_.on_signal([this] { channel().cancel(); });
    return {};
  }

  [[nodiscard]] Status meet_hosts() {
    const auto reply = cli::meet_hosts(*pair_, document_);
    if (!reply) {
      return tl::unexpected(reply.error());
    }
    remote_refusal_ = reply->knobs_refused_because;
    shared_interface_ = channel().local().host() == channel().peer().host();
    std::vector<int> known;
    if (document_.run.same_machine) {
      known.push_back(reply->agent_pid);
    }
    meter_.emplace(local().interface, known);
    // The user who asks for an MTU permits it on this host.
    local_mtu_.emplace(local().interface, !options_.plan.mtus.empty());
    document_.run.clock_ns = measure::clock_cost_ns();
    document_.run.harness_ns_per_message = measure::harness_cost_ns(plugins_, services_);
    return {};
  }

  [[nodiscard]] Status probe_path() {
    output_.say("probing the path for the largest packet that passes …");
    auto found = measure::probe_path(channel(), {pair_->agent.address, mtu_of(local())});
    if (!found) {
      return tl::unexpected(found.error());
    }
    document_.run.path_mtu = *found;
    return black_hole_error(*found);
  }

  [[nodiscard]] Status black_hole_error(const PathMtu& path) const {
    if (!path.black_hole || options_.ignore_path_mtu) {
      return {};
    }
    return fail(
        "mtu-blackhole",
        fmt::format(
            "packets of more than {} bytes towards {} and {} bytes back vanish, and nothing "
            "on the path says so ({})",
            path.forward_bytes, options_.peer, path.reverse_bytes, path.method),
        fmt::format(
            "Raise the MTU of the device in between, or lower this interface's: ip link set "
            "dev {} mtu {}. --ignore-path-mtu measures all the same.",
            document_.hosts.at("h0").interface, std::min(path.forward_bytes, path.reverse_bytes)),
        ExitClass::nothing_measured);
  }

  [[nodiscard]] Status make_plan() {
    plan::PlanRequest request = options_.plan;
    request.transports = specs_;
    if (std::min(mtu_of(local()), mtu_of(remote())) > 1500 && request.mtus.empty()) {
      request.default_mtus = {1500};
    }
    if (earlier_) {
      const auto seed = earlier_->config.find("seed");
      if (seed != earlier_->config.end() && std::holds_alternative<std::int64_t>(seed->second)) {
        request.seed = static_cast<std::uint64_t>(std::get<std::int64_t>(seed->second));
      }
    }
    auto built = plan::build_plan(request);
    if (!built) {
      return tl::unexpected(built.error());
    }
    plan_ = std::move(*built);
    const std::int64_t budget =
        options_.budget_ns.value_or(plan::defaults_of(request.profile).budget_ns);
    // Where the user gave axes or rounds, a default budget must not cut the rounds.
    time_ = plan::plan_time(plan_.points, plan_.rounds, budget,
                            options_.plan.rounds ? plan_.rounds : 3);
    for (const std::string& note : plan_.notes) {
      log(LogLevel::info, note);
    }
    if (!time_.note.empty()) {
      log(LogLevel::warning, time_.note);
    }
    if (auto taken = take_over_rows(); !taken) {
      return taken;
    }
    record_config(request, budget);
    return {};
  }

  void record_config(const plan::PlanRequest& request, std::int64_t budget_ns) {
    auto& config = document_.config;
    config["peer"] = options_.peer;
    config["peer_address"] = pair_->agent.address.text();
    config["seed"] = static_cast<std::int64_t>(request.seed);
    config["rounds"] = static_cast<std::int64_t>(time_.rounds);
    config["budget_ns"] = budget_ns;
    config["points"] = static_cast<std::int64_t>(plan_.points.size());
    config["profile"] = std::string(request.profile == plan::Profile::quick      ? "quick"
                                    : request.profile == plan::Profile::thorough ? "thorough"
                                                                                 : "default");
    std::string names;
    for (const std::string& name : transports_) {
      names += (names.empty() ? "" : ",") + name;
    }
    config["transports"] = names;
    if (options_.link_rate_bps) {
      config["link_rate_bps"] = *options_.link_rate_bps;
    }
  }

  /// The rows of the plan, with the rounds of an earlier part of this run.
  [[nodiscard]] Status take_over_rows() {
    rows_ = measure::empty_rows(plan_);
    if (!earlier_) {
      return {};
    }
    std::size_t matched = 0;
    for (Measurement& row : rows_) {
      const auto found = std::ranges::find(earlier_->measurements, row.id, &Measurement::id);
      if (found != earlier_->measurements.end()) {
        ++matched;
        row = found->rounds.empty() ? row : *found;
      }
    }
    if (matched != earlier_->measurements.size()) {
      return fail("resume-mismatch",
                  fmt::format("{} has {} points, of which this command line plans {}",
                              options_.json, earlier_->measurements.size(), matched),
                  "Use the same options as for the first part.", ExitClass::usage);
    }
    return {};
  }

  [[nodiscard]] Status sweep() {
    measure::MtuAxis mtu(
        {mtu_of(local()), mtu_of(remote()), local_mtu_->refusal(), remote_refusal_},
        [this](std::int64_t bytes) { return set_local_mtu(bytes); },
        [this](std::int64_t bytes) { return set_remote_mtu(bytes); },
        [this](std::int64_t bytes) { return verify_mtu(bytes); });
    const Status outcome = measure::run_sweep(plan_, time_, mtu, sweep_context(), rows_, output_);
    for (Measurement& row : rows_) {
      finish_row(row);
    }
    document_.measurements = std::move(rows_);
    return outcome;
  }

  [[nodiscard]] measure::SweepContext sweep_context() {
    return {channel(),
            plugins_,
            services_,
            local(),
            remote(),
            bytes_of(pair_->agent.address),
            bytes_of(channel().local()),
            shared_interface_,
            *meter_,
            options_.precision > 0 ? options_.precision : 0.01,
            options_.precision > 0 ? options_.precision : 0.005,
            interrupt_.flag()};
  }

  /// Changes one thing at a time where the rows leave open what limits them. A peer that is lost
  /// here costs no result.
  [[nodiscard]] Status experiment() {
    if (options_.diagnose_budget_ns == 0) {
      return {};
    }
    const measure::SweepContext context = sweep_context();
    const auto say = [this](const std::string& text) { output_.say(text); };
    const Status tried = try_experiments(
        document_, {plan_, specs_, context, mtu_of(local()), options_.diagnose_budget_ns, say});
    if (interrupt_.flag()) {
      return interrupted();
    }
    if (!tried) {
      log(LogLevel::warning,
          "what limits the rows was not tried to the end: " + tried.error().message);
    }
    return {};
  }

  /// What needs the facts of both hosts: the wire's ceiling with what is measured against it, and
  /// the harness's own share.
  void finish_row(Measurement& row) {
    measure::note_counters(row);
    report::CeilingOptions ceiling_options;
    ceiling_options.link_rate_bps = options_.link_rate_bps;
    if (options_.link_overhead_bytes > 0) {
      ceiling_options.overhead_bytes = options_.link_overhead_bytes;
    }
    const report::Ceiling ceiling = report::wire_ceiling(row, local(), remote(), ceiling_options);
    row.summary.ceiling_bps = ceiling.goodput_bps;
    row.summary.ceiling_note = ceiling.note;
    report::add_rfc6349(row);
    if (measure::harness_counts(row, document_.run.harness_ns_per_message.value_or(0))) {
      row.flags.insert("harness_cost");
    }
  }

  [[nodiscard]] Status set_local_mtu(std::int64_t bytes) {
    const auto change = local_mtu_->set(bytes, options_.force_mtu);
    return change ? Status{} : Status(tl::unexpected(with_context(change.error(), "this host")));
  }

  [[nodiscard]] Status set_remote_mtu(std::int64_t bytes) {
    const auto reply = session::ask<session::MtuReply>(
        channel(), session::MtuRequest{bytes, options_.force_mtu}, std::chrono::seconds(15));
    return reply ? Status{} : Status(tl::unexpected(with_context(reply.error(), "the agent")));
  }

  [[nodiscard]] Status verify_mtu(std::int64_t bytes) {
    const auto found = measure::probe_path(channel(), {pair_->agent.address, bytes});
    return found ? black_hole_error(*found) : Status(tl::unexpected(found.error()));
  }

  const PairOptions& options_;
  const plugin::PluginHost& plugins_;
  Interrupt& interrupt_;
  Document& document_;
  PairOutput& output_;
  plugin::HostServices services_;
  std::vector<std::string> transports_;
  std::vector<plan::TransportSpec> specs_;
  std::optional<Document> earlier_;
  std::optional<PairConnection> pair_;
  std::string remote_refusal_;
  bool shared_interface_ = false;
  std::optional<measure::HostMeter> meter_;
  std::optional<measure::InterfaceMtu> local_mtu_;
  plan::SweepPlan plan_;
  plan::TimePlan time_;
  std::vector<Measurement> rows_;
};

std::string random_id() {
  std::uint64_t bits = 0;
  [[maybe_unused]] const auto filled = ::getrandom(&bits, sizeof bits, 0);
  return fmt::format("{:016x}", bits);
}

}  // namespace

Document new_document(const PairOptions& options, std::span<char* const> words) {
  Document document;
  document.status = DocumentStatus::failed;
  document.error = Error{"unfinished", "the run was not over when this was written",
                         "The same command with --resume goes on.", ExitClass::partial};
  document.run.id = random_id();
  document.run.started_utc = utc_now();
  document.run.netbench_version = NETBENCH_VERSION;
  document.run.command_line = {"netbench", "pair"};
  document.run.command_line.insert(document.run.command_line.end(), words.begin(), words.end());
  document.run.authenticated = !options.insecure;
  return document;
}

Status run_measurements(const PairOptions& options, const plugin::PluginHost& plugins,
                        Interrupt& interrupt, Document& document, PairOutput& output) {
  return PairRun(options, plugins, interrupt, document, output).run();
}

}  // namespace netbench::cli
