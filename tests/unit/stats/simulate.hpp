#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "bench/stats/rng.hpp"

namespace netbench::stats::testing {

/// Latency-like samples of known median: a log-normal body whose logarithm is AR(1) with standard
/// deviation `sigma`, and 1 % of samples ten times as long.
class LatencyModel {
 public:
  static constexpr double kBodyMedianNs = 10'000;
  static constexpr double kSpikeShare = 0.01;
  static constexpr double kSpikeFactor = 10;

  LatencyModel(std::uint64_t seed, double phi, double sigma = 0.1)
      : rng_(seed), phi_(phi), sigma_(sigma), state_(rng_.normal()) {}

  double next() {
    state_ = phi_ * state_ + std::sqrt(1 - phi_ * phi_) * rng_.normal();
    const double body = kBodyMedianNs * std::exp(sigma_ * state_);
    return rng_.uniform() < kSpikeShare ? body * kSpikeFactor : body;
  }

  std::vector<double> take(std::size_t n) {
    std::vector<double> samples(n);
    for (double& sample : samples) {
      sample = next();
    }
    return samples;
  }

  /// Spikes all lie above it, so it is the body's quantile 0.5/0.99; z(0.50505…) = 0.0126611.
  [[nodiscard]] double true_median() const {
    constexpr double kZ = 0.0126611;
    return kBodyMedianNs * std::exp(sigma_ * kZ);
  }

 private:
  Rng rng_;
  double phi_;
  double sigma_;
  double state_;
};

/// Share of `hits` in `trials`.
inline double share(std::size_t hits, std::size_t trials) {
  return static_cast<double>(hits) / static_cast<double>(trials);
}

}  // namespace netbench::stats::testing
