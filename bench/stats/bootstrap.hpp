#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "bench/stats/estimate.hpp"

namespace netbench::stats {

struct BootstrapOptions {
  double level = 0.95;
  std::size_t resamples = 1000;
  std::size_t block_length = 0;  ///< 0: √n
  std::uint64_t seed = 1;
};

/// Quantile q of consecutive samples with a percentile interval from the moving-block bootstrap
/// (Künsch, Ann. Stat. 17 (1989)), whose blocks keep the autocorrelation. Value = order statistic
/// ceil(q·n). No interval below 20 samples or where n(1-q) < 10 (or n·q < 10). Deterministic for a
/// seed. Cost: one sort, then resamples × n·min(q, 1-q)·log n: cheap for tails.
[[nodiscard]] Estimate bootstrap_quantile(std::span<const double> samples, double q,
                                          const BootstrapOptions& options = {});

}  // namespace netbench::stats
