#include <fmt/format.h>

#include <array>
#include <string>
#include <vector>

#include "report/diagnose/link_judges.hpp"
#include "report/diagnose/verdicts.hpp"

namespace netbench::report {

namespace {

constexpr std::array<char, 4> kPairs = {'a', 'b', 'c', 'd'};

/// A pair of the tested cable, or nothing where it was not tested.
std::optional<std::string> fault_of_pair(Look& look, End end, const std::string& device,
                                         char pair) {
  const auto status = look.fact_text(end, fmt::format("if.{}.cable.pair_{}", device, pair));
  const auto far_m = look.fact(end, fmt::format("if.{}.cable.pair_{}_fault_m", device, pair));
  if (!status || *status == "ok") {
    return status ? std::optional<std::string>("") : std::nullopt;
  }
  return fmt::format("pair {} {}{}", pair, *status,
                     far_m ? fmt::format(" at {:.1f} m", *far_m) : "");
}

Verdict cable_of_device(Look& look, End end, const std::string& device) {
  std::vector<std::string> faults;
  for (const char pair : kPairs) {
    if (const auto fault = fault_of_pair(look, end, device, pair); fault && !fault->empty()) {
      faults.push_back(*fault);
    }
  }
  const std::string where = fmt::format("{}'s {}", look.host_name(end), device);
  if (faults.empty()) {
    return silent(where + ": every pair of the cable is whole");
  }
  const std::string why = fmt::format("{}: {}", where, fmt::join(faults, ", "));
  return fires(
      Confidence::confirmed, 1, why, "a pair of the cable is bad: " + why,
      {fmt::format("replace the cable of {} and its plugs (the distance is from this host)",
                   device),
       fmt::format("then: netbench doctor --cable-test {}", device)});
}

Verdict cable_at(Look& look, End end) {
  std::vector<Verdict> verdicts;
  for (const auto& device : fact_names(look, end, "if.", ".cable.pair_a")) {
    verdicts.push_back(cable_of_device(look, end, device));
  }
  return nearest_of(verdicts,
                    fmt::format("not evaluated, because no cable of {} was tested: netbench doctor "
                                "--cable-test IFACE takes its link down for some seconds",
                                look.host_name(end)));
}

}  // namespace

Verdict judge_cable_pair(Look& look) { return either_end(look, cable_at); }

}  // namespace netbench::report
