#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "transports/rdma/device.hpp"
#include "transports/rdma/result.hpp"

/// Which GID of each host: chosen from both tables at once, since an index means something else on
/// each host. Pure, and the same on both ends for the same two offers.
namespace netbench::rdma {

/// One end's table with what its user asked for.
struct GidOffer {
  PortDescription port;
  std::string interface;               // asked for; empty: any
  std::optional<std::uint32_t> index;  // asked for
  bool operator==(const GidOffer&) const = default;
};

/// A pair that was looked at and not taken.
struct RefusedPair {
  std::uint32_t first_index = 0;
  std::uint32_t second_index = 0;
  std::string reason;
};

struct GidPair {
  GidEntry first;
  GidEntry second;
  std::string reason;  // "RoCE v2, IPv4, same subnet 10.77.0.0/24"
  std::vector<RefusedPair> refused;
  /// `first` and `second` exchanged: the other end's view.
  [[nodiscard]] GidPair swapped() const;
};

/// The best pair of one type and family: RoCE v2 before v1; a common subnet before mere
/// routability; IPv4 before IPv6; then the lowest indices. Link-local GIDs, and RoCE v1 without a
/// common subnet, only where `same_link` says that both are on one L2 (a resolved neighbour, say)
/// or both ends ask for the index. On InfiniBand a common subnet prefix comes first. On iWARP it is
/// a pair of IP addresses, for rdma_cm. Errors: `rdma-no-gid-pair` with both tables in short and
/// what to do; `rdma-link-layers-differ`.
[[nodiscard]] Result<GidPair> choose_gid_pair(const GidOffer& first, const GidOffer& second,
                                              bool same_link = false);

/// "[1] 10.77.0.1 RoCE v2 eth0, [2] …" of a table, at most `limit` entries.
[[nodiscard]] std::string table_in_short(const PortDescription& port, std::size_t limit = 6);

}  // namespace netbench::rdma
