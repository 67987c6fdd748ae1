#include "report/diagnose/experiments.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "bench/core/units.hpp"
#include "report/diagnose/cores.hpp"
#include "report/diagnose/recipe.hpp"

namespace netbench::report {

namespace {

constexpr std::int64_t kMiB = std::int64_t{1} << 20;
/// The interval of fewer pairs is from the least to the largest of them and says too much.
constexpr std::uint32_t kPairsNeeded = 3;
/// Changes below this are not told from none (two equal runs on a shared machine differ by more).
constexpr double kNoticeable = 1.10;

std::optional<Experiment> more_streams(std::string_view id, const Measurement& row) {
  const std::int64_t now = whole(row.tunables.effective_initiator, "tcp.streams").value_or(1);
  return vary(row, id, fmt::format("{} streams instead of {}", 4 * now, now),
              {{"tcp.streams", 4 * now}});
}

std::optional<Experiment> larger_buffer(std::string_view id, const Measurement& row,
                                        const std::string& name) {
  const auto asked = whole(row.tunables.requested, name);
  const std::int64_t bytes = asked ? 4 * *asked : 8 * kMiB;
  return vary(row, id,
              fmt::format("{} of {} instead of {}", name, format_bytes(bytes),
                          asked ? format_bytes(*asked) : "the kernel's own tuning"),
              {{name, bytes}});
}

std::optional<Experiment> larger_rcvbuf(std::string_view id, const Measurement& row) {
  return larger_buffer(id, row, "tcp.rcvbuf");
}

std::optional<Experiment> larger_sndbuf(std::string_view id, const Measurement& row) {
  return larger_buffer(id, row, "tcp.sndbuf");
}

std::optional<Experiment> half_mss(std::string_view id, const Measurement& row) {
  const auto mss = whole(row.tunables.effective_initiator, "tcp.mss");
  if (!mss || *mss < 1000) {
    return std::nullopt;
  }
  return vary(row, id, fmt::format("segments of {} B instead of {} B", *mss / 2, *mss),
              {{"tcp.mss", *mss / 2}});
}

std::optional<Experiment> discard(std::string_view id, const Measurement& row) {
  return vary(row, id, "a receiver that discards instead of copying",
              {{"tcp.receive", std::string("discard")}});
}

std::optional<Experiment> slower_pacing(std::string_view id, const Measurement& row) {
  if (!row.summary.goodput_bps) {
    return std::nullopt;
  }
  const auto rate = static_cast<std::int64_t>(0.9 * *row.summary.goodput_bps);
  return vary(row, id,
              fmt::format("paced at {:.4g} Mb/s, 90 % of what was measured",
                          static_cast<double>(rate) * 1e-6),
              {{"tcp.pacing", rate}});
}

std::optional<Experiment> larger_message(std::string_view id, const Measurement& row) {
  if (row.size_bytes >= kMiB || row.size_bytes <= 0) {
    return std::nullopt;
  }
  Experiment experiment = vary(row, id, "", {});
  experiment.size_bytes = std::min(kMiB, 64 * row.size_bytes);
  experiment.change =
      fmt::format("writes of {} B instead of {} B", experiment.size_bytes, row.size_bytes);
  return experiment;
}

std::optional<Experiment> other_congestion(std::string_view id, const Measurement& row) {
  const auto now = row.tunables.effective_initiator.find("tcp.congestion");
  const auto* text = now == row.tunables.effective_initiator.end()
                         ? nullptr
                         : std::get_if<std::string>(&now->second);
  if (text == nullptr) {
    return std::nullopt;
  }
  const std::string other = *text == "bbr" ? "cubic" : "bbr";
  return vary(row, id, fmt::format("{} instead of {}", other, *text), {{"tcp.congestion", other}});
}

std::optional<Experiment> nodelay(std::string_view id, const Measurement& row) {
  return vary(row, id, "TCP_NODELAY on", {{"tcp.nodelay", true}});
}

std::optional<Experiment> unthrottled(std::string_view id, const Measurement& row) {
  const std::string name = id == "no-read-rate" ? "tcp.read_rate" : "tcp.write_rate";
  if (!is_asked_for(row, name)) {
    return std::nullopt;
  }
  return vary(row, id, name + " lifted", {{name, std::string("auto")}});
}

std::string text_of(const ValueMap& values, const std::string& name) {
  const auto found = values.find(name);
  const auto* text = found == values.end() ? nullptr : std::get_if<std::string>(&found->second);
  return text == nullptr ? std::string{} : *text;
}

// A thread that spins is awake when its message comes: neither its core nor the thread is woken.
std::optional<Experiment> busy_latency(std::string_view id, const Measurement& row) {
  const std::string now = text_of(row.tunables.effective_initiator, "tcp.wait");
  if (now.empty() || now == "spin") {
    return std::nullopt;
  }
  return vary(row, id, "both ends spin instead of sleeping until a message comes",
              {{"tcp.wait", std::string("spin")}});
}

std::optional<Experiment> other_core(std::string_view id, const Measurement& row,
                                     const Document& document) {
  const auto cores = other_cores(document, row);
  if (!cores) {
    return std::nullopt;
  }
  const std::string now = text_of(row.tunables.effective_initiator, "tcp.cpu");
  return vary(row, id,
              fmt::format("threads on CPU {} instead of {}", *cores,
                          now.empty() || now == "auto" ? "wherever the kernel puts them" : now),
              {{"tcp.cpu", *cores}});
}

/// Those that touch one cause alone go first: where two experiments tell as much, the earlier one
/// is made.
constexpr std::array<Recipe, 13> kRecipes = {{{"no-read-rate", unthrottled},
                                              {"no-write-rate", unthrottled},
                                              {"nodelay", nodelay},
                                              {"busy-latency", busy_latency},
                                              {"other-core", nullptr, other_core},
                                              {"larger-message", larger_message},
                                              {"larger-rcvbuf", larger_rcvbuf},
                                              {"larger-sndbuf", larger_sndbuf},
                                              {"slower-pacing", slower_pacing},
                                              {"other-congestion", other_congestion},
                                              {"half-mss", half_mss},
                                              {"discard", discard},
                                              {"more-streams", more_streams}}};

const Prediction* prediction_of(const Rule& rule, std::string_view experiment) {
  const auto found = std::ranges::find(rule.predictions, experiment, &Prediction::experiment);
  return found == rule.predictions.end() ? nullptr : &*found;
}

bool apart(const Prediction& one, const Prediction& other) {
  return one.at_most < other.at_least || other.at_most < one.at_least;
}

/// Pairs of hypotheses that the experiment tells apart, then those it would confirm.
std::pair<int, int> telling(std::span<const Hypothesis> hypotheses, std::string_view experiment) {
  int pairs = 0;
  int alone = 0;
  for (std::size_t i = 0; i < hypotheses.size(); ++i) {
    const Prediction* one = prediction_of(*hypotheses[i].rule, experiment);
    alone += one != nullptr ? 1 : 0;
    for (std::size_t j = i + 1; one != nullptr && j < hypotheses.size(); ++j) {
      const Prediction* other = prediction_of(*hypotheses[j].rule, experiment);
      pairs += other != nullptr && apart(*one, *other) ? 1 : 0;
    }
  }
  return {pairs, alone};
}

/// The recipes that fit a row; "larger-message" fits every one.
std::vector<Recipe> recipes_for(const Measurement& row) {
  if (row.transport != "verbs") {
    return {kRecipes.begin(), kRecipes.end()};
  }
  std::vector<Recipe> recipes = {{"larger-message", larger_message}};
  recipes.insert(recipes.end(), verbs_recipes().begin(), verbs_recipes().end());
  return recipes;
}

}  // namespace

std::optional<std::int64_t> whole(const ValueMap& values, const std::string& name) {
  const auto found = values.find(name);
  if (found == values.end()) {
    return std::nullopt;
  }
  if (const auto* number = std::get_if<std::int64_t>(&found->second)) {
    return *number;
  }
  const auto* fraction = std::get_if<double>(&found->second);
  return fraction == nullptr ? std::nullopt : std::optional(static_cast<std::int64_t>(*fraction));
}

Experiment vary(const Measurement& row, std::string_view id, std::string change, ValueMap changed) {
  Experiment experiment{std::string(id), row.id, std::move(change), row.tunables.requested,
                        row.size_bytes};
  for (auto& [name, value] : changed) {
    experiment.tunables[name] = std::move(value);
  }
  return experiment;
}

std::optional<Experiment> experiment_on(std::string_view id, const Measurement& row,
                                        const Document& document) {
  const auto recipes = recipes_for(row);
  const auto found = std::ranges::find(recipes, id, &Recipe::id);
  if (found == recipes.end()) {
    return std::nullopt;
  }
  return found->make != nullptr ? found->make(id, row) : found->make_on_hosts(id, row, document);
}

std::vector<Experiment> deciding(std::span<const Hypothesis> hypotheses, const Measurement& row,
                                 const Document& document) {
  std::vector<std::pair<std::pair<int, int>, Experiment>> found;
  for (const Recipe& recipe : recipes_for(row)) {
    const auto worth = telling(hypotheses, recipe.id);
    if (worth.second == 0) {
      continue;
    }
    if (auto experiment = experiment_on(recipe.id, row, document)) {
      found.emplace_back(worth, std::move(*experiment));
    }
  }
  std::ranges::stable_sort(found, std::greater{}, &decltype(found)::value_type::first);
  std::vector<Experiment> experiments;
  for (auto& [worth, experiment] : found) {
    experiments.push_back(std::move(experiment));
  }
  return experiments;
}

Shown shown(const Prediction& prediction, const Intervention* moved) {
  if (moved == nullptr || moved->n_pairs == 0) {
    return Shown::not_run;
  }
  if (moved->n_pairs < kPairsNeeded) {
    return Shown::undecided;
  }
  const double low = moved->ratio_low;
  const double high = moved->ratio_high;
  if (!std::isfinite(low) || !std::isfinite(high) || low <= 0) {
    return Shown::undecided;
  }
  if (high < prediction.at_least || low > prediction.at_most) {
    return Shown::contradicts;
  }
  if (low < prediction.at_least || high > prediction.at_most) {
    return Shown::undecided;
  }
  if (low >= kNoticeable || high <= 1 / kNoticeable) {
    return Shown::moves;
  }
  return prediction.at_least <= 1 && prediction.at_most >= 1 ? Shown::stays : Shown::undecided;
}

}  // namespace netbench::report
