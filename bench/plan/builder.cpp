#include "bench/plan/builder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <set>
#include <span>

#include "bench/plan/levels.hpp"
#include "bench/plan/request_check.hpp"

namespace netbench::plan {

namespace {

constexpr std::size_t kMaxPoints = 10'000;

/// Size of the base point of streams: iperf3's default read and write for TCP (iperf3(1), -l).
constexpr std::int64_t kBaseStreamBytes = 128 * 1024;

struct ProfileRow {
  std::string_view name;
  ProfileDefaults defaults;
};
constexpr std::array<ProfileRow, 3> kProfiles{{{"quick", {3, 13'000'000'000}},
                                               {"default", {5, 48'000'000'000}},
                                               {"thorough", {9, 600'000'000'000}}}};

using Setting = std::pair<const std::string, std::vector<Level>>;

/// What holds for one workload of one transport, from which its points are made.
struct Scene {
  const PlanRequest& request;
  const TransportSpec& transport;
  const Workload& workload;
  std::vector<std::int64_t> sizes;                  // of this workload, in order, never empty
  std::vector<Direction> directions;                // never empty; `none` where it has none
  std::map<std::string, std::vector<Level>> given;  // the user's levels that apply, bare names
  TestPoint base;
};

bool is_stream_like(Pattern pattern) {
  return pattern == Pattern::stream || pattern == Pattern::collective;
}

std::int64_t base_size(Pattern pattern, const std::vector<std::int64_t>& sizes) {
  if (!is_stream_like(pattern)) {
    return *std::ranges::min_element(sizes);
  }
  return *std::ranges::min_element(sizes, {}, [](std::int64_t size) {
    return std::abs(std::log2(static_cast<double>(size) / static_cast<double>(kBaseStreamBytes)));
  });
}

Result<std::vector<std::int64_t>> declared_sizes(const PlanRequest& request,
                                                 const Workload& workload) {
  const bool quick = request.profile == Profile::quick && !workload.quick_sizes.empty();
  const std::string& text = quick ? workload.quick_sizes : workload.default_sizes;
  if (text.empty()) {
    return std::vector{workload.min_message_bytes};
  }
  return parse_sizes(text);
}

/// The sizes a workload is measured at; empty where none of the user's fits.
Result<std::vector<std::int64_t>> sizes_for(const PlanRequest& request, const Workload& workload) {
  const bool one_size_only = workload.min_message_bytes == workload.max_message_bytes;
  if (request.sizes.empty() || one_size_only) {
    return declared_sizes(request, workload);
  }
  std::vector<std::int64_t> sizes;
  std::ranges::copy_if(request.sizes, std::back_inserter(sizes), [&](std::int64_t size) {
    return size >= workload.min_message_bytes && size <= workload.max_message_bytes;
  });
  return sizes;
}

/// Empty where the user's directions exclude the workload.
std::vector<Direction> directions_for(const PlanRequest& request, const Workload& workload) {
  if (workload.directions.empty()) {
    return {Direction::none};
  }
  if (request.directions.empty()) {
    return workload.directions;
  }
  std::vector<Direction> directions;
  std::ranges::copy_if(request.directions, std::back_inserter(directions), [&](Direction wanted) {
    return std::ranges::find(workload.directions, wanted) != workload.directions.end();
  });
  return directions;
}

std::map<std::string, std::vector<Level>> given_for(const PlanRequest& request,
                                                    const TransportSpec& transport,
                                                    const Workload& workload) {
  std::map<std::string, std::vector<Level>> given;
  for (const Tunable& tunable : transport.tunables) {
    const auto found = request.tunables.find(tunable.full_name());
    if (found != request.tunables.end() && tunable.applies_to(workload.name)) {
      given[tunable.name] = found->second;
    }
  }
  return given;
}

TestPoint base_point(const Scene& scene) {
  TestPoint base{.transport = scene.transport.name,
                 .workload = scene.workload.name,
                 .pattern = scene.workload.pattern,
                 .direction = scene.directions.front(),
                 .message_bytes = base_size(scene.workload.pattern, scene.sizes)};
  for (const auto& [name, levels] : scene.given) {
    if (levels.size() == 1) {
      base.tunables[name] = levels.front();
    }
  }
  if (scene.request.mtus.size() == 1) {
    base.mtu_bytes = scene.request.mtus.front();
  }
  return base;
}

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
double product_size(const Scene& scene) {
  double count = static_cast<double>(scene.sizes.size() * scene.directions.size());
  count *= static_cast<double>(std::max<std::size_t>(scene.request.mtus.size(), 1));
  for (const auto& [name, levels] : scene.given) {
    count *= static_cast<double>(levels.size());
  }
  return count;
}

Points full_product(const Scene& scene) {
  Points points{scene.base};
  if (!scene.request.directions.empty()) {
    points = multiplied<Direction>(points, scene.directions, set_direction);
  }
  for (const auto& [name, levels] : scene.given) {
    points = multiplied<Level>(points, levels, set_tunable(name));
  }
  if (!scene.request.mtus.empty()) {
    points = multiplied<std::int64_t>(points, scene.request.mtus, set_mtu);
  }
  if (!scene.request.sizes.empty()) {
    points = multiplied<std::int64_t>(points, scene.sizes, set_size);
  }
  return points;
}

void append(Points& points, const Points& more) {
  points.insert(points.end(), more.begin(), more.end());
}

Status append_sweeps(const Scene& scene, Points& points) {
  for (const Tunable& tunable : scene.transport.tunables) {
    if (tunable.sweep.empty() || scene.given.contains(tunable.name) ||
        !tunable.applies_to(scene.workload.name)) {
      continue;
    }
    auto levels = parse_levels(tunable, tunable.sweep);
    if (!levels) {
      return tl::unexpected(with_context(levels.error(), "declared sweep"));
    }
    std::erase(*levels, tunable.default_level);
    append(points, multiplied<Level>({scene.base}, *levels, set_tunable(tunable.name)));
  }
  return {};
}

/// Directions that the default plan looks at: streams both ways, and at once unless quick.
std::vector<Direction> varied_directions(const Scene& scene) {
  std::vector<Direction> directions = scene.directions;
  const bool chosen = !scene.request.directions.empty();
  if (!chosen && !is_stream_like(scene.workload.pattern)) {
    return {directions.front()};
  }
  if (!chosen && scene.request.profile == Profile::quick) {
    std::erase(directions, Direction::both);
  }
  return directions;
}

/// The base point and its neighbours that differ in one factor.
Result<Points> one_factor_at_a_time(const Scene& scene) {
  Points points = multiplied<std::int64_t>({scene.base}, scene.sizes, set_size);
  append(points, multiplied<Direction>({scene.base}, varied_directions(scene), set_direction));
  if (scene.request.profile == Profile::quick) {
    return points;
  }
  if (auto swept = append_sweeps(scene, points); !swept) {
    return tl::unexpected(swept.error());
  }
  if (scene.request.mtus.empty() && is_stream_like(scene.workload.pattern)) {
    append(points, multiplied<std::int64_t>({scene.base}, scene.request.default_mtus, set_mtu));
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

  void leave_out(const Scene& scene, std::string_view why) {
    plan.notes.push_back(
        fmt::format("{}/{} left out: {}", scene.transport.name, scene.workload.name, why));
  }

  SweepPlan plan;

 private:
  std::set<std::string> seen_;
};

Status add_workload(Scene scene, Collector& collector) {
  auto sizes = sizes_for(scene.request, scene.workload);
  if (!sizes) {
    return tl::unexpected(with_context(sizes.error(), scene.transport.name));
  }
  scene.sizes = std::move(*sizes);
  scene.directions = directions_for(scene.request, scene.workload);
  if (scene.sizes.empty() || scene.directions.empty()) {
    collector.leave_out(scene, scene.sizes.empty() ? "no size is within its limits"
                                                   : "it has none of the directions");
    return {};
  }
  scene.given = given_for(scene.request, scene.transport, scene.workload);
  scene.base = base_point(scene);
  if (!user_gave_axes(scene.request)) {
    return one_factor_at_a_time(scene).and_then(
        [&](const Points& points) { return collector.add(points); });
  }
  const double count = product_size(scene);
  return count > static_cast<double>(kMaxPoints) ? Collector::too_large(count)
                                                 : collector.add(full_product(scene));
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

Result<Profile> parse_profile(std::string_view text) {
  const auto* const found = std::ranges::find(kProfiles, text, &ProfileRow::name);
  if (found == kProfiles.end()) {
    return fail("bad-profile", fmt::format("\"{}\" is not a profile", text),
                "Use quick, default or thorough.", ExitClass::usage);
  }
  return static_cast<Profile>(found - kProfiles.begin());
}

ProfileDefaults defaults_of(Profile profile) {
  return kProfiles.at(static_cast<std::size_t>(profile)).defaults;
}

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
      auto added = add_workload(Scene{request, transport, workload, {}, {}, {}, {}}, collector);
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
