#include "transports/rdma/qp_state.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>

namespace netbench::rdma {
namespace {

constexpr const char* kInit = "init";
constexpr const char* kReadyToReceive = "ready-to-receive";
constexpr const char* kReadyToSend = "ready-to-send";

/// Attributes that each step needs, by QpKind (ibv_modify_qp(3)).
constexpr std::array kInitMask = {
    IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS,
    IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS,
    IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY,
};
constexpr int kConnectedMask =
    IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN;
constexpr std::array kReadyToReceiveMask = {
    kConnectedMask | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER,
    kConnectedMask,
    static_cast<int>(IBV_QP_STATE),
};
constexpr std::array kReadyToSendMask = {
    IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
        IBV_QP_MAX_QP_RD_ATOMIC,
    IBV_QP_STATE | IBV_QP_SQ_PSN,
    IBV_QP_STATE | IBV_QP_SQ_PSN,
};

template <class Masks>
int mask_of(const Masks& masks, QpKind kind) {
  return masks[static_cast<std::size_t>(kind)];
}

struct StepRefusal {
  std::string_view step;
  int sys_errno;
  const char* meaning;
  const char* remedy;
};

constexpr std::array kRefusals = {
    StepRefusal{kInit, EINVAL, "the port, the partition key or an access flag does not exist here",
                "does the device have that port, and atomics?"},
    StepRefusal{kReadyToReceive, ETIMEDOUT,
                "no neighbour answers for the peer's address, or for its gateway, on the GID's "
                "interface",
                "ping the peer's address from that interface, then see `ip neigh`"},
    StepRefusal{kReadyToReceive, ENETUNREACH,
                "no route to the peer's GID from this GID's interface",
                "see `ip route get` for the peer's address, or choose GIDs of one subnet"},
    StepRefusal{kReadyToReceive, EHOSTUNREACH,
                "the peer's GID cannot be reached from this GID's "
                "interface",
                "see `ip route get` for the peer's address, or choose GIDs of one subnet"},
    StepRefusal{kReadyToReceive, ENODEV, "the GID has no interface, or its interface is gone",
                "choose another GID index; see `rdma link` and `ip link`"},
    StepRefusal{kReadyToReceive, EINVAL,
                "the device refuses the address: GID index, path MTU or "
                "read depth",
                "choose `gid_index auto`, `path_mtu auto` and `read_depth auto`"},
    StepRefusal{kReadyToSend, EINVAL, "the device refuses the read depth or a retry value",
                "choose `read_depth auto` and the default retries"},
};

}  // namespace

ibv_ah_attr address_of(const Route& route) {
  const bool infiniband = route.link_layer == LinkLayer::infiniband;
  ibv_ah_attr address{};
  address.port_num = route.port;
  address.sl = route.service_level;
  address.dlid = infiniband ? route.destination_lid : std::uint16_t{0};
  address.is_global = !infiniband || route.global ? 1 : 0;
  if (address.is_global != 0) {
    std::memcpy(address.grh.dgid.raw, route.destination.data(), route.destination.size());
    address.grh.sgid_index = route.sgid_index;
    address.grh.traffic_class = route.traffic_class;
    address.grh.flow_label = route.flow_label;
    address.grh.hop_limit = route.hop_limit;
  }
  return address;
}

StateStep to_init(const InitStep& step) {
  StateStep made{kInit, {}, mask_of(kInitMask, step.kind)};
  made.attributes.qp_state = IBV_QPS_INIT;
  made.attributes.pkey_index = step.pkey_index;
  made.attributes.port_num = step.port;
  made.attributes.qp_access_flags = static_cast<unsigned int>(step.remote_access);
  made.attributes.qkey = step.qkey;
  return made;
}

StateStep to_ready_to_receive(const ReadyToReceiveStep& step) {
  StateStep made{kReadyToReceive, {}, mask_of(kReadyToReceiveMask, step.kind)};
  made.attributes.qp_state = IBV_QPS_RTR;
  made.attributes.ah_attr = address_of(step.route);
  made.attributes.path_mtu = mtu_of(step.path_mtu_bytes);
  made.attributes.dest_qp_num = step.peer_number;
  made.attributes.rq_psn = step.peer_psn;
  made.attributes.max_dest_rd_atomic = step.reads_in;
  made.attributes.min_rnr_timer = step.min_rnr_timer;
  return made;
}

StateStep to_ready_to_send(const ReadyToSendStep& step) {
  StateStep made{kReadyToSend, {}, mask_of(kReadyToSendMask, step.kind)};
  made.attributes.qp_state = IBV_QPS_RTS;
  made.attributes.sq_psn = step.psn;
  made.attributes.timeout = step.ack_timeout;
  made.attributes.retry_cnt = step.retries;
  made.attributes.rnr_retry = step.rnr_retries;
  made.attributes.max_rd_atomic = step.reads_out;
  return made;
}

StateStep to_error() {
  StateStep made{"error", {}, IBV_QP_STATE};
  made.attributes.qp_state = IBV_QPS_ERR;
  return made;
}

Result<void> apply(const QueuePair& qp, const StateStep& step, const std::string& about) {
  ibv_qp_attr attributes = step.attributes;
  const int error = qp.verbs().modify_qp(qp.get(), &attributes, step.mask);
  if (error == 0) {
    return {};
  }
  const auto* row = std::ranges::find_if(kRefusals, [&](const StepRefusal& refusal) {
    return refusal.step == step.name && refusal.sys_errno == error;
  });
  const std::string what =
      std::string(name_of(qp.kind())) + " queue pair to " + step.name + ", " + about;
  const std::string slug = std::string("rdma-qp-") + step.name;
  return row == kRefusals.end() ? fail_errno(slug, what, error)
                                : fail_errno(slug, what + ": " + row->meaning, error, row->remedy);
}

Result<void> connect(const QueuePair& qp, const ConnectSteps& steps, const std::string& about) {
  return apply(qp, to_ready_to_receive(steps.receive), about).and_then([&] {
    return apply(qp, to_ready_to_send(steps.send), about);
  });
}

std::uint8_t read_depth(std::uint8_t out, std::uint8_t in, std::optional<std::int64_t> wanted) {
  const std::uint8_t most = std::min(out, in);
  return wanted ? static_cast<std::uint8_t>(std::clamp<std::int64_t>(*wanted, 0, most)) : most;
}

PathMtu choose_path_mtu(const PortDescription& first, const PortDescription& second,
                        std::optional<std::int64_t> wanted_bytes) {
  const PortDescription& narrow = second.active_mtu_bytes < first.active_mtu_bytes ? second : first;
  const std::string limit =
      rail_name(narrow) + " carries " + std::to_string(narrow.active_mtu_bytes) + " B";
  if (wanted_bytes) {
    const auto bytes = static_cast<std::uint32_t>(*wanted_bytes);
    return {bytes, bytes > narrow.active_mtu_bytes ? "more than " + limit : ""};
  }
  const bool unlike = first.active_mtu_bytes != second.active_mtu_bytes;
  return {narrow.active_mtu_bytes, unlike ? "the smaller of both: " + limit : ""};
}

ibv_mtu mtu_of(std::uint32_t bytes) {
  for (const ibv_mtu mtu : {IBV_MTU_4096, IBV_MTU_2048, IBV_MTU_1024, IBV_MTU_512}) {
    if (bytes >= bytes_of(mtu)) {
      return mtu;
    }
  }
  return IBV_MTU_256;
}

std::uint32_t bytes_of(ibv_mtu mtu) {
  return mtu >= IBV_MTU_256 && mtu <= IBV_MTU_4096 ? 128U << static_cast<unsigned int>(mtu) : 0;
}

}  // namespace netbench::rdma
