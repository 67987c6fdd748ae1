#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "report/diagnose/rdma_meanings.hpp"
#include "report/diagnose/rule.hpp"

/// What the rules of RDMA read alike. Everything asked is noted by the Look.
namespace netbench::report {

/// The rails of a host by its facts: "mlx5_0", "mlx4_0:2".
[[nodiscard]] std::vector<std::string> rails_of(const Look& look, End end);

/// The rail that carries a row at an end: the one in effect, else the only one with counters, else
/// that of the test's interface, else the only one; "" where it cannot be told.
[[nodiscard]] std::string rail_of(Look& look, End end);

/// A fact of a rail: rdma.<rail>.<name>.
std::optional<double> rail_fact(Look& look, End end, const std::string& rail,
                                std::string_view name);
std::optional<std::string> rail_text(Look& look, End end, const std::string& rail,
                                     std::string_view name);

/// Whether a rail, or a row at either end, is driven by software (rxe, siw). False where unknown.
[[nodiscard]] bool is_software_rail(Look& look, End end, const std::string& rail);
[[nodiscard]] bool is_software(Look& look);

/// The MTU of a rail's interface, from either fact.
[[nodiscard]] std::optional<double> interface_mtu(Look& look, End end, const std::string& rail);

/// "nb-a's mlx5_0".
[[nodiscard]] std::string rail_name(const Look& look, End end, const std::string& rail);

/// The ends by what the cards do: the requester posts the operations; of reads it is the end that
/// gets the payload.
[[nodiscard]] End requester(Look& look);
[[nodiscard]] End responder(Look& look);

/// "write", "send", "read" …; "" where unknown.
[[nodiscard]] std::string operation_of(Look& look);

/// Judges every rail of an end: the nearest that fires; silent only where all are; else unknown.
using JudgeRail = Verdict (*)(Look&, End, const std::string& rail);
[[nodiscard]] Verdict over_rails(Look& look, End end, JudgeRail judge);

/// Counters of a meaning over a row, with their names: "packet_seq_err 12". Nothing where no such
/// counter was read. Those that rise in faultless runs are left out.
struct RdmaCount {
  double total = 0;
  std::string names;
};
[[nodiscard]] std::optional<RdmaCount> rdma_count(Look& look, End end,
                                                  std::initializer_list<RdmaMeaning> meanings);

/// Whether the document measured, or tried to measure, RDMA; and whether it measured anything.
[[nodiscard]] bool wants_rdma(const Document& document);
/// The verdict at level info where RDMA was not asked for.
[[nodiscard]] Verdict unless_wanted(const Document& document, Verdict verdict);

}  // namespace netbench::report
