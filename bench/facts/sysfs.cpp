#include "bench/facts/sysfs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <system_error>

#include "bench/facts/text_files.hpp"

namespace netbench::facts {

namespace {

constexpr int kMostCpus = 65536;

// "0000:41:00.0": domain, bus, device, function.
bool is_pci_address(std::string_view text) {
  constexpr std::string_view kForm = "hhhh:hh:hh.h";
  constexpr std::string_view kHex = "0123456789abcdefABCDEF";
  return text.size() == kForm.size() &&
         std::equal(text.begin(), text.end(), kForm.begin(), [&](char c, char form) {
           return form == 'h' ? kHex.find(c) != std::string_view::npos : c == form;
         });
}

}  // namespace

Status sysfs_shows(const std::string& root, const LinkInfo& link) {
  const auto index = read_line_file(root, fmt::format("/sys/class/net/{}/ifindex", link.name));
  if (!index) {
    return tl::unexpected(index.error());
  }
  return to_integer(*index) == link.index
             ? Status{}
             : fail("other-namespace",
                    "/sys shows another network namespace than this process has");
}

std::string real_path(const std::string& root, const std::string& path) {
  std::error_code error;
  const auto base = std::filesystem::canonical(root, error);
  const auto full = std::filesystem::canonical(root == "/" ? path : root + path, error);
  if (error) {
    return {};
  }
  const std::string prefix = base == "/" ? "" : base.string();
  return full.string().starts_with(prefix + "/") ? full.string().substr(prefix.size())
                                                 : std::string{};
}

std::vector<PciFunction> pci_functions(std::string_view sysfs_path) {
  std::vector<PciFunction> functions;
  for (std::size_t start = 0; start < sysfs_path.size();) {
    const auto end = std::min(sysfs_path.find('/', start), sysfs_path.size());
    const auto part = sysfs_path.substr(start, end - start);
    if (is_pci_address(part)) {
      functions.push_back({std::string(part), std::string(sysfs_path.substr(0, end))});
    }
    start = end + 1;
  }
  return functions;
}

std::set<int> parse_cpu_list(std::string_view list) {
  std::set<int> cpus;
  while (!list.empty()) {
    const auto comma = std::min(list.find(','), list.size());
    const auto range = trimmed(list.substr(0, comma));
    list.remove_prefix(std::min(comma + 1, list.size()));
    const auto dash = range.find('-');
    const auto first = to_integer(range.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : to_integer(range.substr(dash + 1));
    for (auto cpu = first.value_or(0); first && last && cpu <= *last && cpu < kMostCpus; ++cpu) {
      cpus.insert(static_cast<int>(cpu));
    }
  }
  return cpus;
}

std::set<int> parse_cpu_mask(std::string_view mask) {
  std::set<int> cpus;
  int base = 0;
  for (std::size_t i = mask.size(); i > 0 && base < kMostCpus; --i) {
    const char digit = mask[i - 1];
    unsigned bits = 0;
    if (std::from_chars(&digit, &digit + 1, bits, 16).ec != std::errc{}) {
      continue;  // commas between words of 32 CPUs
    }
    for (int bit = 0; bit < 4; ++bit) {
      if (((bits >> static_cast<unsigned>(bit)) & 1U) != 0) {
        cpus.insert(base + bit);
      }
    }
    base += 4;
  }
  return cpus;
}

std::string cpu_list_text(const std::set<int>& cpus) {
  std::string text;
  for (auto cpu = cpus.begin(); cpu != cpus.end();) {
    const int first = *cpu;
    int last = first;
    while (++cpu != cpus.end() && *cpu == last + 1) {
      last = *cpu;
    }
    text += fmt::format("{}{}", text.empty() ? "" : ",", first);
    text += last > first ? fmt::format("-{}", last) : "";
  }
  return text.empty() ? "none" : text;
}

}  // namespace netbench::facts
