#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "report/diagnose/diagnose.hpp"

/// How experiments are made of rows. Private to report/diagnose.
namespace netbench::report {

/// Makes an experiment of a row, or nothing where it would change nothing there.
using Make = std::optional<Experiment> (*)(std::string_view id, const Measurement& row);
/// The same, by what the row's hosts are.
using MakeOnHosts = std::optional<Experiment> (*)(std::string_view id, const Measurement& row,
                                                  const Document& document);

struct Recipe {
  std::string_view id;
  Make make = nullptr;
  MakeOnHosts make_on_hosts = nullptr;
};

/// Those of RDMA verbs, for rows of that transport alone.
[[nodiscard]] std::span<const Recipe> verbs_recipes();

/// The row with these tunables instead.
[[nodiscard]] Experiment vary(const Measurement& row, std::string_view id, std::string change,
                              ValueMap changed);

/// A whole number among tunables.
[[nodiscard]] std::optional<std::int64_t> whole(const ValueMap& values, const std::string& name);

}  // namespace netbench::report
