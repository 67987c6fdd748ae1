#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <string_view>
#include <tuple>
#include <utility>

#include "bench/model/document.hpp"

/// How the value types lie in a document: one table a type, read by the encoder, the decoder and
/// the text visitor alike. Private to bench/model.
namespace netbench::layout {

/// One member and its key; "group/name" stands inside an object "group". `always`: an optional that
/// is written as null where it is absent. `since_minor`: older documents lack it.
template <class Access>
struct Field {
  std::string_view key;
  Access access;
  bool always = false;
  int since_minor = 0;

  template <class Owner>
  [[nodiscard]] constexpr auto& of(Owner& owner) const {
    return std::invoke(access, owner);
  }
};
template <class Access>
Field(std::string_view, Access) -> Field<Access>;
template <class Access>
Field(std::string_view, Access, bool) -> Field<Access>;
template <class Access>
Field(std::string_view, Access, bool, int) -> Field<Access>;

/// A member of a member.
template <class Outer, class Inner>
struct Nested {
  Outer outer;
  Inner inner;

  template <class Owner>
  [[nodiscard]] constexpr auto& operator()(Owner& owner) const {
    return owner.*outer.*inner;
  }
};
template <class Outer, class Inner>
Nested(Outer, Inner) -> Nested<Outer, Inner>;

template <class T>
struct Layout;

template <class T>
concept Structured = requires {
  Layout<T>::kFields;
};

/// Calls `use` with each field of T in order, until it returns false. True where none did.
template <Structured T, class Use>
constexpr bool for_each_field(const Use& use) {
  return std::apply([&](const auto&... field) { return (use(field) && ...); }, Layout<T>::kFields);
}

/// "group/name" → {group, name}; "name" → {"", name}.
[[nodiscard]] constexpr std::pair<std::string_view, std::string_view> split_key(
    std::string_view key) {
  const std::size_t slash = key.find('/');
  if (slash == std::string_view::npos) {
    return {{}, key};
  }
  return {key.substr(0, slash), key.substr(slash + 1)};
}

template <class E>
struct EnumNames;

template <class E>
concept NamedEnum = requires {
  EnumNames<E>::kNames;
};

template <>
struct EnumNames<Severity> {
  static constexpr std::array<std::string_view, 3> kNames{"info", "warning", "problem"};
};
template <>
struct EnumNames<Confidence> {
  static constexpr std::array<std::string_view, 4> kNames{"confirmed", "likely", "possible",
                                                          "excluded"};
};
template <>
struct EnumNames<MeasurementStatus> {
  static constexpr std::array<std::string_view, 3> kNames{"ok", "failed", "skipped"};
};
template <>
struct EnumNames<DocumentStatus> {
  static constexpr std::array<std::string_view, 3> kNames{"ok", "partial", "failed"};
};

template <>
struct Layout<Error> {
  static constexpr auto kFields =
      std::tuple{Field{"code", &Error::slug}, Field{"message", &Error::message},
                 Field{"remedy", &Error::remedy}, Field{"exit_code", &Error::exit_class}};
};

template <>
struct Layout<Fact> {
  static constexpr auto kFields =
      std::tuple{Field{"key", &Fact::key}, Field{"value", &Fact::value},
                 Field{"source", &Fact::source}, Field{"unknown_because", &Fact::unknown_because}};
};

template <>
struct Layout<HostInfo> {
  static constexpr auto kFields =
      std::tuple{Field{"name", &HostInfo::name}, Field{"addresses", &HostInfo::addresses},
                 Field{"boot_id", &HostInfo::boot_id}, Field{"interface", &HostInfo::interface},
                 Field{"facts", &HostInfo::facts}};
};

template <>
struct Layout<StreamRecord> {
  static constexpr auto kFields =
      std::tuple{Field{"goodput_bps", &StreamRecord::goodput_bps},
                 Field{"goodput_low_bps", &StreamRecord::low_bps},
                 Field{"goodput_high_bps", &StreamRecord::high_bps},
                 Field{"measured_bytes", &StreamRecord::measured_bytes},
                 Field{"measured_ns", &StreamRecord::measured_ns},
                 Field{"n_messages", &StreamRecord::messages},
                 Field{"warmup_cut_ns", &StreamRecord::warmup_cut_ns},
                 Field{"no_steady_state", &StreamRecord::no_steady_state},
                 Field{"stop_reason", &StreamRecord::stop_reason},
                 Field{"series", &StreamRecord::series}};
};

template <>
struct Layout<LatencyRecord> {
  static constexpr auto kFields =
      std::tuple{Field{"rtt_p50_ns", &LatencyRecord::median_ns},
                 Field{"rtt_p50_low_ns", &LatencyRecord::low_ns},
                 Field{"rtt_p50_high_ns", &LatencyRecord::high_ns},
                 Field{"measured_ns", &LatencyRecord::measured_ns},
                 Field{"warmup_n_samples", &LatencyRecord::warmup_samples},
                 Field{"warmup_cut_ns", &LatencyRecord::warmup_cut_ns},
                 Field{"no_steady_state", &LatencyRecord::no_steady_state},
                 Field{"stop_reason", &LatencyRecord::stop_reason},
                 Field{"histogram", &LatencyRecord::histogram}};
};

template <>
struct Layout<EndRecord> {
  static constexpr auto kFields = std::tuple{
      Field{"counters", &EndRecord::counters},           Field{"cpu_s", &EndRecord::cpu_s},
      Field{"softirq_s", &EndRecord::softirq_s},         Field{"steal_s", &EndRecord::steal_s},
      Field{"foreign_cpu_s", &EndRecord::foreign_cpu_s}, Field{"elapsed_s", &EndRecord::elapsed_s}};
};

template <>
struct Layout<Round> {
  static constexpr auto kFields = std::tuple{
      Field{"index", &Round::index},
      Field{"started_utc", &Round::started_utc},
      Field{"duration_ns", &Round::duration_ns},
      Field{"flags", &Round::flags},
      Field{"wire_disagreement", &Round::wire_disagreement},
      Field{"latency", &Round::latency},
      Field{"forward", &Round::forward},
      Field{"reverse", &Round::reverse},
      Field{"counters/initiator", Nested{&Round::initiator, &EndRecord::counters}},
      Field{"counters/responder", Nested{&Round::responder, &EndRecord::counters}},
      Field{"cpu_s/initiator", Nested{&Round::initiator, &EndRecord::cpu_s}},
      Field{"cpu_s/responder", Nested{&Round::responder, &EndRecord::cpu_s}},
      Field{"softirq_s/initiator", Nested{&Round::initiator, &EndRecord::softirq_s}},
      Field{"softirq_s/responder", Nested{&Round::responder, &EndRecord::softirq_s}},
      Field{"steal_s/initiator", Nested{&Round::initiator, &EndRecord::steal_s}},
      Field{"steal_s/responder", Nested{&Round::responder, &EndRecord::steal_s}},
      Field{"foreign_cpu_s/initiator", Nested{&Round::initiator, &EndRecord::foreign_cpu_s}},
      Field{"foreign_cpu_s/responder", Nested{&Round::responder, &EndRecord::foreign_cpu_s}},
      Field{"elapsed_s/initiator", Nested{&Round::initiator, &EndRecord::elapsed_s}},
      Field{"elapsed_s/responder", Nested{&Round::responder, &EndRecord::elapsed_s}}};
};

template <>
struct Layout<TunableRecord> {
  static constexpr auto kFields =
      std::tuple{Field{"requested", &TunableRecord::requested},
                 Field{"effective/initiator", &TunableRecord::effective_initiator},
                 Field{"effective/responder", &TunableRecord::effective_responder},
                 Field{"notes", &TunableRecord::notes}};
};

template <>
struct Layout<Summary> {
  static constexpr auto kFields =
      std::tuple{Field{"goodput_bps", &Summary::goodput_bps},
                 Field{"goodput_low_bps", &Summary::goodput_low_bps},
                 Field{"goodput_high_bps", &Summary::goodput_high_bps},
                 Field{"forward_bps", &Summary::forward_bps},
                 Field{"reverse_bps", &Summary::reverse_bps},
                 Field{"messages_per_s", &Summary::messages_per_s},
                 Field{"messages_low_per_s", &Summary::messages_low_per_s},
                 Field{"messages_high_per_s", &Summary::messages_high_per_s},
                 Field{"rtt_ns/min", &Summary::rtt_min_ns},
                 Field{"rtt_ns/p50", &Summary::rtt_p50_ns},
                 Field{"rtt_ns/p50_low", &Summary::rtt_p50_low_ns},
                 Field{"rtt_ns/p50_high", &Summary::rtt_p50_high_ns},
                 Field{"rtt_ns/p90", &Summary::rtt_p90_ns},
                 Field{"rtt_ns/p99", &Summary::rtt_p99_ns},
                 Field{"rtt_ns/p999", &Summary::rtt_p999_ns},
                 Field{"rtt_ns/max", &Summary::rtt_max_ns},
                 Field{"n_rounds", &Summary::n_rounds},
                 Field{"n_samples", &Summary::n_samples},
                 Field{"confidence_level", &Summary::confidence_level},
                 Field{"cpu_s_per_gb/initiator", &Summary::cpu_s_per_gb_initiator},
                 Field{"cpu_s_per_gb/responder", &Summary::cpu_s_per_gb_responder},
                 Field{"softirq_s_per_gb/initiator", &Summary::softirq_s_per_gb_initiator},
                 Field{"softirq_s_per_gb/responder", &Summary::softirq_s_per_gb_responder},
                 Field{"steal_share/initiator", &Summary::steal_share_initiator},
                 Field{"steal_share/responder", &Summary::steal_share_responder},
                 Field{"ceiling_bps", &Summary::ceiling_bps, true},
                 Field{"ceiling_note", &Summary::ceiling_note},
                 Field{"retransmitted_segments", &Summary::retransmitted_segments},
                 Field{"spurious_retransmits", &Summary::spurious_retransmits},
                 Field{"lost_datagrams", &Summary::lost_datagrams},
                 Field{"socket_drops", &Summary::socket_drops},
                 Field{"reordered_datagrams", &Summary::reordered_datagrams},
                 Field{"duplicate_datagrams", &Summary::duplicate_datagrams},
                 Field{"jitter_ns", &Summary::jitter_ns},
                 Field{"wire_disagreement", &Summary::wire_disagreement},
                 Field{"round_cv", &Summary::round_cv},
                 Field{"transfer_time_ratio", &Summary::transfer_time_ratio},
                 Field{"tcp_efficiency", &Summary::tcp_efficiency},
                 Field{"buffer_delay", &Summary::buffer_delay},
                 Field{"rfc6349_note", &Summary::rfc6349_note},
                 Field{"stop_reasons", &Summary::stop_reasons}};
};

template <>
struct Layout<Measurement> {
  static constexpr auto kFields = std::tuple{Field{"id", &Measurement::id},
                                             Field{"transport", &Measurement::transport},
                                             Field{"workload", &Measurement::workload},
                                             Field{"direction", &Measurement::direction},
                                             Field{"size_bytes", &Measurement::size_bytes},
                                             Field{"mtu_bytes", &Measurement::mtu_bytes},
                                             Field{"status", &Measurement::status},
                                             Field{"error", &Measurement::error},
                                             Field{"flags", &Measurement::flags},
                                             Field{"method", &Measurement::method},
                                             Field{"tunables", &Measurement::tunables},
                                             Field{"summary", &Measurement::summary},
                                             Field{"rounds", &Measurement::rounds}};
};

template <>
struct Layout<Finding> {
  static constexpr auto kFields = std::tuple{Field{"id", &Finding::id},
                                             Field{"class_id", &Finding::class_id},
                                             Field{"severity", &Finding::severity},
                                             Field{"confidence", &Finding::confidence},
                                             Field{"cause", &Finding::cause},
                                             Field{"evidence", &Finding::evidence},
                                             Field{"remedy", &Finding::remedy},
                                             Field{"ruled_out", &Finding::ruled_out},
                                             Field{"not_evaluated", &Finding::not_evaluated}};
};

template <>
struct Layout<Intervention> {
  static constexpr auto kFields = std::tuple{Field{"id", &Intervention::id},
                                             Field{"row", &Intervention::row},
                                             Field{"change", &Intervention::change},
                                             Field{"metric", &Intervention::metric},
                                             Field{"base", &Intervention::base},
                                             Field{"changed", &Intervention::changed},
                                             Field{"ratio", &Intervention::ratio},
                                             Field{"ratio_low", &Intervention::ratio_low},
                                             Field{"ratio_high", &Intervention::ratio_high},
                                             Field{"n_pairs", &Intervention::n_pairs},
                                             Field{"note", &Intervention::note}};
};

template <>
struct Layout<PathMtu> {
  static constexpr auto kFields =
      std::tuple{Field{"forward_bytes", &PathMtu::forward_bytes},
                 Field{"reverse_bytes", &PathMtu::reverse_bytes}, Field{"method", &PathMtu::method},
                 Field{"note", &PathMtu::note}, Field{"black_hole", &PathMtu::black_hole}};
};

template <>
struct Layout<RunInfo> {
  static constexpr auto kFields =
      std::tuple{Field{"id", &RunInfo::id},
                 Field{"started_utc", &RunInfo::started_utc},
                 Field{"finished_utc", &RunInfo::finished_utc},
                 Field{"netbench_version", &RunInfo::netbench_version},
                 Field{"command_line", &RunInfo::command_line},
                 Field{"same_machine", &RunInfo::same_machine},
                 Field{"authenticated", &RunInfo::authenticated},
                 Field{"path_mtu", &RunInfo::path_mtu},
                 Field{"harness_ns_per_message", &RunInfo::harness_ns_per_message},
                 Field{"clock_ns", &RunInfo::clock_ns}};
};

template <>
struct Layout<Document> {
  static constexpr auto kFields =
      std::tuple{Field{"status", &Document::status},
                 Field{"error", &Document::error, true},
                 Field{"run", &Document::run},
                 Field{"config", &Document::config},
                 Field{"hosts", &Document::hosts},
                 Field{"measurements", &Document::measurements},
                 Field{"interventions", &Document::interventions, false, 1},
                 Field{"findings", &Document::findings}};
};

}  // namespace netbench::layout
