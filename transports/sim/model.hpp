#pragma once

#include <cmath>
#include <cstdint>

/// The simulated path: pure, seeded, in virtual time. Nothing here waits or reads a clock.
namespace netbench::sim {

/// splitmix64 (Steele, Lea, Flood, OOPSLA 2014): one 64-bit state, the same on every platform.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15ULL);
    z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27U)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31U);
  }

  /// True with this probability; draws nothing for 0.
  bool chance(double probability) {
    return probability > 0 && static_cast<double>(next() >> 11U) * 0x1p-53 < probability;
  }

  /// Standard normal to within 0.02 in its distribution function: the sum of four 16-bit uniforms
  /// (Irwin–Hall), scaled to unit variance. Cheap, and never beyond ±3.5.
  double normal() {
    const std::uint64_t bits = next();
    const auto sum = (bits & 0xffffU) + (bits >> 16U & 0xffffU) + (bits >> 32U & 0xffffU) +
                     (bits >> 48U & 0xffffU);
    constexpr double kMean = 2 * 65535.0;
    constexpr double kDeviation = 65536.0 * 0.57735026918962576;  // sqrt(4 / 12) of the width
    return (static_cast<double>(sum) - kMean) / kDeviation;
  }

 private:
  std::uint64_t state_;
};

/// All relative numbers as fractions.
struct Parameters {
  double rtt_ns = 0;
  double jitter = 0;       // standard deviation of the logarithm of a sample
  double phi = 0;          // correlation of neighbouring samples
  double round_sd = 0;     // standard deviation of the logarithm of a session's level
  double drift_per_s = 0;  // growth of times (fall of rates) per virtual second
  double spike_share = 0;  // of round trips that take spike_ns longer
  double spike_ns = 0;
  double second_share = 0;     // of samples in a second mode …
  double second_distance = 0;  // … that is this much slower
  double rate_bps = 0;         // of the path
  double loss = 0;             // of packets
  double byte_cost_ns = 0;     // on each end
  double message_cost_ns = 0;  // on each end
  double ramp_ns = 0;          // time constant of the warm-up
};

/// One end's view of the path in one session.
class Model {
 public:
  /// Both ends with the same `seed` share the session's level; `stream` tells their noise apart.
  Model(const Parameters& parameters, std::uint64_t seed, std::uint64_t stream)
      : p_(parameters),
        level_(std::exp(parameters.round_sd * Random(seed).normal())),
        innovation_(std::sqrt(1 - parameters.phi * parameters.phi)),
        random_(Random(seed ^ (stream + 1) * 0xd1342543de82ef95ULL).next()) {}

  [[nodiscard]] std::int64_t now_ns() const { return static_cast<std::int64_t>(now_ns_); }

  /// Time of one round trip of a message; virtual time moves on by it.
  double round_trip_ns(double message_bytes) {
    const double each_way =
        message_bytes * (p_.byte_cost_ns + 8e9 / p_.rate_bps) + p_.message_cost_ns;
    double time = (p_.rtt_ns + 2 * each_way) * slowness(coldness(now_ns_));
    if (random_.chance(p_.spike_share)) {
      time += p_.spike_ns;
    }
    if (random_.chance(p_.loss * 2)) {
      time += kRetransmissionNs;
    }
    now_ns_ += time;
    return time;
  }

  /// Payload bytes that arrive in a window of this length; virtual time moves on by it.
  std::int64_t window_bytes(double duration_ns, double message_bytes) {
    const double cold = (coldness(now_ns_) - coldness(now_ns_ + duration_ns)) * p_.ramp_ns /
                        duration_ns;  // mean over the window
    const double rate = steady_bytes_per_ns(message_bytes) * (1 - cold) / slowness(0);
    now_ns_ += duration_ns;
    const double bytes = rate * duration_ns + remainder_;
    remainder_ = bytes - std::floor(bytes);
    return static_cast<std::int64_t>(bytes);
  }

 private:
  /// Linux' smallest retransmission time-out, TCP_RTO_MIN in include/net/tcp.h.
  static constexpr double kRetransmissionNs = 200e6;
  /// Payload of a 1500-byte packet with TCP timestamps (RFC 9293, RFC 7323).
  static constexpr double kSegmentBytes = 1448;

  /// What is left of the warm-up at a time: exp(-t/ramp), and 0 once that is below 1e-17.
  [[nodiscard]] double coldness(double time_ns) const {
    constexpr double kOver = 40;
    return time_ns < kOver * p_.ramp_ns ? std::exp(-time_ns / p_.ramp_ns) : 0;
  }

  /// Factor on a time: level of the session, drift, warm-up, second mode and correlated noise.
  double slowness(double warmup) {
    noise_ = p_.phi * noise_ + innovation_ * random_.normal();
    const double mode = random_.chance(p_.second_share) ? 1 + p_.second_distance : 1;
    return level_ * (1 + p_.drift_per_s * now_ns_ * 1e-9) * (1 + warmup) * mode *
           std::exp(p_.jitter * noise_);
  }

  /// The slowest of wire, processor and loss recovery: MSS/RTT × sqrt(3/2 / p) (Mathis, Semke,
  /// Mahdavi, Ott, ACM CCR 27(3), 1997).
  [[nodiscard]] double steady_bytes_per_ns(double message_bytes) const {
    const double wire = p_.rate_bps / 8e9;
    const double processor = 1 / (p_.byte_cost_ns + p_.message_cost_ns / message_bytes);
    const double recovery =
        p_.loss > 0 ? kSegmentBytes / p_.rtt_ns * std::sqrt(1.5 / p_.loss) : wire;
    return std::fmin(wire, std::fmin(processor, recovery));
  }

  Parameters p_;
  double level_;
  double innovation_;  // weight of fresh noise that keeps its variance at 1
  Random random_;
  double noise_ = 0;
  double now_ns_ = 0;
  double remainder_ = 0;
};

}  // namespace netbench::sim
