#pragma once

#include <string>
#include <string_view>

namespace netbench::facts {

/// Why the link speed that this driver reports says nothing about a wire, or "" where it does.
/// `driver` as ethtool names it (or the rtnetlink kind, or "lo"); `in_vm`: the CPU shows a
/// hypervisor, where classic NICs (e1000, rtl8139) are emulated and have no wire either.
[[nodiscard]] std::string why_speed_is_fiction(std::string_view driver, bool in_vm);

/// True where `ethtool -S` counts something of a NIC or of a virtual function.
[[nodiscard]] bool has_nic_statistics(std::string_view driver);

}  // namespace netbench::facts
