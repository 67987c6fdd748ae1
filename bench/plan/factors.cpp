#include "bench/plan/factors.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "bench/plan/levels.hpp"

namespace netbench::plan {

namespace {

/// Size of the base point of streams: iperf3's default read and write for TCP (iperf3(1), -l).
constexpr std::int64_t kBaseStreamBytes = 128 * 1024;

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

TestPoint base_point(const Factors& factors) {
  TestPoint base{.transport = factors.transport.name,
                 .workload = factors.workload.name,
                 .pattern = factors.workload.pattern,
                 .direction = factors.directions.front(),
                 .message_bytes = base_size(factors.workload.pattern, factors.sizes)};
  for (const auto& [name, levels] : factors.given) {
    if (levels.size() == 1) {
      base.tunables[name] = levels.front();
    }
  }
  if (factors.request.mtus.size() == 1) {
    base.mtu_bytes = factors.request.mtus.front();
  }
  return base;
}

}  // namespace

bool is_stream_like(Pattern pattern) {
  return pattern == Pattern::stream || pattern == Pattern::collective;
}

Result<Factors> factors_of(const PlanRequest& request, const TransportSpec& transport,
                           const Workload& workload) {
  auto sizes = sizes_for(request, workload);
  if (!sizes) {
    return tl::unexpected(with_context(sizes.error(), transport.name));
  }
  Factors factors{request,
                  transport,
                  workload,
                  std::move(*sizes),
                  directions_for(request, workload),
                  given_for(request, transport, workload),
                  {}};
  if (!factors.sizes.empty() && !factors.directions.empty()) {
    factors.base = base_point(factors);
  }
  return factors;
}

}  // namespace netbench::plan
