#include "bench/stats/modes.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numbers>
#include <numeric>

namespace netbench::stats {

namespace {

constexpr double kMinCount = 300;
constexpr double kMinWeight = 0.10;
constexpr double kMaxValley = 0.5;
constexpr double kMinSeparation = 0.10;  // on the log scale; keeps a coarse clock from making humps
constexpr double kMinAshman = 4;
constexpr double kTrim = 0.001;            // left out at either end of the grid
constexpr double kNormalIqr = 1.349;       // quartile distance of a normal in deviations
constexpr double kNormalQuarter = 0.6373;  // shortest interval with a quarter of a normal
constexpr double kMinBandwidth = 0.012;    // 1.5 histogram buckets
constexpr double kSilverman = 0.9;         // Silverman (1986), eq. 3.31
constexpr double kMostEffective = 110;  // bandwidth as if of this many values at most: correlated
                                        // samples are worth far fewer than their number
constexpr int kStepsPerBandwidth = 5;
constexpr int kReach = 4;  // bandwidths that the kernel extends to either side

/// A log value and how many samples have it.
struct Weighted {
  double x;
  double weight;
};

double total_weight(std::span<const Weighted> points) {
  return std::accumulate(points.begin(), points.end(), 0.0,
                         [](double sum, const Weighted& p) { return sum + p.weight; });
}

/// x below which the share q lies; points ascend.
double weighted_quantile(std::span<const Weighted> points, double q) {
  double left = q * total_weight(points);
  for (const Weighted& point : points) {
    left -= point.weight;
    if (left <= 0) {
      return point.x;
    }
  }
  return points.empty() ? 0.0 : points.back().x;
}

double weighted_deviation(std::span<const Weighted> points) {
  double sum = 0;
  double squares = 0;
  for (const Weighted& point : points) {
    sum += point.weight * point.x;
    squares += point.weight * point.x * point.x;
  }
  const double n = total_weight(points);
  return std::sqrt(std::max(squares / n - sum / n * (sum / n), 0.0));
}

double quartile_deviation(std::span<const Weighted> points) {
  return (weighted_quantile(points, 0.75) - weighted_quantile(points, 0.25)) / kNormalIqr;
}

/// Deviation of the densest quarter of the values, as if they were normal; it follows one hump
/// where several humps widen the other measures.
double densest_deviation(std::span<const Weighted> points) {
  const double quarter = total_weight(points) / 4;
  double held = 0;
  double shortest = std::numeric_limits<double>::infinity();
  auto first = points.begin();
  for (const Weighted& last : points) {
    held += last.weight;
    for (; held - first->weight >= quarter; ++first) {
      held -= first->weight;
    }
    if (held >= quarter) {
      shortest = std::min(shortest, last.x - first->x);
    }
  }
  return shortest / kNormalQuarter;
}

double bandwidth(std::span<const Weighted> points) {
  const double spread =
      std::min({weighted_deviation(points), quartile_deviation(points), densest_deviation(points)});
  const double effective = std::min(total_weight(points), kMostEffective);
  return std::max(kSilverman * spread * std::pow(effective, -0.2), kMinBandwidth);
}

/// Log values binned on an even grid, raw and smoothed.
struct Grid {
  double start;
  double step;
  std::vector<double> mass;
  std::vector<double> density;
  [[nodiscard]] double x(std::size_t index) const {
    return start + step * static_cast<double>(index);
  }
};

std::vector<double> gaussian_kernel() {
  constexpr int kHalf = kReach * kStepsPerBandwidth;
  std::vector<double> kernel;
  for (int i = -kHalf; i <= kHalf; ++i) {
    const double z = static_cast<double>(i) / kStepsPerBandwidth;
    kernel.push_back(std::exp(-z * z / 2));
  }
  return kernel;
}

std::vector<double> smoothed(std::span<const double> mass) {
  const std::vector<double> kernel = gaussian_kernel();
  const std::size_t half = kernel.size() / 2;
  std::vector<double> density(mass.size(), 0.0);
  for (std::size_t i = 0; i < mass.size(); ++i) {
    if (mass[i] == 0) {
      continue;
    }
    const std::size_t first = i < half ? half - i : 0;
    const std::size_t last = std::min(kernel.size(), mass.size() + half - i);
    for (std::size_t k = first; k < last; ++k) {
      density[i + k - half] += mass[i] * kernel[k];
    }
  }
  return density;
}

Grid make_grid(std::span<const Weighted> points, double width) {
  const double low = points.front().x - kReach * width;
  const double high = points.back().x + kReach * width;
  Grid grid{.start = low, .step = width / kStepsPerBandwidth, .mass = {}, .density = {}};
  grid.mass.assign(static_cast<std::size_t>((high - low) / grid.step) + 2, 0.0);
  for (const Weighted& point : points) {
    grid.mass[static_cast<std::size_t>(std::lround((point.x - low) / grid.step))] += point.weight;
  }
  grid.density = smoothed(grid.mass);
  return grid;
}

/// A hump: grid cells begin … end-1 with the density's peak among them.
struct Hump {
  std::size_t begin;
  std::size_t end;
  std::size_t peak;
};

std::vector<Hump> split_at_minima(const Grid& grid) {
  const auto& density = grid.density;
  std::vector<Hump> humps{{0, density.size(), 0}};
  bool falling = false;
  for (std::size_t i = 1; i < density.size(); ++i) {
    if (falling && density[i] > density[i - 1]) {
      humps.back().end = i - 1;
      humps.push_back({i - 1, density.size(), i});
    }
    falling = density[i] < density[i - 1] || (falling && density[i] == density[i - 1]);
    if (density[i] > density[humps.back().peak]) {
      humps.back().peak = i;
    }
  }
  return humps;
}

double mass_of(const Grid& grid, const Hump& hump) {
  return std::accumulate(grid.mass.begin() + static_cast<std::ptrdiff_t>(hump.begin),
                         grid.mass.begin() + static_cast<std::ptrdiff_t>(hump.end), 0.0);
}

std::vector<Weighted> cells_of(const Grid& grid, const Hump& hump) {
  std::vector<Weighted> cells;
  for (std::size_t i = hump.begin; i < hump.end; ++i) {
    if (grid.mass[i] > 0) {
      cells.push_back({grid.x(i), grid.mass[i]});
    }
  }
  return cells;
}

/// How weakly two neighbouring humps are separated; above 1: they count as one.
using Weakness = double (*)(const Grid&, const Hump&, const Hump&, double total);

double shallow_valley(const Grid& grid, const Hump& a, const Hump& b, double /*total*/) {
  const double lower = std::min(grid.density[a.peak], grid.density[b.peak]);
  return lower > 0 ? grid.density[b.begin] / lower / kMaxValley
                   : std::numeric_limits<double>::infinity();
}

double low_weight(const Grid& grid, const Hump& a, const Hump& b, double total) {
  const double lighter = std::min(mass_of(grid, a), mass_of(grid, b));
  return lighter > 0 ? kMinWeight * total / lighter : std::numeric_limits<double>::infinity();
}

double small_distance(const Grid& grid, const Hump& a, const Hump& b, double /*total*/) {
  const std::vector<Weighted> left = cells_of(grid, a);
  const std::vector<Weighted> right = cells_of(grid, b);
  const double distance = weighted_quantile(right, 0.5) - weighted_quantile(left, 0.5);
  const double spread =
      std::hypot(quartile_deviation(left), quartile_deviation(right)) / std::numbers::sqrt2;
  return std::max(kMinSeparation, kMinAshman * spread) / distance;
}

/// Joins the weakest neighbours, one pair at a time, until all are separated in this sense.
void join_weak(std::vector<Hump>& humps, const Grid& grid, double total, Weakness weakness) {
  while (humps.size() > 1) {
    std::size_t weakest = 0;
    double worst = 0;
    for (std::size_t i = 0; i + 1 < humps.size(); ++i) {
      const double value = weakness(grid, humps[i], humps[i + 1], total);
      if (value > worst) {
        worst = value;
        weakest = i;
      }
    }
    if (worst <= 1) {
      return;
    }
    Hump& left = humps[weakest];
    const Hump& right = humps[weakest + 1];
    left.peak = grid.density[right.peak] > grid.density[left.peak] ? right.peak : left.peak;
    left.end = right.end;
    humps.erase(humps.begin() + static_cast<std::ptrdiff_t>(weakest) + 1);
  }
}

/// The points between the trimmed ends.
std::span<const Weighted> trimmed(std::span<const Weighted> points) {
  const double low = weighted_quantile(points, kTrim);
  const double high = weighted_quantile(points, 1 - kTrim);
  const auto below = [](const Weighted& p, double x) { return p.x < x; };
  const auto above = [](double x, const Weighted& p) { return x < p.x; };
  const auto first = std::lower_bound(points.begin(), points.end(), low, below);
  const auto last = std::upper_bound(points.begin(), points.end(), high, above);
  return {first, last};
}

Modes find_modes(std::span<const Weighted> all) {
  const double total = total_weight(all);
  if (all.empty()) {
    return {};
  }
  if (total < kMinCount) {
    return {{{std::exp(weighted_quantile(all, 0.5)), 1.0}}};
  }
  const auto points = trimmed(all);
  const Grid grid = make_grid(points, bandwidth(points));
  std::vector<Hump> humps = split_at_minima(grid);
  for (const Weakness weakness : {shallow_valley, low_weight, small_distance}) {
    join_weak(humps, grid, total, weakness);
  }
  Modes result;
  for (const Hump& hump : humps) {
    result.modes.push_back(
        {std::exp(grid.x(hump.peak)), mass_of(grid, hump) / total_weight(points)});
  }
  return result;
}

}  // namespace

Modes detect_modes(const Histogram& histogram) {
  std::vector<Weighted> points;
  for (const auto& [lowest, times] : histogram.sparse()) {
    const double middle =
        static_cast<double>(lowest) + static_cast<double>(Histogram::bucket_width(lowest) - 1) / 2;
    if (middle > 0) {
      points.push_back({std::log(middle), static_cast<double>(times)});
    }
  }
  return find_modes(points);
}

Modes detect_modes(std::span<const double> values) {
  std::vector<Weighted> points;
  points.reserve(values.size());
  for (const double value : values) {
    if (value > 0 && std::isfinite(value)) {
      points.push_back({std::log(value), 1.0});
    }
  }
  std::sort(points.begin(), points.end(),
            [](const Weighted& a, const Weighted& b) { return a.x < b.x; });
  return find_modes(points);
}

}  // namespace netbench::stats
