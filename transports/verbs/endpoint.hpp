#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "transports/rdma/device.hpp"
#include "transports/rdma/end_address.hpp"
#include "transports/rdma/gid_pair.hpp"
#include "transports/rdma/memory.hpp"
#include "transports/rdma/objects.hpp"
#include "transports/rdma/qp_state.hpp"
#include "transports/verbs/depths.hpp"
#include "transports/verbs/options.hpp"
#include "transports/verbs/rings.hpp"
#include "transports/verbs/stream_loop.hpp"

namespace netbench::verbs {

/// The queue pairs of one thread, with their one completion queue. Declared in the order in which
/// things are made of each other.
struct Group {
  std::optional<rdma::CompletionChannel> channel;
  std::optional<rdma::CompletionQueue> queue;
  std::vector<rdma::QueuePair> queue_pairs;
  std::vector<rdma::AddressHandle> addresses;  // UD
  std::vector<LaneRings> rings;
};

/// What both ends agreed on.
struct Agreement {
  rdma::GidPair gids;  // first: this end
  rdma::PathMtu path_mtu;
  std::uint8_t reads_out = 0;
  std::uint8_t reads_in = 0;
};

/// The plug-in's own part of an address: slots of a lane, and the responder's token.
struct Extra {
  std::uint32_t in_slots = 0;
  std::uint32_t out_slots = 0;
  std::vector<std::uint8_t> token;
};
[[nodiscard]] std::vector<std::uint8_t> encode_extra(const Extra& extra);
/// Throws where it is not one of this release.
[[nodiscard]] Extra decode_extra(const rdma::EndAddress& address);

/// One end's device, memory and queue pairs. [control-thread]; everything throws sdk::Error.
class Endpoint {
 public:
  explicit Endpoint(const Options& options) : options_(options) {}
  Endpoint(const Endpoint&) = delete;
  Endpoint& operator=(const Endpoint&) = delete;

  /// Opens the rail that the options and the control channel's address lead to.
  void open(const rdma::VerbsTable& verbs);
  /// As open(), of a device that is open: librdmacm's.
  void adopt(rdma::Context context, rdma::PortDescription port);
  /// Memory, completion queues, queue pairs in their init state with receives posted.
  void prepare();
  /// As prepare(), of queue pairs that `make` makes one by one.
  template <class Make>
  void prepare_with(Make make) {
    prepare_memory();
    make_groups();
    for (std::size_t lane = 0; lane < options_.lanes(); ++lane) {
      add_lane(lane, make(pd(), spec_of(lane)));
    }
  }

  /// What the peer must know; `extra` is the caller's.
  [[nodiscard]] rdma::EndAddress address() const;
  /// Chooses GIDs, path MTU and depths by both ends' addresses.
  void agree(const rdma::EndAddress& peer);
  /// Takes the queue pairs to ready-to-send.
  void connect(const rdma::EndAddress& peer);
  /// Makes the send queues' requests, all of this operation.
  void make_rings(const rdma::EndAddress& peer, Op carrier);

  [[nodiscard]] const Options& options() const { return options_; }
  [[nodiscard]] const rdma::Context& context() const { return *context_; }
  [[nodiscard]] const rdma::ProtectionDomain& pd() const { return *pd_; }
  [[nodiscard]] const rdma::PortDescription& port() const { return port_; }
  [[nodiscard]] const rdma::DeviceLimits& limits() const { return limits_; }
  [[nodiscard]] const std::string& rail_reason() const { return rail_reason_; }
  [[nodiscard]] const Agreement& agreement() const { return agreement_; }
  [[nodiscard]] const Depths& depths() const { return depths_; }
  [[nodiscard]] const Layout& layout() const { return layout_; }
  [[nodiscard]] std::uint32_t inline_bytes() const { return inline_bytes_; }
  [[nodiscard]] std::string memory_text() const { return memory_->description(); }
  [[nodiscard]] std::int64_t registration_ns() const { return region_->cost().count(); }
  [[nodiscard]] std::vector<Group>& groups() { return groups_; }
  [[nodiscard]] const std::vector<Group>& groups() const { return groups_; }
  [[nodiscard]] std::byte* lane_memory(std::size_t lane) const;
  /// "to 10.77.0.2 by GID 1 on rxe0".
  [[nodiscard]] std::string about() const;
  /// Whether the end of a write tells that the whole is there (all queue pairs are alike).
  [[nodiscard]] bool writes_in_order() const;

 private:
  void prepare_memory();
  void fill_slots();
  void make_groups();
  void add_lane(std::size_t lane, rdma::QueuePair qp);
  [[nodiscard]] rdma::QueuePair::Spec spec_of(std::size_t lane);
  [[nodiscard]] std::uint32_t wanted_inline() const;
  [[nodiscard]] int access() const;
  [[nodiscard]] std::size_t group_of(std::size_t lane) const;
  [[nodiscard]] LanePlan plan_of(std::size_t lane) const;
  [[nodiscard]] rdma::Route route_to(const rdma::EndAddress& peer) const;
  void plan_by_peer(const Extra& extra);
  void connect_lane(std::size_t lane, const rdma::EndAddress& peer);
  [[nodiscard]] rdma::GidOffer offer() const;

  const Options& options_;
  rdma::PortDescription port_;
  rdma::DeviceLimits limits_;
  std::string rail_reason_;
  Agreement agreement_;
  Depths depths_;
  Layout layout_;
  std::uint32_t inline_bytes_ = 0;
  std::vector<std::uint32_t> psns_;

  std::optional<rdma::Context> context_;
  std::optional<rdma::ProtectionDomain> pd_;
  std::optional<rdma::HostMemory> memory_;
  std::optional<rdma::MemoryRegion> region_;
  std::vector<Group> groups_;
};

/// Threads that the queue pairs are divided among.
[[nodiscard]] std::size_t thread_count(const Options& options);

}  // namespace netbench::verbs
