#include "bench/facts/slot_siblings.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "bench/facts/sysfs.hpp"
#include "bench/facts/text_files.hpp"

namespace netbench::facts {

namespace {

constexpr int kDeepest = 8;  // bridges below bridges

/// Base classes of PCI devices that move much data (PCI Code and ID Assignment Specification).
constexpr std::array<std::pair<std::string_view, const char*>, 4> kKinds{
    {{"0x01", "storage"}, {"0x02", "network"}, {"0x03", "display"}, {"0x12", "accelerator"}}};

const char* kind_of(const std::string& device_class) {
  const auto found = std::ranges::find_if(
      kKinds, [&](const auto& kind) { return device_class.starts_with(kind.first); });
  return found == kKinds.end() ? nullptr : found->second;
}

/// "0000:41:00" of "0000:41:00.1": the functions of a card share it.
std::string card_of(const std::string& address) { return address.substr(0, address.rfind('.')); }

void add_device(const std::string& root, const std::string& folder, const std::string& address,
                std::vector<Sibling>& found) {
  const auto device_class = read_line_file(root, folder + "/class");
  const char* kind = device_class ? kind_of(*device_class) : nullptr;
  const auto speed = read_line_file(root, folder + "/current_link_speed");
  const auto width = read_line_file(root, folder + "/current_link_width");
  const double gigatransfers = speed ? std::strtod(speed->c_str(), nullptr) : 0;
  const double lanes = width ? std::strtod(width->c_str(), nullptr) : 0;
  const bool told = std::ranges::any_of(
      found, [&](const Sibling& one) { return card_of(one.address) == card_of(address); });
  if (kind != nullptr && gigatransfers > 0 && lanes > 0 && !told) {
    found.push_back({address, kind, gigatransfers, lanes});
  }
}

void walk(const std::string& root, const std::string& folder, const std::string& own, int depth,
          std::vector<Sibling>& found) {
  for (const std::string& name : list_directory(root, folder)) {
    const auto functions = pci_functions("/" + name);
    if (depth >= kDeepest || functions.empty() || card_of(name) == card_of(own)) {
      continue;
    }
    add_device(root, folder + "/" + name, name, found);
    walk(root, folder + "/" + name, own, depth + 1, found);
  }
}

}  // namespace

std::vector<Sibling> siblings_below(const std::string& root, const std::string& bridge_folder,
                                    const std::string& own) {
  std::vector<Sibling> found;
  walk(root, bridge_folder, own, 0, found);
  return found;
}

}  // namespace netbench::facts
