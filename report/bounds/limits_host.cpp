#include <fmt/format.h>

#include <algorithm>

#include "report/bounds/limit_models.hpp"

namespace netbench::report::limits {

namespace {

/// Less than this share of its time says nothing about how fast a thread could be.
constexpr double kLeastShare = 1e-3;

Limit over_share(const RowReader& row, double share, std::string arithmetic) {
  const auto measured = row.measured_bps();
  if (!measured) {
    return not_known("the row has no goodput");
  }
  return share < kLeastShare ? not_known("the share of time is too small to divide by")
                             : Limit{*measured / share, std::move(arithmetic)};
}

Limit thread(RowReader& row, Role role, const std::string& group) {
  const auto running = row.ratio(role, group + ".cpu_s", group + ".elapsed_s");
  const auto waiting = row.ratio(role, group + ".wait_s", group + ".elapsed_s");
  const auto busiest = row.largest(role, group + ".busiest_cpu_share");
  if (!running && !busiest) {
    return not_known("the CPU time of its threads was not read");
  }
  const double mean = running.value_or(0) + waiting.value_or(0);
  const double share = std::max(mean, busiest.value_or(0));
  return over_share(
      row, share,
      fmt::format("measured / {:.2f} of its time running ({:.2f}) or waiting for a CPU ({:.2f})",
                  share, share - waiting.value_or(0), waiting.value_or(0)));
}

Limit application(RowReader& row, Role role, const std::string& group) {
  const auto blocked = row.ratio(role, group + ".blocked_s", group + ".elapsed_s");
  if (!blocked) {
    return not_known("the time blocked in the kernel was not read");
  }
  return over_share(row, 1 - *blocked,
                    fmt::format("measured / (1 - {:.2f} of its time blocked)", *blocked));
}

struct Busiest {
  double share = 0;
  std::string cpu;
  std::string end;
};

std::optional<Busiest> busiest_softirq(RowReader& row) {
  std::optional<Busiest> found;
  for (const Role role : {Role::sender, Role::receiver}) {
    const auto most = row.busiest(role, "cpu.", ".softirq_s");
    const auto elapsed = row.elapsed_s(role);
    if (most && elapsed && (!found || most->value / *elapsed > found->share)) {
      const std::string cpu = most->key.substr(4, most->key.size() - 4 - 10);
      found = Busiest{most->value / *elapsed, cpu, row.host_key(role)};
    }
  }
  return found;
}

}  // namespace

Limit sender_thread(RowReader& row) { return thread(row, Role::sender, "send"); }
Limit receiver_thread(RowReader& row) { return thread(row, Role::receiver, "recv"); }
Limit sender_application(RowReader& row) { return application(row, Role::sender, "send"); }
Limit receiver_application(RowReader& row) { return application(row, Role::receiver, "recv"); }

Limit softirq(RowReader& row) {
  const auto busiest = busiest_softirq(row);
  if (!busiest) {
    return not_known("the CPUs' time in softirq was not read");
  }
  Limit limit = over_share(
      row, busiest->share,
      fmt::format("measured / {:.2f} of CPU {}'s time in softirq", busiest->share, busiest->cpu));
  limit.end = busiest->end;
  return limit;
}

}  // namespace netbench::report::limits
