#include "report/bounds/limits.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <tuple>

#include "report/bounds/limit_models.hpp"

namespace netbench::report {

namespace {

/// A bound that was passed by more is wrong, not near: its inputs are stale or its model is.
constexpr double kBroken = 1.3;

enum class Of { path, sender, receiver };
enum class For { all, tcp, verbs };

struct Row {
  std::string_view id;
  std::string_view name;
  Of of;
  For transports;
  limits::Limit (*compute)(RowReader&);
};

constexpr std::array<Row, 16> kRows = {{
    {"wire", "wire", Of::path, For::all, limits::wire},
    {"pcie", "PCIe slots and bridges", Of::path, For::all, limits::pcie},
    {"bond-member", "members of the bond", Of::path, For::all, limits::bond_member},
    {"receive-window", "receive window over round trip", Of::receiver, For::tcp,
     limits::receive_window},
    {"send-buffer", "send buffer over round trip", Of::sender, For::tcp, limits::send_buffer},
    {"congestion-window", "congestion window over round trip", Of::sender, For::tcp,
     limits::congestion_window},
    {"loss", "loss", Of::path, For::tcp, limits::loss},
    {"pacing", "pacing", Of::sender, For::all, limits::pacing},
    {"sender-thread", "sending threads' CPU", Of::sender, For::all, limits::sender_thread},
    {"receiver-thread", "receiving threads' CPU", Of::receiver, For::all, limits::receiver_thread},
    {"softirq", "softirq of one CPU", Of::path, For::all, limits::softirq},
    {"sender-application", "sending application", Of::sender, For::all, limits::sender_application},
    {"receiver-application", "receiving application", Of::receiver, For::all,
     limits::receiver_application},
    {"read-depth", "reads under way over round trip", Of::path, For::verbs, limits::read_depth},
    {"work-queue", "send queue over round trip", Of::sender, For::verbs, limits::work_queue},
    {"one-queue-pair", "queue pairs, each as one alone", Of::path, For::verbs,
     limits::one_queue_pair},
}};

/// A thread that polls is busy whatever it gets done.
bool is_of_threads(const Row& row) {
  return row.id.ends_with("-thread") || row.id.ends_with("-application");
}

limits::Limit compute(const Row& row, RowReader& reader) {
  const std::string& transport = reader.row().transport;
  if (row.transports == For::tcp && transport != "tcp") {
    return limits::not_known(transport + " has none");
  }
  if (transport == "verbs" && is_of_threads(row) &&
      reader.setting_text(Role::sender, "verbs.wait") != "event") {
    return limits::not_known("threads that poll are always busy");
  }
  if (row.id != "wire" && reader.row().direction == Direction::both) {
    return limits::not_known("the traffic went both ways at once");
  }
  return row.compute(reader);
}

std::string end_of(const Row& row, const RowReader& reader) {
  return row.of == Of::path ? std::string()
                            : reader.host_key(row.of == Of::sender ? Role::sender : Role::receiver);
}

Bound bound_of(const Row& row, RowReader& reader) {
  limits::Limit limit = compute(row, reader);
  Bound bound{std::string(row.id),
              std::string(row.name),
              limit.end.empty() ? end_of(row, reader) : limit.end,
              limit.bps,
              0,
              std::move(limit.arithmetic),
              reader.take_evidence()};
  const auto measured = reader.measured_bps();
  if (measured && bound.limit_bps && *bound.limit_bps > 0) {
    bound.nearness = *measured / *bound.limit_bps;
  }
  if (bound.nearness > kBroken) {
    bound.arithmetic += fmt::format(
        "; broken: {:.1f} times as much was measured, so an input is stale or the model does not "
        "hold here",
        bound.nearness);
  }
  return bound;
}

/// Known before unknown, sound before broken, near before far.
auto order(const Bound& bound) {
  return std::tuple(!bound.limit_bps, bound.nearness > kBroken, -bound.nearness);
}

}  // namespace

std::vector<Bound> limits_of(const Document& document, const Measurement& row) {
  RowReader reader(document, row);
  std::vector<Bound> bounds;
  bounds.reserve(kRows.size());
  const For other = row.transport == "verbs" ? For::tcp : For::verbs;
  for (const Row& one : kRows) {
    if (one.transports != other) {
      bounds.push_back(bound_of(one, reader));
    }
  }
  std::ranges::stable_sort(bounds, {}, order);
  return bounds;
}

}  // namespace netbench::report
