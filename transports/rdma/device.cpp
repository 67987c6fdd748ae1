#include "transports/rdma/device.hpp"

#include <algorithm>
#include <cstring>

#include "transports/rdma/gid_table.hpp"
#include "transports/rdma/qp_state.hpp"

namespace netbench::rdma {
namespace {

LinkLayer link_layer_of(const ibv_context& context, std::uint8_t layer) {
  if (context.device->transport_type == IBV_TRANSPORT_IWARP) {
    return LinkLayer::iwarp;
  }
  return layer == IBV_LINK_LAYER_ETHERNET ? LinkLayer::ethernet : LinkLayer::infiniband;
}

PortState port_state_of(ibv_port_state state) {
  return state >= IBV_PORT_DOWN && state <= IBV_PORT_ACTIVE ? static_cast<PortState>(state)
                                                            : PortState::unknown;
}

Result<ibv_port_attr> query_port(const Context& context, std::uint8_t port) {
  ibv_port_attr attributes{};
  const int error = context.verbs().query_port(
      context.get(), port, reinterpret_cast<_compat_ibv_port_attr*>(&attributes));
  if (error != 0) {
    return fail_errno("rdma-no-port", "port " + std::to_string(port) + " of " + context.device(),
                      error);
  }
  return attributes;
}

Result<ibv_device_attr> query_device(const Context& context) {
  ibv_device_attr attributes{};
  const int error = context.verbs().query_device(context.get(), &attributes);
  if (error != 0) {
    return fail_errno("rdma-no-attributes", "attributes of " + context.device(), error);
  }
  return attributes;
}

}  // namespace

Result<PortDescription> describe_port(const Context& context, std::uint8_t port,
                                      const std::string& root) {
  const Result<ibv_port_attr> attributes = query_port(context, port);
  if (!attributes) {
    return Failure(attributes.error());
  }
  const Result<ibv_device_attr> device = query_device(context);
  if (!device) {
    return Failure(device.error());
  }
  PortDescription description{
      .device = context.device(),
      .port = port,
      .port_count = device->phys_port_cnt,
      .link_layer = link_layer_of(*context.get(), attributes->link_layer),
      .state = port_state_of(attributes->state),
      .active_mtu_bytes = bytes_of(attributes->active_mtu),
      .max_mtu_bytes = bytes_of(attributes->max_mtu),
      .max_message_bytes = attributes->max_msg_sz,
      .lid = attributes->lid,
      .sm_lid = attributes->sm_lid,
      .gids = {},
  };
  description.gids = description.link_layer == LinkLayer::iwarp
                         ? addresses_of_iwarp(context, description, root)
                         : read_gid_table(context, description, attributes->gid_tbl_len, root);
  return description;
}

Result<DeviceLimits> describe_limits(const Context& context) {
  return query_device(context).map([](const ibv_device_attr& device) {
    const auto clamped = [](int value) {
      return static_cast<std::uint8_t>(std::clamp(value, 0, 255));
    };
    return DeviceLimits{
        .max_queue_pairs = static_cast<std::uint32_t>(device.max_qp),
        .max_work_requests = static_cast<std::uint32_t>(device.max_qp_wr),
        .max_completions = static_cast<std::uint32_t>(device.max_cqe),
        .max_reads_out = clamped(device.max_qp_init_rd_atom),
        .max_reads_in = clamped(device.max_qp_rd_atom),
        .atomics = device.atomic_cap != IBV_ATOMIC_NONE,
        .max_region_bytes = device.max_mr_size,
        .vendor_id = device.vendor_id,
        .vendor_part_id = device.vendor_part_id,
        .firmware = std::string(device.fw_ver, ::strnlen(device.fw_ver, sizeof device.fw_ver)),
    };
  });
}

}  // namespace netbench::rdma
