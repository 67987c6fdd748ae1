#include <algorithm>
#include <memory>
#include <optional>
#include <string>

#include "transports/verbs/endpoint.hpp"

namespace netbench::verbs {

namespace {

/// Packets that the interface does not carry never complete, and some devices try for ever.
void require_path_mtu(const std::optional<std::int64_t>& wanted, const rdma::PortDescription& mine,
                      const rdma::PortDescription& theirs) {
  const bool smaller_here = mine.active_mtu_bytes <= theirs.active_mtu_bytes;
  const rdma::PortDescription& least = smaller_here ? mine : theirs;
  if (wanted && least.active_mtu_bytes > 0 && *wanted > least.active_mtu_bytes) {
    throw sdk::invalid(
        "path_mtu",
        std::to_string(*wanted) + " B is more than the active path MTU of " +
            (smaller_here ? "" : "the peer's ") + rdma::rail_name(least) + ", " +
            std::to_string(least.active_mtu_bytes) + " B",
        "raise the MTU of its interface, or ask for " + std::to_string(least.active_mtu_bytes));
  }
}

}  // namespace

void Endpoint::agree(const rdma::EndAddress& peer) {
  const bool initiator = options_.role == NB_INITIATOR;
  const rdma::GidOffer mine = offer();
  const auto& first = initiator ? mine : peer.offer;
  const auto& second = initiator ? peer.offer : mine;
  // The same on both ends: the initiator's table is always the first.
  const rdma::GidPair pair = rdma::take(rdma::choose_gid_pair(first, second));
  agreement_.gids = initiator ? pair : pair.swapped();
  require_path_mtu(options_.path_mtu, port_, peer.offer.port);
  agreement_.path_mtu = rdma::choose_path_mtu(port_, peer.offer.port, options_.path_mtu);
  agreement_.reads_out =
      rdma::read_depth(limits_.max_reads_out, peer.max_reads_in, options_.read_depth);
  agreement_.reads_in =
      rdma::read_depth(peer.max_reads_out, limits_.max_reads_in, options_.read_depth);
  if (options_.qp == Qp::ud && options_.message_bytes > agreement_.path_mtu.bytes) {
    throw sdk::invalid("qp",
                       "a datagram of qp ud holds at most the path MTU, " +
                           std::to_string(agreement_.path_mtu.bytes) + " B on this path",
                       "use smaller messages, or raise the MTU of both interfaces");
  }
  if (options_.posts() && (options_.op == Op::read || options_.atomic()) &&
      agreement_.reads_out == 0) {
    throw sdk::invalid("op", "the devices carry no reads or atomics between them",
                       "use op write or send");
  }
}

std::string Endpoint::about() const {
  return "to " + rdma::text_of(agreement_.gids.second.address) + " by GID " +
         std::to_string(agreement_.gids.first.index) + " on " + port_.device;
}

rdma::Route Endpoint::route_to(const rdma::EndAddress& peer) const {
  rdma::Route route;
  route.link_layer = port_.link_layer;
  route.port = port_.port;
  route.sgid_index = static_cast<std::uint8_t>(agreement_.gids.first.index);
  route.destination = agreement_.gids.second.address;
  route.destination_lid = peer.offer.port.lid;
  route.global =
      !std::equal(agreement_.gids.first.address.begin(), agreement_.gids.first.address.begin() + 8,
                  agreement_.gids.second.address.begin());
  route.service_level = options_.service_level;
  route.traffic_class = options_.traffic_class;
  route.flow_label = options_.flow_label;
  return route;
}

void Endpoint::connect_lane(std::size_t lane, const rdma::EndAddress& peer) {
  Group& group = groups_[group_of(lane)];
  const rdma::QpAddress& remote = peer.queue_pairs[lane];
  rdma::ConnectSteps steps;
  steps.receive.kind = options_.kind();
  steps.receive.route = route_to(peer);
  steps.receive.path_mtu_bytes = agreement_.path_mtu.bytes;
  steps.receive.peer_number = remote.number;
  steps.receive.peer_psn = remote.psn;
  steps.receive.reads_in = agreement_.reads_in;
  steps.send.kind = options_.kind();
  steps.send.psn = psns_[lane];
  steps.send.reads_out = agreement_.reads_out;
  steps.send.ack_timeout = options_.ack_timeout;
  steps.send.retries = options_.retries;
  steps.send.rnr_retries = options_.rnr_retries;
  rdma::take(rdma::connect(group.queue_pairs[lane / groups_.size()], steps, about()));
  if (options_.qp == Qp::ud) {
    group.addresses.push_back(
        rdma::take(rdma::AddressHandle::create(*pd_, rdma::address_of(steps.receive.route))));
  }
}

void Endpoint::connect(const rdma::EndAddress& peer) {
  if (peer.queue_pairs.size() != options_.lanes()) {
    throw sdk::Error(NB_FAILED, "rdma-bad-address",
                     "the peer has " + std::to_string(peer.queue_pairs.size()) +
                         " queue pairs, this end " + std::to_string(options_.lanes()),
                     "run the same release on both ends");
  }
  for (std::size_t lane = 0; lane < options_.lanes(); ++lane) {
    connect_lane(lane, peer);
  }
}

void Endpoint::plan_by_peer(const Extra& extra) {
  if (!options_.is_stream() || options_.op == Op::send || options_.atomic()) {
    return;
  }
  const Depths before = depths_;
  const std::uint32_t slots = options_.op == Op::read ? extra.out_slots : extra.in_slots;
  depths_ = plan_depths(options_, {limits_.max_work_requests, std::max(slots, 1U)});
  depths_.receives = before.receives;
  depths_.receive_chunk = before.receive_chunk;
  if (depths_.depth_note.empty()) {
    depths_.depth_note = before.depth_note;
  }
}

void Endpoint::make_rings(const rdma::EndAddress& peer, Op carrier) {
  if (!options_.posts()) {
    return;
  }
  const Extra extra = decode_extra(peer);
  Layout remote = layout_;
  remote.in_slots = extra.in_slots;
  remote.out_slots = extra.out_slots;
  if (peer.buffers.size() != 1 || peer.buffers[0].bytes < remote.lane_bytes() * options_.lanes()) {
    throw sdk::Error(NB_FAILED, "rdma-bad-address", "the peer's memory is too small",
                     "run the same release on both ends");
  }
  plan_by_peer(extra);
  for (std::size_t lane = 0; lane < options_.lanes(); ++lane) {
    Group& group = groups_[group_of(lane)];
    const std::size_t index = lane / groups_.size();
    LanePlan plan = plan_of(lane);
    plan.remote_layout = remote;
    plan.remote_address = peer.buffers[0].address + remote.lane_bytes() * lane;
    plan.remote_key = peer.buffers[0].rkey;
    plan.address = group.addresses.empty() ? nullptr : group.addresses[index].get();
    plan.remote_qp = peer.queue_pairs.empty() ? 0 : peer.queue_pairs[lane].number;
    plan.remote_qkey = rdma::kDatagramKey;
    group.rings[index].send = std::make_unique<SendRing>(plan, carrier);
  }
}

bool Endpoint::writes_in_order() const {
  return !options_.relaxed_ordering && rdma::writes_in_order(groups_[0].queue_pairs[0]);
}

}  // namespace netbench::verbs
