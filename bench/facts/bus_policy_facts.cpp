#include <fmt/format.h>

#include <array>

#include "bench/facts/collectors.hpp"
#include "bench/facts/text_files.hpp"

namespace netbench::facts {

namespace {

// "[default] performance powersave powersupersave": the chosen one in brackets.
void add_aspm_policy(FactList& facts) {
  const std::string path = "/sys/module/pcie_aspm/parameters/policy";
  const auto text = read_line_file(facts.root(), path);
  const auto open = text ? text->find('[') : std::string::npos;
  const auto close = text ? text->find(']') : std::string::npos;
  if (open == std::string::npos || close == std::string::npos || close < open) {
    facts.add_unknown("pcie.aspm_policy", path,
                      text ? path + " marks no policy" : text.error().message);
  } else {
    facts.add("pcie.aspm_policy", text->substr(open + 1, close - open - 1), path);
  }
}

// Documentation/admin-guide/kernel-parameters.txt
constexpr std::array<std::string_view, 5> kIommuParameters{
    "iommu=", "intel_iommu=", "amd_iommu=", "iommu.passthrough=", "iommu.strict="};

void add_command_line(FactList& facts) {
  const std::string path = "/proc/cmdline";
  const auto text = read_text_file(facts.root(), path);
  if (!text) {
    facts.add_unknown("kernel.cmdline_iommu", path, text.error().message);
    return;
  }
  std::string found;
  for (const auto word : split_words(*text)) {
    for (const auto parameter : kIommuParameters) {
      if (word.starts_with(parameter)) {
        found += fmt::format("{}{}", found.empty() ? "" : " ", word);
      }
    }
  }
  facts.add("kernel.cmdline_iommu", found.empty() ? "not mentioned" : found, path);
}

}  // namespace

void collect_bus_policy(FactList& facts) {
  add_aspm_policy(facts);
  add_command_line(facts);
  const std::string units = "/sys/class/iommu";
  facts.add("iommu.units", static_cast<std::int64_t>(list_directory(facts.root(), units).size()),
            units);
}

}  // namespace netbench::facts
