#include "bench/plugin/table_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <string_view>

#include "bench/plan/levels.hpp"

namespace netbench::plugin {

namespace {

constexpr const char* kRemedy = "Build the harness and its plug-ins from the same release.";

tl::unexpected<Error> invalid(const std::string& origin, std::string_view why) {
  return fail("plugin-invalid", fmt::format("{} is not a usable transport: {}", origin, why),
              kRemedy);
}

struct Required {
  const char* name;
  bool present;
};

Status check_pointers(const nb_transport& t, const std::string& origin) {
  const std::array<Required, 18> required{
      {{"name", t.name != nullptr},
       {"summary", t.summary != nullptr},
       {"version", t.version != nullptr},
       {"workloads", t.workloads != nullptr},
       {"tunables", t.tunables != nullptr || t.tunable_count == 0},
       {"probe", t.probe != nullptr},
       {"check", t.check != nullptr},
       {"open", t.open != nullptr},
       {"describe", t.describe != nullptr},
       {"connect", t.connect != nullptr},
       {"effective", t.effective != nullptr},
       {"method", t.method != nullptr},
       {"run", t.run != nullptr},
       {"stop", t.stop != nullptr},
       {"cancel", t.cancel != nullptr},
       {"counters", t.counters != nullptr},
       {"close", t.close != nullptr},
       {"extension", t.extension != nullptr}}};
  const auto* const missing = std::ranges::find(required, false, &Required::present);
  return missing == required.end()
             ? Status{}
             : invalid(origin, fmt::format("its table has no \"{}\"", missing->name));
}

/// Rows are read by index, so their size must be ours; strings must be there.
Status check_rows(const nb_transport& t, const std::string& origin) {
  for (std::size_t i = 0; i < t.workload_count; ++i) {
    const nb_workload& w = t.workloads[i];
    if (w.struct_size != sizeof(nb_workload) || w.name == nullptr || w.summary == nullptr) {
      return invalid(origin, fmt::format("workload row {} has a wrong size or no name", i));
    }
  }
  for (std::size_t i = 0; i < t.tunable_count; ++i) {
    const nb_tunable& row = t.tunables[i];
    const bool choices_missing = row.type == NB_TYPE_CHOICE && row.choices == nullptr;
    if (row.struct_size != sizeof(nb_tunable) || row.name == nullptr || row.help == nullptr ||
        choices_missing) {
      return invalid(origin, fmt::format("tunable row {} has a wrong size, no name, no help or no "
                                         "choices",
                                         i));
    }
  }
  return {};
}

std::string text_or_empty(const char* text) { return text == nullptr ? "" : text; }

plan::Workload copy_workload(const nb_workload& w) {
  plan::Workload workload{.name = w.name,
                          .summary = w.summary,
                          .pattern = static_cast<plan::Pattern>(w.pattern),
                          .min_message_bytes = w.min_message_bytes,
                          .max_message_bytes = w.max_message_bytes,
                          .default_sizes = text_or_empty(w.default_sizes),
                          .quick_sizes = text_or_empty(w.quick_sizes)};
  constexpr std::array<std::pair<std::uint32_t, Direction>, 3> kBits{
      {{NB_FORWARD, Direction::forward},
       {NB_REVERSE, Direction::reverse},
       {NB_BOTH, Direction::both}}};
  for (const auto& [bit, direction] : kBits) {
    if ((w.directions & bit) != 0) {
      workload.directions.push_back(direction);
    }
  }
  return workload;
}

plan::Level default_level(const nb_tunable& row) {
  if (row.type == NB_TYPE_TEXT) {
    return {0, text_or_empty(row.default_text), false};
  }
  if (row.default_number == NB_AUTO) {
    return plan::Level::automatic();
  }
  plan::Level level = plan::Level::integer(row.default_number);
  if (row.type == NB_TYPE_BOOLEAN) {
    level.text = row.default_number != 0 ? "on" : "off";
  }
  const auto index = static_cast<std::size_t>(row.default_number);
  if (row.type == NB_TYPE_CHOICE && index < row.choice_count) {
    level.text = text_or_empty(row.choices[index].name);
  }
  return level;
}

plan::Tunable copy_tunable(const nb_transport& table, const nb_tunable& row) {
  plan::Tunable tunable{.transport = table.name,
                        .name = row.name,
                        .help = row.help,
                        .type = static_cast<plan::ValueType>(row.type),
                        .unit = static_cast<plan::Unit>(row.unit),
                        .scale = static_cast<plan::Scale>(row.scale),
                        .scope = static_cast<plan::Scope>(row.scope),
                        .allows_auto = (row.flags & NB_TUNABLE_ALLOWS_AUTO) != 0,
                        .minimum = row.minimum,
                        .maximum = row.maximum,
                        .default_level = default_level(row),
                        .sweep = text_or_empty(row.sweep)};
  for (std::size_t i = 0; row.type == NB_TYPE_CHOICE && i < row.choice_count; ++i) {
    tunable.choices.push_back(
        {text_or_empty(row.choices[i].name), text_or_empty(row.choices[i].help)});
  }
  for (std::size_t i = 0; i < table.workload_count && i < 64; ++i) {
    if ((row.workloads >> i & 1U) != 0) {
      tunable.workloads.emplace_back(table.workloads[i].name);
    }
    if (NB_HAS(nb_tunable, &row, sweep_workloads) && (row.sweep_workloads >> i & 1U) != 0) {
      tunable.sweep_workloads.emplace_back(table.workloads[i].name);
    }
  }
  return tunable;
}

/// Names become flags, JSON keys and parts of ids: [a-z][a-z0-9_]*.
bool is_name(std::string_view name) {
  return !name.empty() && name.front() >= 'a' && name.front() <= 'z' &&
         std::ranges::all_of(name, [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
         });
}

std::string sizes_problem(const plan::Workload& workload, const std::string& sizes) {
  if (sizes.empty()) {
    return {};
  }
  const auto parsed = plan::parse_sizes(sizes);
  if (!parsed) {
    return parsed.error().message;
  }
  const bool inside = std::ranges::all_of(*parsed, [&](std::int64_t size) {
    return size >= workload.min_message_bytes && size <= workload.max_message_bytes;
  });
  return inside ? "" : fmt::format("a size of \"{}\" is outside its own limits", sizes);
}

std::string workload_problem(const plan::Workload& workload) {
  if (workload.pattern > plan::Pattern::rate) {
    return "unknown pattern";
  }
  if (workload.summary.empty()) {
    return "no summary";
  }
  if (workload.min_message_bytes < 0 || workload.min_message_bytes > workload.max_message_bytes) {
    return "its message sizes are an empty range";
  }
  const std::string problem = sizes_problem(workload, workload.default_sizes);
  return problem.empty() ? sizes_problem(workload, workload.quick_sizes) : problem;
}

bool default_is_legal(const plan::Tunable& tunable) {
  const plan::Level& level = tunable.default_level;
  if (level.is_auto) {
    return tunable.allows_auto;
  }
  switch (tunable.type) {
    case plan::ValueType::integer:
      return level.number >= tunable.minimum && level.number <= tunable.maximum;
    case plan::ValueType::boolean:
      return level.number == 0 || level.number == 1;
    case plan::ValueType::choice:
      return level.number >= 0 && level.number < static_cast<std::int64_t>(tunable.choices.size());
    case plan::ValueType::text:
      break;
  }
  return true;
}

std::string choices_problem(const plan::Tunable& tunable) {
  std::set<std::string_view> seen;
  for (const plan::Choice& choice : tunable.choices) {
    if (choice.name.empty() || !seen.insert(choice.name).second) {
      return "a choice has no name, or the name of another";
    }
  }
  return tunable.type == plan::ValueType::choice && tunable.choices.empty() ? "no choices" : "";
}

std::string tunable_problem(const plan::Tunable& tunable) {
  if (tunable.type > plan::ValueType::text || tunable.unit > plan::Unit::count ||
      tunable.scale > plan::Scale::power_of_two || tunable.scope > plan::Scope::host) {
    return "unknown type, unit, scale or scope";
  }
  if (tunable.help.empty()) {
    return "no help";
  }
  if (tunable.type == plan::ValueType::integer && tunable.minimum > tunable.maximum) {
    return "its range is empty";
  }
  if (const std::string problem = choices_problem(tunable); !problem.empty()) {
    return problem;
  }
  if (!default_is_legal(tunable)) {
    return "its default is not a legal level";
  }
  if (!tunable.sweep.empty()) {
    const auto sweep = plan::parse_levels(tunable, tunable.sweep);
    return sweep ? "" : "its sweep: " + sweep.error().message;
  }
  return {};
}

template <class Row, class Problem>
Status check_each(const std::vector<Row>& rows, std::string_view noun, const std::string& origin,
                  Problem problem_of) {
  std::set<std::string_view> seen;
  for (const Row& row : rows) {
    std::string problem = is_name(row.name) ? problem_of(row) : "its name is not a lower-case word";
    if (!seen.insert(row.name).second) {
      problem = "it is declared twice";
    }
    if (!problem.empty()) {
      return invalid(origin, fmt::format("{} \"{}\": {}", noun, row.name, problem));
    }
  }
  return {};
}

}  // namespace

Status check_layout(const nb_transport* table, const std::string& origin) {
  if (!NB_HAS(nb_transport, table, abi_version) || table->abi_version != NB_ABI_VERSION) {
    const std::uint32_t version = NB_HAS(nb_transport, table, abi_version) ? table->abi_version : 0;
    return fail("plugin-version",
                fmt::format("{} has version {} of the transport interface, this harness needs {}",
                            origin, version, NB_ABI_VERSION),
                kRemedy);
  }
  if (!NB_HAS(nb_transport, table, extension)) {
    return invalid(origin, fmt::format("its table has {} bytes, at least {} are needed",
                                       table->struct_size, sizeof(nb_transport)));
  }
  if (table->workload_count == 0 || table->workload_count > 64) {
    return invalid(origin, "it declares no workload, or more than 64");
  }
  return check_pointers(*table, origin).and_then([&] { return check_rows(*table, origin); });
}

plan::TransportSpec copy_spec(const nb_transport& table) {
  plan::TransportSpec spec{.name = table.name, .summary = table.summary, .version = table.version};
  for (std::size_t i = 0; i < table.workload_count; ++i) {
    spec.workloads.push_back(copy_workload(table.workloads[i]));
  }
  for (std::size_t i = 0; i < table.tunable_count; ++i) {
    spec.tunables.push_back(copy_tunable(table, table.tunables[i]));
  }
  return spec;
}

Status check_spec(const plan::TransportSpec& spec, const std::string& origin) {
  if (!is_name(spec.name)) {
    return invalid(origin, fmt::format("its name \"{}\" is not a lower-case word", spec.name));
  }
  return check_each(spec.workloads, "workload", origin, workload_problem).and_then([&] {
    return check_each(spec.tunables, "tunable", origin, tunable_problem);
  });
}

}  // namespace netbench::plugin
