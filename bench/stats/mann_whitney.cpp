#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <span>
#include <vector>

#include "bench/stats/compare.hpp"
#include "bench/stats/student_t.hpp"

namespace netbench::stats {

namespace {

constexpr std::size_t kExactLimit = 60;

/// Twice the mid-rank of each value in a followed by b: whole numbers, ties included.
std::vector<std::size_t> doubled_ranks(std::span<const double> a, std::span<const double> b) {
  std::vector<double> all(a.begin(), a.end());
  all.insert(all.end(), b.begin(), b.end());
  std::vector<double> sorted = all;
  std::sort(sorted.begin(), sorted.end());
  std::vector<std::size_t> ranks;
  ranks.reserve(all.size());
  for (const double value : all) {
    const auto [first, last] = std::equal_range(sorted.begin(), sorted.end(), value);
    ranks.push_back(
        static_cast<std::size_t>((first - sorted.begin()) + (last - sorted.begin()) + 1));
  }
  return ranks;
}

/// Share of all choices of `chosen` ranks whose sum is at least as far from its mean as `observed`.
double exact_p(std::span<const std::size_t> ranks, std::size_t chosen, std::size_t observed) {
  const std::size_t total = std::accumulate(ranks.begin(), ranks.end(), std::size_t{0});
  std::vector<std::vector<double>> ways(chosen + 1, std::vector<double>(total + 1, 0.0));
  ways[0][0] = 1;
  for (const std::size_t rank : ranks) {
    for (std::size_t k = chosen; k > 0; --k) {
      for (std::size_t sum = total; sum >= rank; --sum) {
        ways[k][sum] += ways[k - 1][sum - rank];
      }
    }
  }
  const double mean = static_cast<double>(total * chosen) / static_cast<double>(ranks.size());
  const double distance = std::abs(static_cast<double>(observed) - mean) - 1e-9;
  double extreme = 0;
  double all = 0;
  for (std::size_t sum = 0; sum <= total; ++sum) {
    all += ways[chosen][sum];
    extreme += std::abs(static_cast<double>(sum) - mean) >= distance ? ways[chosen][sum] : 0.0;
  }
  return extreme / all;
}

/// Normal approximation; the variance follows from the ranks themselves, so ties are in it.
double approximate_p(std::span<const std::size_t> ranks, std::size_t chosen, std::size_t observed) {
  const auto n = static_cast<double>(ranks.size());
  const auto k = static_cast<double>(chosen);
  const double mean =
      static_cast<double>(std::accumulate(ranks.begin(), ranks.end(), std::size_t{0})) / n;
  const double squares =
      std::accumulate(ranks.begin(), ranks.end(), 0.0, [mean](double sum, std::size_t rank) {
        const double d = static_cast<double>(rank) - mean;
        return sum + d * d;
      });
  const double variance = k * (n - k) / (n * (n - 1)) * squares;
  const double distance = std::max(std::abs(static_cast<double>(observed) - k * mean) - 1, 0.0);
  return variance > 0 ? 2 * normal_cdf(-distance / std::sqrt(variance)) : 1.0;
}

}  // namespace

double mann_whitney_p(std::span<const double> a, std::span<const double> b) {
  if (a.empty() || b.empty()) {
    return 1;
  }
  const std::vector<std::size_t> ranks = doubled_ranks(a, b);
  const auto observed = std::accumulate(
      ranks.begin(), ranks.begin() + static_cast<std::ptrdiff_t>(a.size()), std::size_t{0});
  return ranks.size() <= kExactLimit ? exact_p(ranks, a.size(), observed)
                                     : approximate_p(ranks, a.size(), observed);
}

}  // namespace netbench::stats
