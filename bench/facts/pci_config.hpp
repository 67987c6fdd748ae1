#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace netbench::facts {

/// What the configuration space of a PCI Express function says. PCI Express Base Specification 5.0:
/// sections 7.5.3 (PCI Express capability), 7.7.8 (ACS), 7.8.4 (AER).
struct PciConfig {
  std::string port_kind;  // endpoint, root port, upstream port, downstream port, other
  int max_payload_bytes = 0;
  int max_payload_supported_bytes = 0;
  int max_read_request_bytes = 0;
  bool relaxed_ordering = false;
  std::string aspm;  // off, L0s, L1, L0s+L1
  bool has_error_reporting = false;
  std::optional<bool> acs_redirects;  // requests or completions go up to the root; none: no ACS
};

/// Parses it; without the PCI Express capability (a file cut at 64 bytes, as users other than root
/// read it) there is nothing. ACS and AER need 4096 bytes. Any bytes may come. Pure.
[[nodiscard]] std::optional<PciConfig> parse_pci_config(std::span<const std::uint8_t> config);

}  // namespace netbench::facts
