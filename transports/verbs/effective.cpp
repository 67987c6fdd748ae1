#include <array>
#include <optional>
#include <span>
#include <string>

#include "transports/rdma/device.hpp"
#include "transports/verbs/session.hpp"

namespace netbench::verbs {
namespace {

struct Report {
  const Endpoint& end;
  const Options& options;
  const sdk::EffectiveSink& sink;
};

void report_choice(const Report& report, const char* name, std::span<const nb_choice> choices,
                   std::int64_t index) {
  report.sink.choice(name, index, choices[static_cast<std::size_t>(index)].name);
}

/// A number with a word on why it is not what was asked for.
void report_limited(const Report& report, const char* name, std::int64_t value,
                    const std::optional<std::int64_t>& asked, const std::string& note) {
  if (asked && value < *asked) {
    report.sink.capped(name, value,
                       "asked for " + std::to_string(*asked) + (note.empty() ? "" : ": " + note));
  } else if (!note.empty()) {
    report.sink.noted(name, value, note);
  } else {
    report.sink.number(name, value);
  }
}

void report_op(const Report& report) {
  report_choice(report, "op", kOpChoices, static_cast<std::int64_t>(report.options.op));
}
void report_qp(const Report& report) {
  report_choice(report, "qp", kQpChoices, static_cast<std::int64_t>(report.options.qp));
}
void report_qps(const Report& report) { report.sink.number("qps", report.options.qps); }
void report_threads(const Report& report) {
  report.sink.number("threads", static_cast<std::int64_t>(report.end.groups().size()));
}
void report_tx_depth(const Report& report) {
  const Depths& depths = report.end.depths();
  report_limited(report, "tx_depth", depths.depth, report.options.tx_depth,
                 depths.depth_note.empty() && report.options.tx_depth > depths.depth
                     ? "a whole number of cq_moderation"
                     : depths.depth_note);
}
void report_rx_depth(const Report& report) {
  const Depths& depths = report.end.depths();
  const bool takes = depths.receives > 0;
  report_limited(report, "rx_depth", depths.receives,
                 takes ? report.options.rx_depth : std::nullopt,
                 takes ? depths.receives_note : "this end takes no receives");
}
void report_post_list(const Report& report) {
  report_limited(report, "post_list", report.end.depths().chain, report.options.post_list,
                 "at most half of tx_depth");
}
void report_cq_moderation(const Report& report) {
  const std::int64_t interval = report.end.depths().interval;
  const bool less = report.options.cq_moderation && interval < *report.options.cq_moderation;
  report_limited(
      report, "cq_moderation", interval, report.options.cq_moderation,
      less ? "two intervals are always under way, each a whole number of post_list" : "");
}
void report_inline(const Report& report) {
  report_limited(report, "inline", report.end.inline_bytes(), report.options.inline_bytes,
                 report.options.inline_bytes > std::int64_t{report.end.inline_bytes()}
                     ? "the most the device grants"
                     : "");
}
void report_path_mtu(const Report& report) {
  const rdma::PathMtu& mtu = report.end.agreement().path_mtu;
  report_limited(report, "path_mtu", mtu.bytes, report.options.path_mtu, mtu.note);
}
void report_read_depth(const Report& report) {
  const std::int64_t depth = report.end.agreement().reads_out;
  const bool less = report.options.read_depth && depth < *report.options.read_depth;
  report_limited(report, "read_depth", depth, report.options.read_depth,
                 less ? "the most both devices carry" : "");
}
void report_wait(const Report& report) {
  report_choice(report, "wait", kWaitChoices, static_cast<std::int64_t>(report.options.wait));
}
void report_device(const Report& report) {
  report.sink.noted_text("device", rdma::rail_name(report.end.port()), report.end.rail_reason());
}
void report_gid_index(const Report& report) {
  const rdma::GidPair& pair = report.end.agreement().gids;
  report.sink.noted_text("gid_index", std::to_string(pair.first.index),
                         rdma::text_of(pair.first.address) + " " + rdma::name_of(pair.first.type) +
                             ", to " + rdma::text_of(pair.second.address) + ": " + pair.reason);
}
void report_traffic_class(const Report& report) {
  report.sink.number("traffic_class", report.options.traffic_class);
}
void report_sl(const Report& report) { report.sink.number("sl", report.options.service_level); }
void report_flow_label(const Report& report) {
  report.sink.number("flow_label", report.options.flow_label);
}
void report_ack_timeout(const Report& report) {
  report.sink.number("ack_timeout", report.options.ack_timeout);
}
void report_retries(const Report& report) { report.sink.number("retries", report.options.retries); }
void report_rnr_retries(const Report& report) {
  report.sink.number("rnr_retries", report.options.rnr_retries);
}
void report_huge_pages(const Report& report) {
  report.sink.noted("huge_pages", report.options.huge_pages ? 1 : 0, report.end.memory_text());
}
void report_relaxed_ordering(const Report& report) {
  report.sink.number("relaxed_ordering", report.options.relaxed_ordering ? 1 : 0);
}
void report_cpu(const Report& report) { report.sink.text("cpu", report.options.cpu_text); }
void report_numa(const Report& report) {
  report.sink.number("numa", report.options.numa ? *report.options.numa : NB_AUTO);
}

/// In the order of kTunableRows.
constexpr std::array<void (*)(const Report&), kTunableRows.size()> kReports = {
    &report_op,
    &report_qp,
    &report_qps,
    &report_threads,
    &report_tx_depth,
    &report_rx_depth,
    &report_post_list,
    &report_cq_moderation,
    &report_inline,
    &report_path_mtu,
    &report_read_depth,
    &report_wait,

    &report_device,
    &report_gid_index,
    &report_traffic_class,
    &report_sl,
    &report_flow_label,
    &report_ack_timeout,
    &report_retries,
    &report_rnr_retries,
    &report_huge_pages,
    &report_relaxed_ordering,
    &report_cpu,
    &report_numa};

}  // namespace

void report_effective(const Endpoint& endpoint, const sdk::EffectiveSink& sink) {
  const Report report{endpoint, endpoint.options(), sink};
  for (std::size_t index = 0; index < kReports.size(); ++index) {
    const std::uint64_t workloads = kTunableRows[index].workloads;
    if (workloads == 0 || (workloads & bit(endpoint.options().workload)) != 0) {
      kReports[index](report);
    }
  }
}

}  // namespace netbench::verbs
