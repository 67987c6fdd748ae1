#include <fmt/format.h>

#include "report/diagnose/link_judges.hpp"
#include "report/diagnose/verdicts.hpp"

namespace netbench::report {

namespace {

/// What is lost on the way from the port of a host to the next is a few dB; a lane that lies this
/// far below the others of the same kind would not be lit by a healthy partner.
constexpr double kDarkDbm = -30;

Verdict dim_light(Look& look, End end) {
  const auto light = look.fact(end, "if.*.module.rx_power_dbm");
  if (!light) {
    return unknown(fmt::format("{}: light of the module not read", device_of(look, end)));
  }
  const auto least = look.fact(end, "if.*.module.rx_power_min_dbm");
  const double limit = least.value_or(kDarkDbm);
  const char* whose = least ? "the module's alarm is at" : "dark is below";
  const std::string why = fmt::format("{}: the weakest lane receives {:.1f} dBm, {} {:.1f} dBm",
                                      device_of(look, end), *light, whose, limit);
  if (*light > limit) {
    return silent(why);
  }
  return fires(
      Confidence::likely, 0.8, why,
      fmt::format("too little light reaches {}: {:.1f} dBm on the weakest lane, {} {:.1f} dBm: a "
                  "dirty or bent fibre, or a dying module",
                  device_of(look, end), *light, whose, limit),
      {fmt::format("clean the connectors of {}, then swap fibre and modules one by one",
                   device_of(look, end)),
       fmt::format("ethtool -m {}", look.interface(end)),
       "read the transmit power of " + switch_port(look, end)});
}

}  // namespace

std::string switch_port(Look& look, End end) {
  const auto system = look.fact_text(end, "if.*.lldp.system");
  const auto port = look.fact_text(end, "if.*.lldp.port");
  return system && port ? fmt::format("port {} of {}", *port, *system) : "the switch port";
}

Verdict judge_dim_light(Look& look) { return either_end(look, dim_light); }

}  // namespace netbench::report
