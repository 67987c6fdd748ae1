#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "transports/rdma/objects.hpp"
#include "transports/rdma/result.hpp"
#include "transports/sdk/address.hpp"

/// A device's port as values, read once through an open context; what both ends exchange.
namespace netbench::rdma {

/// 16 bytes in network order; IPv4 as ::ffff:a.b.c.d (RFC 4291, 2.5.5.2).
using Gid = std::array<std::uint8_t, 16>;
/// iwarp: no GID, but an IP address of the port's interface, for rdma_cm.
enum class GidType : std::uint8_t { infiniband = 0, roce_v1 = 1, roce_v2 = 2, iwarp = 3 };
enum class GidFamily : std::uint8_t { ipv4, ipv6, link_local };
enum class LinkLayer : std::uint8_t { unknown = 0, infiniband = 1, ethernet = 2, iwarp = 3 };
enum class PortState : std::uint8_t { unknown = 0, down = 1, init = 2, armed = 3, active = 4 };

struct GidEntry {
  std::uint32_t index = 0;
  Gid address{};
  GidType type = GidType::infiniband;
  std::string interface {};      // "eth0"; empty where the table names none
  std::uint8_t prefix_bits = 0;  // of the interface's address (32-based for IPv4); 0: unknown
  bool operator==(const GidEntry&) const = default;
};

struct PortDescription {
  std::string device{};
  std::uint8_t port = 1;
  std::uint8_t port_count = 1;
  LinkLayer link_layer = LinkLayer::unknown;
  PortState state = PortState::unknown;
  std::uint32_t active_mtu_bytes = 0;  // path MTU, 256..4096
  std::uint32_t max_mtu_bytes = 0;
  std::uint32_t max_message_bytes = 0;
  std::uint16_t lid = 0;
  std::uint16_t sm_lid = 0;
  std::vector<GidEntry> gids{};
  bool operator==(const PortDescription&) const = default;
};

/// What the device can do, of this end alone.
struct DeviceLimits {
  std::uint32_t max_queue_pairs = 0;
  std::uint32_t max_work_requests = 0;  // of one queue
  std::uint32_t max_completions = 0;    // of one completion queue
  std::uint8_t max_reads_out = 0;  // max_qp_init_rd_atom: reads and atomics it may have under way
  std::uint8_t max_reads_in = 0;   // max_qp_rd_atom: those it answers at once
  bool atomics = false;
  std::uint64_t max_region_bytes = 0;
  std::uint32_t vendor_id = 0;
  std::uint32_t vendor_part_id = 0;
  std::string firmware{};
};

/// "mlx5_0", or "mlx4_0:2" where the device has several ports.
[[nodiscard]] std::string rail_name(const PortDescription& port);
[[nodiscard]] const char* name_of(GidType type);      // "RoCE v2"
[[nodiscard]] const char* name_of(GidFamily family);  // "IPv4"
[[nodiscard]] const char* name_of(LinkLayer layer);   // "Ethernet"
[[nodiscard]] const char* name_of(PortState state);   // "ACTIVE"
[[nodiscard]] GidFamily family_of(const Gid& gid);
/// "10.77.0.1", "fe80::1".
[[nodiscard]] std::string text_of(const Gid& gid);
[[nodiscard]] bool is_zero(const Gid& gid);
/// For rdma_cm on one of this host's own RoCE or iWARP entries, or the peer's. Link-local ones lack
/// the scope, which is this host's interface.
[[nodiscard]] sdk::Address socket_address(const GidEntry& gid, std::uint16_t port = 0);

/// Reads the port. GIDs whose entry is zero are left out; interfaces' prefixes come from
/// getifaddrs(3), types and interfaces from the verbs call or, with older libraries, from sysfs
/// below `root`.
[[nodiscard]] Result<PortDescription> describe_port(const Context& context, std::uint8_t port,
                                                    const std::string& root = "/");
[[nodiscard]] Result<DeviceLimits> describe_limits(const Context& context);

/// A port with its device still closed again: what to choose from, and to say why not.
struct Rail {
  PortDescription port{};
  DeviceLimits limits{};
  std::string problem{};  // why it could not be opened or read; then the rest is empty but the name
};
/// Every port of every device there is. A device that cannot be opened is one rail with its
/// problem.
[[nodiscard]] Result<std::vector<Rail>> list_rails(const VerbsTable& verbs,
                                                   const std::string& root = "/");

/// What the user or the route asks for. Empty: anything.
struct RailWish {
  std::string rail{};                 // "mlx5_0" or "mlx5_0:2"
  std::string interface {};           // one with a GID on it, "eth0"
  std::string preferred_interface{};  // as `interface`, but others will do
};
/// The wished rail, else the first usable one: ACTIVE, with a GID; an error (`rdma-no-port`) names
/// every rail with why it was refused. Pure.
[[nodiscard]] Result<const Rail*> choose_rail(std::span<const Rail> rails, const RailWish& wish);

}  // namespace netbench::rdma
