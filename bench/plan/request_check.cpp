#include "bench/plan/request_check.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "bench/core/units.hpp"
#include "bench/plan/levels.hpp"

namespace netbench::plan {

namespace {

constexpr std::uint32_t kMaxRounds = 1000;

bool names(std::string_view wanted, const TransportSpec& transport, const Workload& workload) {
  return wanted == workload.name || wanted == fmt::format("{}/{}", transport.name, workload.name);
}

std::vector<std::string> all_workloads(const PlanRequest& request) {
  std::vector<std::string> all;
  for (const TransportSpec& transport : request.transports) {
    for (const Workload& workload : transport.workloads) {
      if (std::ranges::find(all, workload.name) == all.end()) {
        all.push_back(workload.name);
      }
    }
  }
  return all;
}

Status check_workloads(const PlanRequest& request) {
  for (const std::string& wanted : request.workloads) {
    const bool exists = std::ranges::any_of(request.transports, [&](const TransportSpec& t) {
      return std::ranges::any_of(t.workloads,
                                 [&](const Workload& w) { return names(wanted, t, w); });
    });
    if (!exists) {
      const auto all = all_workloads(request);
      return fail("bad-workload",
                  fmt::format("no chosen transport has a workload \"{}\"{}", wanted,
                              did_you_mean(wanted, all)),
                  fmt::format("There are: {}.", fmt::join(all, ", ")), ExitClass::usage);
    }
  }
  return {};
}

/// The tunable of a full name among the chosen transports, or null.
const Tunable* find_tunable(const PlanRequest& request, std::string_view full_name) {
  for (const TransportSpec& transport : request.transports) {
    for (const Tunable& tunable : transport.tunables) {
      if (tunable.full_name() == full_name) {
        return &tunable;
      }
    }
  }
  return nullptr;
}

bool applies_to_chosen(const PlanRequest& request, const Tunable& tunable) {
  return std::ranges::any_of(request.transports, [&](const TransportSpec& transport) {
    return transport.name == tunable.transport &&
           std::ranges::any_of(transport.workloads, [&](const Workload& workload) {
             return is_chosen(request, transport, workload) && tunable.applies_to(workload.name);
           });
  });
}

tl::unexpected<Error> unknown_tunable(const PlanRequest& request, const std::string& full_name) {
  std::vector<std::string> all;
  for (const TransportSpec& transport : request.transports) {
    std::ranges::transform(transport.tunables, std::back_inserter(all), &Tunable::full_name);
  }
  return fail("bad-tunable",
              fmt::format("no chosen transport has a tunable \"{}\"{}", full_name,
                          did_you_mean(full_name, all)),
              fmt::format("There are: {}.", fmt::join(all, ", ")), ExitClass::usage);
}

Status check_tunables(const PlanRequest& request) {
  for (const auto& [full_name, levels] : request.tunables) {
    const Tunable* tunable = find_tunable(request, full_name);
    if (tunable == nullptr) {
      return unknown_tunable(request, full_name);
    }
    if (levels.empty()) {
      return fail("bad-level", fmt::format("--{} has no level", full_name), {}, ExitClass::usage);
    }
    if (!applies_to_chosen(request, *tunable)) {
      return fail(
          "bad-tunable", fmt::format("--{} applies to none of the chosen workloads", full_name),
          fmt::format("It applies to {}.", fmt::join(tunable->workloads, ", ")), ExitClass::usage);
    }
  }
  return {};
}

Status check_numbers(const PlanRequest& request) {
  const auto rounds = request.rounds.value_or(1);
  if (rounds < 1 || rounds > kMaxRounds) {
    return fail("bad-rounds", fmt::format("{} rounds are not between 1 and {}", rounds, kMaxRounds),
                {}, ExitClass::usage);
  }
  const auto bad = std::ranges::find_if(request.sizes, [](std::int64_t size) { return size < 1; });
  if (bad != request.sizes.end()) {
    return fail("bad-size", fmt::format("a message of {} bytes cannot be", *bad),
                "Sizes start at 1 byte.", ExitClass::usage);
  }
  return {};
}

/// Workloads of one size only (connect) ignore the sizes of the user.
bool has_sizes(const Workload& workload) {
  return workload.min_message_bytes != workload.max_message_bytes;
}

/// A size that some workloads cannot have is left out there; one that none can have is an error.
Status check_sizes(const PlanRequest& request) {
  std::int64_t smallest = 0;
  std::int64_t largest = 0;
  for (const TransportSpec& transport : request.transports) {
    for (const Workload& workload : transport.workloads) {
      if (is_chosen(request, transport, workload) && has_sizes(workload)) {
        smallest = largest == 0 ? workload.min_message_bytes
                                : std::min(smallest, workload.min_message_bytes);
        largest = std::max(largest, workload.max_message_bytes);
      }
    }
  }
  const auto bad = std::ranges::find_if(
      request.sizes, [&](std::int64_t size) { return size < smallest || size > largest; });
  if (largest == 0 || bad == request.sizes.end()) {
    return {};
  }
  return fail("bad-size",
              fmt::format("--size {}: none of the chosen workloads takes it", format_bytes(*bad)),
              fmt::format("They take {} to {}.", format_bytes(smallest), format_bytes(largest)),
              ExitClass::usage);
}

}  // namespace

bool is_chosen(const PlanRequest& request, const TransportSpec& transport,
               const Workload& workload) {
  return request.workloads.empty() ||
         std::ranges::any_of(request.workloads, [&](const std::string& wanted) {
           return names(wanted, transport, workload);
         });
}

Status check_request(const PlanRequest& request) {
  return check_workloads(request)
      .and_then([&] { return check_tunables(request); })
      .and_then([&] { return check_numbers(request); })
      .and_then([&] { return check_sizes(request); });
}

}  // namespace netbench::plan
