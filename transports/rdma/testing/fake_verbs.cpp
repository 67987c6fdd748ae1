#include "transports/rdma/testing/fake_verbs.hpp"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <utility>

#include "transports/rdma/testing/fake_objects.hpp"

namespace netbench::rdma::testing {

FakePort::FakePort() {
  attributes.state = IBV_PORT_ACTIVE;
  attributes.max_mtu = IBV_MTU_4096;
  attributes.active_mtu = IBV_MTU_1024;
  attributes.gid_tbl_len = 16;
  attributes.max_msg_sz = 1U << 30;
  attributes.link_layer = IBV_LINK_LAYER_ETHERNET;
}

FakeDevice::FakeDevice() {
  attributes.max_qp = 1024;
  attributes.max_qp_wr = 16384;
  attributes.max_cqe = 65536;
  attributes.max_mr_size = UINT64_MAX;
  attributes.max_qp_rd_atom = 16;
  attributes.max_qp_init_rd_atom = 16;
  attributes.atomic_cap = IBV_ATOMIC_HCA;
  std::strcpy(attributes.fw_ver, "1.2.3");
  FakePort port;
  GidEntry gid;
  gid.index = 1;
  gid.address = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, 77, 0, 1};
  gid.type = GidType::roce_v2;
  port.gids.push_back(gid);
  ports.push_back(port);
}

FakeVerbs::FakeVerbs() : FakeVerbs(std::vector<FakeDevice>(1)) {}

FakeVerbs::FakeVerbs(std::vector<FakeDevice> devices) : state_(std::make_unique<FakeState>()) {
  state_->specs = std::move(devices);
  state_->devices.resize(state_->specs.size());
  for (std::size_t i = 0; i < state_->specs.size(); ++i) {
    const FakeDevice& spec = state_->specs[i];
    ibv_device& device = state_->devices[i];
    spec.name.copy(device.name, sizeof device.name - 1);
    device.node_type = spec.iwarp ? IBV_NODE_RNIC : IBV_NODE_CA;
    device.transport_type = spec.iwarp ? IBV_TRANSPORT_IWARP : IBV_TRANSPORT_IB;
  }
  set_current(state_.get());
}

FakeVerbs::~FakeVerbs() { set_current(nullptr); }

VerbsTable FakeVerbs::table() const {
  VerbsTable table;
  set_object_calls(table);
  set_queue_pair_calls(table);
  return table;
}

void FakeVerbs::refuse(const std::string& call, int sys_errno, int times) {
  const std::scoped_lock lock(state_->mutex);
  state_->refusals[call] = {sys_errno, times};
}

void FakeVerbs::refuse_state(ibv_qp_state state, int sys_errno) {
  const std::scoped_lock lock(state_->mutex);
  state_->state_refusals[state] = sys_errno;
}

void FakeVerbs::fail_request(ibv_wc_status status, std::uint32_t vendor_error, std::uint64_t skip) {
  const std::scoped_lock lock(state_->mutex);
  state_->failures.push_back({skip, status, vendor_error, 0});
}

void FakeVerbs::corrupt_request(std::size_t offset, std::uint64_t skip) {
  const std::scoped_lock lock(state_->mutex);
  state_->corruptions.push_back({skip, IBV_WC_SUCCESS, 0, offset});
}

void FakeVerbs::raise(const std::string& device, ibv_event_type type, std::uint8_t port) {
  const std::scoped_lock lock(state_->mutex);
  for (FakeContext* context : state_->contexts) {
    if (device == context->shown.device->name) {
      ibv_async_event event{};
      event.event_type = type;
      event.element.port_num = port;
      context->events.push_back(event);
      ring(context->async);
    }
  }
}

std::vector<std::string> FakeVerbs::calls() const {
  const std::scoped_lock lock(state_->mutex);
  return state_->calls;
}

std::vector<StateRecord> FakeVerbs::states() const {
  const std::scoped_lock lock(state_->mutex);
  return state_->states;
}

std::vector<RegionRecord> FakeVerbs::regions() const {
  const std::scoped_lock lock(state_->mutex);
  return state_->regions;
}

DataPathCounts FakeVerbs::counts() const {
  const std::scoped_lock lock(state_->mutex);
  return state_->counts;
}

std::size_t FakeVerbs::live() const {
  const std::scoped_lock lock(state_->mutex);
  return state_->live;
}

}  // namespace netbench::rdma::testing
