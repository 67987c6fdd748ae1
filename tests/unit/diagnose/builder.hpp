#pragma once

#include <algorithm>
#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bench/model/document.hpp"
#include "report/bounds/limits.hpp"
#include "report/diagnose/look.hpp"
#include "report/diagnose/rule.hpp"

/// Documents by hand, as small as a rule needs them.
namespace netbench::report::test {

/// Shares of its threads' life time, for send.* and recv.*. What is left of 1 is blocked.
struct ThreadShares {
  double cpu = 0;
  double wait = 0;
  double idle = 0;
  double blocked = 0;
  int threads = 1;
};

/// One row of a document: one round of five seconds unless told otherwise. Counters are those of
/// one round; every round gets the same.
class RowBuilder {
 public:
  static RowBuilder stream(double goodput_bps, Direction direction = Direction::forward) {
    RowBuilder builder("tcp", "bandwidth", direction);
    builder.row_.size_bytes = 1 << 20;
    builder.row_.summary.goodput_bps = goodput_bps;
    return builder;
  }
  static RowBuilder datagrams(double goodput_bps, Direction direction = Direction::forward) {
    RowBuilder builder = stream(goodput_bps, direction);
    builder.row_.transport = "udp";
    builder.row_.size_bytes = 1472;
    return builder;
  }
  /// A bandwidth row of RDMA verbs: writes of 64 KiB on one queue pair of mlx5_0.
  static RowBuilder verbs(double goodput_bps, Direction direction = Direction::forward) {
    RowBuilder builder = stream(goodput_bps, direction);
    builder.row_.transport = "verbs";
    builder.row_.size_bytes = 65536;
    return builder.effective("verbs.device", std::string("mlx5_0"))
        .effective("verbs.op", std::string("write"))
        .effective("verbs.qps", std::int64_t{1})
        .effective("verbs.wait", std::string("poll"));
  }
  /// A verbs row that failed without a round.
  static RowBuilder failed(std::string slug, std::string message) {
    RowBuilder builder = verbs(0);
    builder.row_.summary.goodput_bps.reset();
    builder.row_.status = MeasurementStatus::failed;
    builder.row_.error = Error{std::move(slug), std::move(message), {}, ExitClass::error};
    return builder;
  }
  static RowBuilder round_trips(double p50_ns) {
    RowBuilder builder("tcp", "latency", Direction::none);
    builder.row_.size_bytes = 64;
    builder.row_.summary.rtt_p50_ns = p50_ns;
    builder.row_.summary.rtt_min_ns = p50_ns * 0.8;
    return builder;
  }

  RowBuilder& id(std::string text) { return set(row_.id, std::move(text)); }
  RowBuilder& size(std::int64_t bytes) { return set(row_.size_bytes, bytes); }
  RowBuilder& rounds(int count) { return set(n_rounds_, count); }
  RowBuilder& elapsed_s(double seconds) { return set(elapsed_s_, seconds); }
  RowBuilder& ceiling(double bps) { return set(row_.summary.ceiling_bps, std::optional(bps)); }
  RowBuilder& flag(const std::string& name) {
    row_.flags.insert(name);
    return *this;
  }
  /// Goodput of each round, instead of the same in all.
  RowBuilder& round_rates(std::vector<double> bps) {
    n_rounds_ = static_cast<int>(bps.size());
    return set(rates_, std::move(bps));
  }
  /// Mb/s of each tenth of every round.
  RowBuilder& series_mbps(std::vector<double> rates) { return set(series_mbps_, std::move(rates)); }

  RowBuilder& sender(std::initializer_list<std::pair<const std::string, double>> counters) {
    return add(row_.direction == Direction::reverse ? responder_ : initiator_, counters);
  }
  RowBuilder& receiver(std::initializer_list<std::pair<const std::string, double>> counters) {
    return add(row_.direction == Direction::reverse ? initiator_ : responder_, counters);
  }
  RowBuilder& sending(const ThreadShares& shares) {
    return threads(row_.direction == Direction::reverse ? responder_ : initiator_, "send", shares);
  }
  RowBuilder& receiving(const ThreadShares& shares) {
    return threads(row_.direction == Direction::reverse ? initiator_ : responder_, "recv", shares);
  }

  RowBuilder& asked(const std::string& tunable, Value value) {
    row_.tunables.requested[tunable] = std::move(value);
    return *this;
  }
  /// The value in effect at both ends.
  RowBuilder& effective(const std::string& tunable, const Value& value) {
    row_.tunables.effective_initiator[tunable] = value;
    row_.tunables.effective_responder[tunable] = value;
    return *this;
  }

  [[nodiscard]] Measurement build() const {
    Measurement row = row_;
    if (row.id.empty()) {
      row.id = row.transport + "/" + row.workload + "/" + to_string(row.direction);
    }
    row.summary.n_rounds = static_cast<std::uint32_t>(n_rounds_);
    for (int i = 0; i < n_rounds_; ++i) {
      row.rounds.push_back(round(i));
    }
    return row;
  }

 private:
  RowBuilder(std::string transport, std::string workload, Direction direction) {
    row_.transport = std::move(transport);
    row_.workload = std::move(workload);
    row_.direction = direction;
  }

  template <class T>
  RowBuilder& set(T& member, T value) {
    member = std::move(value);
    return *this;
  }

  RowBuilder& add(Counters& counters,
                  std::initializer_list<std::pair<const std::string, double>> more) {
    for (const auto& [key, value] : more) {
      counters[key] = value;
    }
    return *this;
  }

  RowBuilder& threads(Counters& counters, const std::string& role, const ThreadShares& shares) {
    const double life_s = elapsed_s_ * shares.threads;
    return add(counters, {{role + ".threads", shares.threads},
                          {role + ".elapsed_s", life_s},
                          {role + ".cpu_s", life_s * shares.cpu},
                          {role + ".wait_s", life_s * shares.wait},
                          {role + ".idle_s", life_s * shares.idle},
                          {role + ".blocked_s", life_s * shares.blocked},
                          {role + ".busiest_cpu_share", shares.cpu}});
  }

  [[nodiscard]] Round round(int index) const {
    Round round;
    round.index = static_cast<std::uint32_t>(index);
    round.duration_ns = static_cast<std::int64_t>(elapsed_s_ * 1e9);
    round.initiator.counters = initiator_;
    round.responder.counters = responder_;
    round.initiator.elapsed_s = elapsed_s_;
    round.responder.elapsed_s = elapsed_s_;
    if (row_.workload == "bandwidth") {
      (row_.direction == Direction::reverse ? round.reverse : round.forward) = record(index);
    } else {
      round.latency.emplace().median_ns = row_.summary.rtt_p50_ns.value_or(0);
    }
    return round;
  }

  [[nodiscard]] StreamRecord record(int index) const {
    StreamRecord record;
    record.goodput_bps = rates_.empty() ? row_.summary.goodput_bps.value_or(0)
                                        : rates_[static_cast<std::size_t>(index)];
    record.measured_ns = static_cast<std::int64_t>(elapsed_s_ * 1e9);
    record.measured_bytes = static_cast<std::int64_t>(record.goodput_bps * elapsed_s_ / 8);
    const auto parts = static_cast<std::int64_t>(series_mbps_.size());
    for (std::int64_t i = 0; i < parts; ++i) {
      const std::int64_t part_ns = record.measured_ns / parts;
      const double bytes = series_mbps_[static_cast<std::size_t>(i)] * 1e6 / 8;
      record.series.push_back(
          {(i + 1) * part_ns, part_ns,
           static_cast<std::int64_t>(bytes * static_cast<double>(part_ns) / 1e9)});
    }
    return record;
  }

  Measurement row_;
  Counters initiator_;
  Counters responder_;
  std::vector<double> rates_;
  std::vector<double> series_mbps_;
  int n_rounds_ = 1;
  double elapsed_s_ = 5;
};

/// Two hosts, nb-a (h0, 192.168.1.100) and nb-b (h1, 192.168.1.101), on eth0, without facts.
class DocumentBuilder {
 public:
  DocumentBuilder() {
    document_.hosts["h0"] = {"nb-a", {"192.168.1.100"}, "boot-a", "eth0", {}};
    document_.hosts["h1"] = {"nb-b", {"192.168.1.101"}, "boot-b", "eth0", {}};
  }

  DocumentBuilder& fact(const std::string& host, const std::string& key, Value value) {
    document_.hosts[host].facts.push_back({key, std::move(value), "test", ""});
    return *this;
  }
  DocumentBuilder& fact(const std::string& key, const Value& value) {
    return fact("h0", key, value).fact("h1", key, value);
  }
  DocumentBuilder& unknown_fact(const std::string& host, const std::string& key,
                                std::string because) {
    document_.hosts[host].facts.push_back({key, {}, "test", std::move(because)});
    return *this;
  }
  DocumentBuilder& row(const RowBuilder& row) {
    document_.measurements.push_back(row.build());
    return *this;
  }
  /// An intervention on the row that was added last, with an interval of ±3 %.
  DocumentBuilder& moved(const std::string& experiment, double ratio) {
    Intervention intervention;
    intervention.id = experiment;
    const Measurement& row = document_.measurements.back();
    const bool latency = row.workload == "latency";
    intervention.row = row.id;
    intervention.metric = latency ? "rtt_p50_ns" : "goodput_bps";
    intervention.base = (latency ? row.summary.rtt_p50_ns : row.summary.goodput_bps).value_or(1);
    intervention.changed = intervention.base * ratio;
    intervention.ratio = ratio;
    intervention.ratio_low = ratio * 0.97;
    intervention.ratio_high = ratio * 1.03;
    intervention.n_pairs = 5;
    document_.interventions.push_back(std::move(intervention));
    return *this;
  }
  /// For whatever the rest does not offer: error, path MTU, no hosts.
  DocumentBuilder& change(void (*edit)(Document&)) {
    edit(document_);
    return *this;
  }

  [[nodiscard]] const Document& build() const { return document_; }

 private:
  Document document_;
};

/// What one rule of a family says about a document: about its row number `row`, or, -1, about the
/// hosts or the connection.
inline Verdict judge(RuleTable rules, std::string_view id, const Document& document, int row = 0) {
  const auto rule = std::ranges::find(rules, id, &Rule::id);
  if (rule == rules.end()) {
    return unknown("no such rule: " + std::string(id));
  }
  const Measurement* subject =
      row < 0 ? nullptr : &document.measurements.at(static_cast<std::size_t>(row));
  const auto bounds = subject == nullptr ? std::vector<Bound>{} : limits_of(document, *subject);
  Look look(document, subject, bounds);
  return rule->judge(look);
}

/// A rule that fires, with its verdict.
struct Fired {
  std::string_view id;
  std::string_view class_id;
  Severity severity;
  Verdict verdict;
};

/// Rules of all families with this scope that fire on a row (-1: without one), nearest first.
inline std::vector<Fired> fired(const Document& document, Scope scope, int row = 0) {
  std::vector<Fired> result;
  for (const RuleTable& family : all_rules()) {
    for (const Rule& rule : family) {
      if (rule.scope != scope) {
        continue;
      }
      Verdict verdict = judge(family, rule.id, document, row);
      if (verdict.outcome == Outcome::fires) {
        result.push_back({rule.id, rule.class_id, rule.severity, std::move(verdict)});
      }
    }
  }
  std::ranges::stable_sort(result, std::ranges::greater{},
                           [](const Fired& one) { return one.verdict.nearness; });
  return result;
}

}  // namespace netbench::report::test
