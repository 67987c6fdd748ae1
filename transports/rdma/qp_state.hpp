#pragma once

#include <infiniband/verbs.h>

#include <cstdint>
#include <optional>
#include <string>

#include "transports/rdma/device.hpp"
#include "transports/rdma/objects.hpp"
#include "transports/rdma/result.hpp"

/// Queue pairs from reset to ready-to-send, one step at a time. Each step is a value made by a pure
/// function; apply() makes it happen. Attributes required and allowed: ibv_modify_qp(3).
namespace netbench::rdma {

/// The key that datagrams of a test carry: any, but bit 31 would be a privileged one.
inline constexpr std::uint32_t kDatagramKey = 0x11111111;

/// This end's port and what peers may do.
struct InitStep {
  QpKind kind = QpKind::rc;
  std::uint8_t port = 1;
  std::uint16_t pkey_index = 0;
  int remote_access = 0;  // ibv_access_flags; RC and UC
  std::uint32_t qkey = kDatagramKey;
};

/// How packets get to the peer.
struct Route {
  LinkLayer link_layer = LinkLayer::ethernet;
  std::uint8_t port = 1;
  std::uint8_t sgid_index = 0;
  Gid destination{};
  std::uint16_t destination_lid = 0;  // used on InfiniBand alone
  bool global = false;                // a GRH on InfiniBand too: other subnet
  std::uint8_t service_level = 0;
  std::uint8_t traffic_class = 0;
  std::uint32_t flow_label = 0;
  std::uint8_t hop_limit = 64;
};

/// The link layer decides whether there is a GRH, never the LID.
[[nodiscard]] ibv_ah_attr address_of(const Route& route);

struct ReadyToReceiveStep {
  QpKind kind = QpKind::rc;
  Route route{};
  std::uint32_t path_mtu_bytes = 1024;
  std::uint32_t peer_number = 0;
  std::uint32_t peer_psn = 0;       // 24 bits
  std::uint8_t reads_in = 1;        // max_dest_rd_atomic
  std::uint8_t min_rnr_timer = 12;  // 0.64 ms (ibv_modify_qp(3))
};

struct ReadyToSendStep {
  QpKind kind = QpKind::rc;
  std::uint32_t psn = 0;          // 24 bits
  std::uint8_t reads_out = 1;     // max_rd_atomic
  std::uint8_t ack_timeout = 14;  // 4.096 us × 2^14 = 67 ms
  std::uint8_t retries = 7;
  std::uint8_t rnr_retries = 7;  // 7: without end
};

struct StateStep {
  const char* name = "";  // "init", "ready-to-receive", "ready-to-send", "error"
  ibv_qp_attr attributes{};
  int mask = 0;
};

[[nodiscard]] StateStep to_init(const InitStep& step);
[[nodiscard]] StateStep to_ready_to_receive(const ReadyToReceiveStep& step);
[[nodiscard]] StateStep to_ready_to_send(const ReadyToSendStep& step);
/// Work requests that wait complete as flushed.
[[nodiscard]] StateStep to_error();

/// Errors: `rdma-qp-<step>` with what the errno means at that step (no neighbour, no route, …), the
/// peer of `about` ("to 10.77.0.2 by GID 1 on rxe0"), and a remedy.
[[nodiscard]] Result<void> apply(const QueuePair& qp, const StateStep& step,
                                 const std::string& about);

/// The whole way of one queue pair: init before receives are posted, then connect.
struct ConnectSteps {
  ReadyToReceiveStep receive{};
  ReadyToSendStep send{};
};
[[nodiscard]] Result<void> connect(const QueuePair& qp, const ConnectSteps& steps,
                                   const std::string& about);

/// Reads and atomics that may be under way from an initiator with `out` to a responder that answers
/// `in`: the smaller, and no more than asked for. 0 where one end can none.
[[nodiscard]] std::uint8_t read_depth(std::uint8_t out, std::uint8_t in,
                                      std::optional<std::int64_t> wanted);

/// The path MTU of both ends: what was asked for, else the smaller of the two active ones.
struct PathMtu {
  std::uint32_t bytes = 0;
  std::string note;  // where it is more than a port carries, or less than both could
};
[[nodiscard]] PathMtu choose_path_mtu(const PortDescription& first, const PortDescription& second,
                                      std::optional<std::int64_t> wanted_bytes);
/// 256, 512, 1024, 2048, 4096 ↔ ibv_mtu; other sizes: the next smaller.
[[nodiscard]] ibv_mtu mtu_of(std::uint32_t bytes);
[[nodiscard]] std::uint32_t bytes_of(ibv_mtu mtu);

}  // namespace netbench::rdma
