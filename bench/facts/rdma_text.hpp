#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace netbench::facts {

/// "200 Gb/sec (4X HDR)" → 200e9 and the words in brackets; "2.5 Gb/sec (1X SDR)" → 2.5e9. The
/// rate is one of data: from FDR on without the line code (InfiniBand Architecture 1.5, volume 2).
/// Pure.
struct RdmaRate {
  double bps = 0;
  std::string lanes;  // "4X HDR"; "" where the kernel says none
};
[[nodiscard]] std::optional<RdmaRate> parse_rdma_rate(std::string_view text);

/// The words behind the number of "4: ACTIVE", "5: LinkUp"; the text itself without one. Pure.
[[nodiscard]] std::string parse_rdma_state(std::string_view text);

/// "0x7fff" or "12", as the kernel writes lid, sm_lid and pkeys. Pure.
[[nodiscard]] std::optional<std::int64_t> parse_rdma_number(std::string_view text);

/// A GID of sysfs ("0000:…:ffff:c0a8:0164") as RFC 5952 writes addresses ("::ffff:192.168.1.100");
/// nothing for an entry that is not in use (all zeroes) and for what is no GID. Pure.
[[nodiscard]] std::optional<std::string> parse_gid(std::string_view text);

/// The GUID that a device makes of the address of its interface: "02:42:ac:11:00:02" becomes
/// "0042:acff:fe11:0002" (EUI-64 with the universal bit turned, RFC 4291, appendix A); "" for what
/// is no such address. Pure.
[[nodiscard]] std::string guid_of_address(std::string_view address);

/// Bytes of the line "Max locked memory" of /proc/<pid>/limits, the soft limit; INT64_MAX for
/// "unlimited". Pure.
[[nodiscard]] std::optional<std::int64_t> parse_locked_memory(std::string_view limits);

/// Whether a capability is in "CapEff:" of /proc/<pid>/status. Pure.
[[nodiscard]] std::optional<bool> parse_capability(std::string_view status, unsigned capability);

/// "Global tclass=106" of the vendor's tc/<port>/traffic_class. Pure.
[[nodiscard]] std::optional<std::int64_t> parse_traffic_class(std::string_view text);

}  // namespace netbench::facts
