#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "bench/facts/network_reader.hpp"

namespace netbench::facts {

/// Whether /sys/class/net below `root` shows this very interface: it may be of another network
/// namespace. Errors: `other-namespace`, `file-unreadable`.
[[nodiscard]] Status sysfs_shows(const std::string& root, const LinkInfo& link);

/// Where a path below `root` leads when its symbolic links are followed, from the root on; "" where
/// it leads nowhere or out of the root.
[[nodiscard]] std::string real_path(const std::string& root, const std::string& path);

/// The PCI addresses ("0000:41:00.0") in a path of /sys/devices with the folders they stand for,
/// from the root port down. Pure.
struct PciFunction {
  std::string address;
  std::string folder;
};
[[nodiscard]] std::vector<PciFunction> pci_functions(std::string_view sysfs_path);

/// CPUs of a kernel list ("0-3,8") or of a mask ("00000000,0000010f"); the rest of what is neither
/// is left out. CPUs from 65536 on are ignored. Pure.
[[nodiscard]] std::set<int> parse_cpu_list(std::string_view list);
[[nodiscard]] std::set<int> parse_cpu_mask(std::string_view mask);
/// "0-3,8"; "none" for no CPU. Pure.
[[nodiscard]] std::string cpu_list_text(const std::set<int>& cpus);

}  // namespace netbench::facts
