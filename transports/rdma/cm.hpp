#pragma once

#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "transports/rdma/objects.hpp"
#include "transports/rdma/result.hpp"
#include "transports/rdma/verbs_table.hpp"
#include "transports/sdk/address.hpp"

/// Connections made by rdma_cm: needed for iWARP, wanted elsewhere for its own sake. Everything
/// waits with a deadline and ends within 100 ms of `cancelled`; but on siw rdma_connect(3) blocks
/// by itself while the kernel opens the TCP connection. [control-thread]
namespace netbench::rdma {

struct CmPatience {
  std::chrono::steady_clock::time_point until;
  const std::atomic<bool>& cancelled;
};

/// One event, copied and acknowledged, so that no id waits for it.
struct CmEvent {
  rdma_cm_event_type type = RDMA_CM_EVENT_ADDR_RESOLVED;
  int status = 0;
  rdma_cm_id* id = nullptr;                  // of a connect request: new, and the taker's
  std::vector<std::uint8_t> private_data{};  // with the transport's padding behind it
  std::uint8_t responder_resources = 0;
  std::uint8_t initiator_depth = 0;
  ibv_ah_attr peer_address{};  // UD: of an established event
  std::uint32_t peer_number = 0;
  std::uint32_t peer_qkey = 0;
};

/// Where events of ids arrive; outlives them.
class CmChannel {
 public:
  [[nodiscard]] static Result<CmChannel> create(const CmTable& cm);
  CmChannel(CmChannel&& other) noexcept;
  CmChannel& operator=(CmChannel&& other) noexcept;
  ~CmChannel();

  [[nodiscard]] const CmTable& cm() const { return *cm_; }
  [[nodiscard]] rdma_event_channel* get() const { return channel_; }
  [[nodiscard]] int fd() const { return channel_->fd; }
  /// The next event; NB_TIMED_OUT (`rdma-cm-timeout`) at the deadline, NB_CANCELLED.
  [[nodiscard]] Result<CmEvent> next(const CmPatience& patience);
  /// An event that waits already, a kept one first; nothing where none does. Never blocks.
  [[nodiscard]] std::optional<CmEvent> poll();
  /// The next event of `id` (null: the next connect request); those of others are kept.
  [[nodiscard]] Result<CmEvent> next_of(const rdma_cm_id* id, const CmPatience& patience);

 private:
  CmChannel(const CmTable& cm, rdma_event_channel* channel) : cm_(&cm), channel_(channel) {}
  [[nodiscard]] std::optional<CmEvent> read();
  void reset() noexcept;
  const CmTable* cm_;
  rdma_event_channel* channel_;
  std::deque<CmEvent> kept_;
};

/// A communication id, with the queue pair that it owns once create_qp() made one.
class CmId {
 public:
  /// RC or UD: rdma_cm has no UC (NB_INVALID `rdma-cm-no-uc`).
  [[nodiscard]] static Result<CmId> create(CmChannel& channel, QpKind kind);
  /// The id of a connect request.
  [[nodiscard]] static CmId adopt(const CmTable& cm, rdma_cm_id* id, QpKind kind);
  CmId(CmId&& other) noexcept;
  CmId& operator=(CmId&& other) noexcept;
  ~CmId();

  [[nodiscard]] rdma_cm_id* get() const { return id_; }
  [[nodiscard]] QpKind kind() const { return kind_; }
  /// Of the device that the id is bound to; borrowed, null before it is bound.
  [[nodiscard]] ibv_context* context() const { return id_->verbs; }
  [[nodiscard]] std::uint8_t port() const { return id_->port_num; }
  /// Makes the queue pair: of RC in init, of UD ready to send. Spec::kind is the id's. The queue
  /// pair that is returned borrows the id's.
  [[nodiscard]] Result<QueuePair> create_qp(const ProtectionDomain& pd,
                                            const QueuePair::Spec& spec);
  [[nodiscard]] const CmTable& cm() const { return *cm_; }
  /// Ends the connection in order; errors mean that it has ended.
  void disconnect() noexcept;

 private:
  CmId(const CmTable& cm, rdma_cm_id* id, QpKind kind) : cm_(&cm), id_(id), kind_(kind) {}
  void reset() noexcept;
  const CmTable* cm_ = nullptr;
  rdma_cm_id* id_ = nullptr;
  QpKind kind_ = QpKind::rc;
  bool has_qp_ = false;
};

/// What both ends give to a connection.
struct CmParameters {
  std::uint8_t responder_resources = 1;  // reads this end answers at once
  std::uint8_t initiator_depth = 1;      // reads this end has under way
  std::uint8_t retries = 7;
  std::uint8_t rnr_retries = 7;
  std::uint8_t traffic_class = 0;                // 0: the system's default
  std::uint8_t ack_timeout = 0;                  // 0: the system's choice
  std::span<const std::uint8_t> private_data{};  // ≤ 56 bytes
};

/// Before resolve(), or accept().
struct CmOptions {
  std::optional<std::uint8_t> traffic_class{};  // nothing: the system's choice
  std::optional<std::uint8_t> ack_timeout{};    // as ReadyToSendStep's; not of UD
};
[[nodiscard]] Result<void> set_options(CmId& id, const CmOptions& options);

/// Responder: listens on a port of the system's choice.
struct CmListener {
  std::vector<CmId> ids;   // one, or one of each address family
  std::uint16_t port = 0;  // for the blob
};
[[nodiscard]] Result<CmListener> listen(CmChannel& channel, QpKind kind,
                                        const sdk::Address& address, int backlog);
/// As listen(), on every address of this host, of IPv4 and IPv6 where it has both: for a responder
/// that does not know yet which of them the initiator will choose. Each family has an id of its
/// own: iWARP drivers refuse IPv4 on an IPv6 one (seen with siw).
[[nodiscard]] Result<CmListener> listen_anywhere(CmChannel& channel, QpKind kind, int backlog);
/// Responder: the next connect request (event.id is new). Then create a queue pair on it, post
/// receives, and accept().
[[nodiscard]] Result<CmEvent> next_request(CmChannel& channel, const CmPatience& patience);
/// Replies; on RC it then waits for the id's established event. UD: done when sent; the initiator's
/// queue pair is not in the request, so that its number must be in the private data.
[[nodiscard]] Result<void> accept(CmChannel& channel, CmId& id, const QueuePair& qp,
                                  const CmParameters& parameters, const CmPatience& patience);

/// Initiator: binds the id to the device that has `local` (may be empty) and leads to `peer`.
/// Errors name the step: address, route.
[[nodiscard]] Result<void> resolve(CmChannel& channel, CmId& id, const sdk::Address& local,
                                   const sdk::Address& peer, const CmPatience& patience);
/// Initiator: connects. With iWARP it must be the first to send (RFC 5044, 7.1). The event has the
/// peer's private data and, with UD, its address.
[[nodiscard]] Result<CmEvent> connect(CmChannel& channel, CmId& id, const QueuePair& qp,
                                      const CmParameters& parameters, const CmPatience& patience);

}  // namespace netbench::rdma
