/// A transport without a network: the skeleton to copy for a new one, and the double with which
/// stopping, statistics, diagnosis and the control plane are tested. Results depend on the seed and
/// the tunables alone; time is virtual (model.hpp), so a simulated second costs microseconds for a
/// stream, and some tens of ns a sample for round trips. The tables below are all that the command
/// line, the documents and the README need to know about it.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "transports/sdk/error.hpp"
#include "transports/sdk/export.hpp"
#include "transports/sdk/table.hpp"
#include "transports/sdk/values.hpp"
#include "transports/sim/link.hpp"
#include "transports/sim/model.hpp"

namespace netbench::sim {

namespace {

constexpr std::int64_t kMillion = 1'000'000;
constexpr std::uint32_t kAllDirections = NB_FORWARD | NB_REVERSE | NB_BOTH;

constexpr nb_workload kWorkloadRows[] = {
    sdk::row(sdk::Workload{.name = "latency",
                           .summary = "round trips of one message, in virtual time",
                           .pattern = NB_PING_PONG,
                           .max_message_bytes = std::int64_t{1} << 30,
                           .default_sizes = "64,1K,64K",
                           .quick_sizes = "64"}),
    sdk::row(sdk::Workload{.name = "bandwidth",
                           .summary = "bytes that arrive, in virtual time",
                           .pattern = NB_STREAM,
                           .directions = kAllDirections,
                           .max_message_bytes = std::int64_t{1} << 30,
                           .default_sizes = "8K,128K,1M",
                           .quick_sizes = "128K"}),
    sdk::row(sdk::Workload{.name = "message_rate",
                           .summary = "messages that arrive, in virtual time",
                           .pattern = NB_RATE,
                           .directions = kAllDirections,
                           .max_message_bytes = std::int64_t{1} << 30,
                           .default_sizes = "64,1K",
                           .quick_sizes = "64"}),
};

/// A share or a relative number, in parts per million.
constexpr nb_tunable ppm(const char* name, const char* help, std::int64_t maximum,
                         std::int64_t default_number = 0, const char* sweep = nullptr) {
  return sdk::row(sdk::Integer{.name = name,
                               .help = help,
                               .maximum = maximum,
                               .default_number = default_number,
                               .sweep = sweep});
}

constexpr nb_tunable time(const char* name, const char* help, std::int64_t default_ns) {
  return sdk::row(sdk::Integer{.name = name,
                               .help = help,
                               .unit = NB_UNIT_NANOSECONDS,
                               .maximum = std::int64_t{3'600'000'000'000},
                               .default_number = default_ns});
}

constexpr nb_tunable kTunableRows[] = {
    time("rtt", "round trip of an empty message", 20'000),
    ppm("jitter_ppm", "standard deviation of the logarithm of a sample", 10 * kMillion, 50'000),
    ppm("phi_ppm", "correlation of neighbouring samples", kMillion - 1),
    ppm("round_sd_ppm", "standard deviation of the logarithm of a round's level", 10 * kMillion,
        10'000),
    ppm("drift_ppm", "slowing down per virtual second", 10 * kMillion),
    ppm("spike_ppm", "share of round trips that are delayed by `spike`", kMillion, 1'000),
    time("spike", "delay of a spike", 200'000),
    ppm("second_ppm", "share of samples in a second mode", kMillion),
    ppm("second_distance_ppm", "how much slower the second mode is", 100 * kMillion, 500'000),
    sdk::row(sdk::Integer{.name = "rate",
                          .help = "rate of the path",
                          .unit = NB_UNIT_BITS_PER_SECOND,
                          .minimum = 1'000,
                          .maximum = std::int64_t{100'000'000'000'000},
                          .default_number = std::int64_t{10'000'000'000}}),
    ppm("loss_ppm", "share of packets lost", 500'000, 0, "100"),
    sdk::row(sdk::Integer{.name = "byte_cost_ps",
                          .help = "processor time of one byte on each end, picoseconds",
                          .maximum = kMillion,
                          .default_number = 50}),
    time("message_cost", "processor time of one message on each end", 500),
    time("ramp", "time constant of the warm-up", 20'000'000),
};

Parameters parameters_of(const nb_open_args& args) {
  const sdk::Values values(kTunableRows, args);
  const auto number = [&](const char* name) { return static_cast<double>(values.number(name)); };
  const auto fraction = [&](const char* name) { return number(name) * 1e-6; };
  constexpr double kSmallest = 1e-3;  // keeps a path of cost 0 finite
  return {.rtt_ns = std::fmax(number("rtt"), kSmallest),
          .jitter = fraction("jitter_ppm"),
          .phi = fraction("phi_ppm"),
          .round_sd = fraction("round_sd_ppm"),
          .drift_per_s = fraction("drift_ppm"),
          .spike_share = fraction("spike_ppm"),
          .spike_ns = number("spike"),
          .second_share = fraction("second_ppm"),
          .second_distance = fraction("second_distance_ppm"),
          .rate_bps = number("rate"),
          .loss = fraction("loss_ppm"),
          .byte_cost_ns = std::fmax(number("byte_cost_ps") * 1e-3, 1e-9),
          .message_cost_ns = number("message_cost"),
          .ramp_ns = std::fmax(number("ramp"), kSmallest)};
}

/// Does this end receive a stream in this direction?
bool is_receiving(const nb_open_args& args) {
  return args.direction == NB_BOTH || (args.direction == NB_FORWARD) == (args.role == NB_RESPONDER);
}

class Session {
 public:
  Session(sdk::Host host, const nb_open_args& args)
      : ping_pong_(kWorkloadRows[args.workload].pattern == NB_PING_PONG),
        receiving_(is_receiving(args)),
        message_bytes_(args.message_bytes),
        model_(parameters_of(args), args.seed, args.role),
        link_(host, args) {
    const sdk::Values values(kTunableRows, args);
    for (std::size_t i = 0; i < std::size(kTunableRows); ++i) {
      effective_[i] = values.number(kTunableRows[i].name);
    }
  }

  nb_blob describe() { return link_.describe(); }

  void connect(std::span<const nb_blob> peers) {
    link_.connect(peers.empty() ? nb_blob{nullptr, 0} : peers.front());
  }

  void effective(sdk::EffectiveSink sink) const {
    for (std::size_t i = 0; i < std::size(kTunableRows); ++i) {
      sink.number(kTunableRows[i].name, effective_[i]);
    }
  }

  [[nodiscard]] const char* method() const {
    return ping_pong_ ? "simulated: round trips drawn from a seeded model, in virtual time"
                      : "simulated: bytes drawn from a seeded model, in virtual time";
  }

  void run(const nb_batch& batch, nb_batch_result& result) {
    result.begin_ns = model_.now_ns();
    if (ping_pong_ && batch.iterations > 0) {
      time_round_trips(batch.iterations, result);
    } else if (!ping_pong_ && receiving_ && batch.duration_ns > 0) {
      observe_window(batch.duration_ns, result);
    } else {
      link_.wait_for_end();
    }
    result.end_ns = model_.now_ns();
    if (link_.is_cancelled()) {
      throw sdk::cancelled();
    }
  }

  void stop(std::int64_t timeout_ns) {
    link_.close_down();
    const Totals peer = link_.exchange({sent_bytes_, received_bytes_}, timeout_ns);
    // What an end did not see itself it learns here: a sender how much has arrived, the responder
    // of a ping-pong how much there was to answer.
    sent_bytes_ = std::max(sent_bytes_.load(), peer.received_bytes);
    received_bytes_ = std::max(received_bytes_.load(), peer.sent_bytes);
  }

  void cancel() noexcept { link_.cancel(); }

  void counters(sdk::Sink sink) const {
    sink.number("payload.sent_bytes", static_cast<double>(sent_bytes_));
    sink.number("payload.received_bytes", static_cast<double>(received_bytes_));
  }

 private:
  void time_round_trips(std::int64_t iterations, nb_batch_result& result) {
    const auto wanted = std::min(static_cast<std::size_t>(iterations), result.sample_capacity);
    const auto bytes = static_cast<double>(message_bytes_);
    std::size_t count = 0;
    for (; count < wanted && !link_.is_cancelled(); ++count) {
      result.samples_ns[count] = static_cast<std::uint64_t>(model_.round_trip_ns(bytes));
    }
    result.sample_count = count;
    account(static_cast<std::int64_t>(count) * message_bytes_, result);
    sent_bytes_ += result.bytes;
  }

  void observe_window(std::int64_t duration_ns, nb_batch_result& result) {
    account(
        model_.window_bytes(static_cast<double>(duration_ns), static_cast<double>(message_bytes_)),
        result);
  }

  void account(std::int64_t bytes, nb_batch_result& result) {
    const std::int64_t before = received_bytes_;
    received_bytes_ = before + bytes;
    result.bytes = bytes;
    result.messages = received_bytes_ / message_bytes_ - before / message_bytes_;
  }

  bool ping_pong_;
  bool receiving_;
  std::int64_t message_bytes_;
  Model model_;
  Link link_;
  std::int64_t effective_[std::size(kTunableRows)] = {};
  std::atomic<std::int64_t> sent_bytes_{0};  // read by counters() while run() is in progress
  std::atomic<std::int64_t> received_bytes_{0};
};

}  // namespace

struct Sim {
  using Session = sim::Session;
  static constexpr const char* kName = "sim";
  static constexpr const char* kSummary = "a simulated path in virtual time, for tests";
  static constexpr const char* kVersion = "1.0";
  static constexpr std::span<const nb_workload> kWorkloads = kWorkloadRows;
  static constexpr std::span<const nb_tunable> kTunables = kTunableRows;

  static void probe(sdk::Host /*host*/, sdk::Sink sink) { sink.text("device", "simulated"); }

  static void check(const nb_open_args& args) {
    const sdk::Values values(kTunableRows, args);
    if (values.number("second_ppm") > 0 && values.number("second_distance_ppm") == 0) {
      throw sdk::invalid("second_distance_ppm", "a second mode needs a distance above 0");
    }
  }

  static std::unique_ptr<Session> open(sdk::Host host, const nb_open_args& args) {
    check(args);
    return std::make_unique<Session>(host, args);
  }
};

}  // namespace netbench::sim

NB_EXPORT_TRANSPORT(netbench::sim::Sim)
