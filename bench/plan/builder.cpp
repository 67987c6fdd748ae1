#include "bench/plan/builder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <set>
#include <utility>

#include "bench/plan/factors.hpp"
#include "bench/plan/levels.hpp"
#include "bench/plan/request_check.hpp"

namespace netbench::plan {

namespace {

constexpr std::size_t kMaxPoints = 10'000;

using Setting = std::pair<const std::string, std::vector<Level>>;

using Points = std::vector<TestPoint>;

/// Every point once for each value of one more factor.
template <class T>
Points multiplied(const Points& points, const std::vector<T>& values,
                  const std::function<void(TestPoint&, const T&)>& set) {
  Points product;
  product.reserve(points.size() * values.size());
  for (const TestPoint& point : points) {
    for (const T& value : values) {
      set(product.emplace_back(point), value);
    }
  }
  return product;
}

void set_size(TestPoint& point, const std::int64_t& size) { point.message_bytes = size; }
void set_direction(TestPoint& point, const Direction& direction) { point.direction = direction; }
void set_mtu(TestPoint& point, const std::int64_t& mtu) { point.mtu_bytes = mtu; }

std::function<void(TestPoint&, const Level&)> set_tunable(const std::string& name) {
  return [name](TestPoint& point, const Level& level) { point.tunables[name] = level; };
}

/// Upper limit of the product's points, so that a huge one is refused before it is made.
double product_size(const Factors& factors) {
  double count = static_cast<double>(factors.sizes.size() * factors.directions.size());
  count *= static_cast<double>(std::max<std::size_t>(factors.request.mtus.size(), 1));
  for (const auto& [name, levels] : factors.given) {
    count *= static_cast<double>(levels.size());
  }
  return count;
}

Points full_product(const Factors& factors) {
  Points points{factors.base};
  if (!factors.request.directions.empty()) {
    points = multiplied<Direction>(points, factors.directions, set_direction);
  }
  for (const auto& [name, levels] : factors.given) {
    points = multiplied<Level>(points, levels, set_tunable(name));
  }
  if (!factors.request.mtus.empty()) {
    points = multiplied<std::int64_t>(points, factors.request.mtus, set_mtu);
  }
  if (!factors.request.sizes.empty()) {
    points = multiplied<std::int64_t>(points, factors.sizes, set_size);
  }
  return points;
}

void append(Points& points, const Points& more) {
  points.insert(points.end(), more.begin(), more.end());
}

Status append_sweeps(const Factors& factors, Points& points) {
  for (const Tunable& tunable : factors.transport.tunables) {
    if (factors.given.contains(tunable.name) || !tunable.swept_in(factors.workload.name)) {
      continue;
    }
    auto levels = parse_levels(tunable, tunable.sweep);
    if (!levels) {
      return tl::unexpected(with_context(levels.error(), "declared sweep"));
    }
    std::erase(*levels, tunable.default_level);
    append(points, multiplied<Level>({factors.base}, *levels, set_tunable(tunable.name)));
  }
  return {};
}

/// Directions that the default plan looks at: streams both ways, and at once unless quick.
std::vector<Direction> varied_directions(const Factors& factors) {
  std::vector<Direction> directions = factors.directions;
  const bool chosen = !factors.request.directions.empty();
  if (!chosen && !is_stream_like(factors.workload.pattern)) {
    return {directions.front()};
  }
  if (!chosen && factors.request.profile == Profile::quick) {
    std::erase(directions, Direction::both);
  }
  return directions;
}

/// The base point and its neighbours that differ in one factor.
Result<Points> one_factor_at_a_time(const Factors& factors) {
  Points points = multiplied<std::int64_t>({factors.base}, factors.sizes, set_size);
  append(points, multiplied<Direction>({factors.base}, varied_directions(factors), set_direction));
  if (factors.request.profile == Profile::quick) {
    return points;
  }
  if (auto swept = append_sweeps(factors, points); !swept) {
    return tl::unexpected(swept.error());
  }
  if (factors.request.mtus.empty() && is_stream_like(factors.workload.pattern)) {
    append(points, multiplied<std::int64_t>({factors.base}, factors.request.default_mtus, set_mtu));
  }
  return points;
}

bool user_gave_axes(const PlanRequest& request) {
  return !request.sizes.empty() || request.mtus.size() > 1 || request.directions.size() > 1 ||
         std::ranges::any_of(request.tunables,
                             [](const Setting& setting) { return setting.second.size() > 1; });
}

/// Points are added once by id, in order.
class Collector {
 public:
  Status add(const Points& points) {
    for (const TestPoint& point : points) {
      if (seen_.insert(point.id()).second) {
        plan.points.push_back(point);
      }
    }
    return plan.points.size() > kMaxPoints ? too_large(static_cast<double>(plan.points.size()))
                                           : Status{};
  }

  static tl::unexpected<Error> too_large(double count) {
    return fail("plan-too-large",
                fmt::format("the sweep has {:.0f} points, over the limit of {}", count, kMaxPoints),
                "Give fewer levels, or several runs.", ExitClass::usage);
  }

  void leave_out(const Factors& factors, std::string_view why) {
    plan.notes.push_back(
        fmt::format("{}/{} left out: {}", factors.transport.name, factors.workload.name, why));
  }

  SweepPlan plan;

 private:
  std::set<std::string> seen_;
};

Status add_workload(const Factors& factors, Collector& collector) {
  if (factors.sizes.empty() || factors.directions.empty()) {
    collector.leave_out(factors, factors.sizes.empty() ? "no size is within its limits"
                                                       : "it has none of the directions");
    return {};
  }
  if (!user_gave_axes(factors.request)) {
    return one_factor_at_a_time(factors).and_then(
        [&](const Points& points) { return collector.add(points); });
  }
  const double count = product_size(factors);
  return count > static_cast<double>(kMaxPoints) ? Collector::too_large(count)
                                                 : collector.add(full_product(factors));
}

std::vector<std::int64_t> distinct_mtus(const Points& points) {
  std::vector<std::int64_t> mtus;
  for (const TestPoint& point : points) {
    if (point.mtu_bytes != 0 && std::ranges::find(mtus, point.mtu_bytes) == mtus.end()) {
      mtus.push_back(point.mtu_bytes);
    }
  }
  return mtus;
}

tl::unexpected<Error> nothing_left(const SweepPlan& plan) {
  std::string why;
  for (const std::string& note : plan.notes) {
    why += (why.empty() ? "" : "; ") + note;
  }
  return fail("plan-empty", "nothing is left to measure" + (why.empty() ? "" : ": " + why), {},
              ExitClass::usage);
}

}  // namespace

Result<SweepPlan> build_plan(const PlanRequest& request) {
  if (auto sound = check_request(request); !sound) {
    return tl::unexpected(sound.error());
  }
  Collector collector;
  for (const TransportSpec& transport : request.transports) {
    for (const Workload& workload : transport.workloads) {
      if (!is_chosen(request, transport, workload)) {
        continue;
      }
      const auto added =
          factors_of(request, transport, workload).and_then([&](const Factors& factors) {
            return add_workload(factors, collector);
          });
      if (!added) {
        return tl::unexpected(added.error());
      }
    }
  }
  SweepPlan plan = std::move(collector.plan);
  if (plan.points.empty()) {
    return nothing_left(plan);
  }
  plan.mtu_levels = distinct_mtus(plan.points);
  plan.rounds = request.rounds.value_or(defaults_of(request.profile).rounds);
  plan.seed = request.seed;
  return plan;
}

}  // namespace netbench::plan
