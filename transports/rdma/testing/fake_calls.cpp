#include <net/if.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "transports/rdma/testing/fake_objects.hpp"

namespace netbench::rdma::testing {
namespace {

/// For the calls that know no object.
FakeState* current = nullptr;

using Lock = std::scoped_lock<std::mutex>;

sdk::Fd event_descriptor() {
  return sdk::Fd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK | EFD_SEMAPHORE));
}

/// Takes one of what the descriptor counts.
bool take(const sdk::Fd& event) {
  std::uint64_t one = 0;
  return ::read(event.get(), &one, sizeof one) == sizeof one;
}

ibv_device** get_device_list(int* count) {
  const Lock lock(current->mutex);
  if (refused(*current, "get_device_list")) {
    return nullptr;
  }
  auto** list = new ibv_device*[current->devices.size() + 1]();
  for (std::size_t i = 0; i < current->devices.size(); ++i) {
    list[i] = &current->devices[i];
  }
  *count = static_cast<int>(current->devices.size());
  ++current->live;
  return list;
}

void free_device_list(ibv_device** list) {
  const Lock lock(current->mutex);
  --current->live;
  delete[] list;
}

const char* get_device_name(ibv_device* device) { return device->name; }

ibv_context* open_device(ibv_device* device) {
  const Lock lock(current->mutex);
  if (refused(*current, "open_device")) {
    return nullptr;
  }
  auto* context = made<FakeContext>(*current);
  context->owner = current;
  context->device = &current->specs[static_cast<std::size_t>(device - current->devices.data())];
  context->async = event_descriptor();
  context->shown.device = device;
  context->shown.async_fd = context->async.get();
  set_data_path(context->shown.ops);
  current->contexts.push_back(context);
  return &context->shown;
}

int close_device(ibv_context* context) {
  FakeState& state = owner_of(context);
  const Lock lock(state.mutex);
  std::erase(state.contexts, &fake_of<FakeContext>(context));
  return given_back<FakeContext>(state, "close_device", context);
}

int get_async_event(ibv_context* context, ibv_async_event* event) {
  FakeState& state = owner_of(context);
  const Lock lock(state.mutex);
  FakeContext& fake = fake_of<FakeContext>(context);
  if (!take(fake.async)) {
    errno = EAGAIN;
    return -1;
  }
  *event = fake.events.front();
  fake.events.pop_front();
  ++state.live;
  return 0;
}

void ack_async_event(ibv_async_event* /*event*/) {
  const Lock lock(current->mutex);
  --current->live;
}

const FakePort* port_of(ibv_context* context, unsigned int port) {
  const std::vector<FakePort>& ports = fake_of<FakeContext>(context).device->ports;
  return port >= 1 && port <= ports.size() ? &ports[port - 1] : nullptr;
}

int query_device(ibv_context* context, ibv_device_attr* attributes) {
  FakeState& state = owner_of(context);
  const Lock lock(state.mutex);
  const FakeDevice& device = *fake_of<FakeContext>(context).device;
  *attributes = device.attributes;
  attributes->phys_port_cnt = static_cast<std::uint8_t>(device.ports.size());
  return enter(state, "query_device");
}

int query_port(ibv_context* context, std::uint8_t number, _compat_ibv_port_attr* attributes) {
  FakeState& state = owner_of(context);
  const Lock lock(state.mutex);
  const FakePort* port = port_of(context, number);
  if (port == nullptr) {
    return EINVAL;
  }
  *reinterpret_cast<ibv_port_attr*>(attributes) = port->attributes;
  return enter(state, "query_port");
}

int query_gid(ibv_context* context, std::uint8_t number, int index, ibv_gid* gid) {
  const FakePort* port = port_of(context, number);
  *gid = {};
  if (port == nullptr) {
    return EINVAL;
  }
  for (const GidEntry& entry : port->gids) {
    if (entry.index == static_cast<std::uint32_t>(index)) {
      std::memcpy(gid->raw, entry.address.data(), entry.address.size());
    }
  }
  return 0;
}

int query_pkey(ibv_context* /*context*/, std::uint8_t /*port*/, int /*index*/, __be16* pkey) {
  *pkey = 0xffff;
  return 0;
}

ssize_t query_gid_table(ibv_context* context, ibv_gid_entry* entries, std::size_t capacity,
                        std::uint32_t /*flags*/, std::size_t /*entry_bytes*/) {
  FakeState& state = owner_of(context);
  const Lock lock(state.mutex);
  if (const int error = enter(state, "query_gid_table")) {
    return -error;
  }
  std::size_t count = 0;
  const std::vector<FakePort>& ports = fake_of<FakeContext>(context).device->ports;
  for (std::size_t port = 0; port < ports.size(); ++port) {
    for (const GidEntry& gid : ports[port].gids) {
      if (count == capacity) {
        return -EINVAL;
      }
      ibv_gid_entry& entry = entries[count++];
      std::memcpy(entry.gid.raw, gid.address.data(), gid.address.size());
      entry.gid_index = gid.index;
      entry.port_num = static_cast<std::uint32_t>(port + 1);
      entry.gid_type = static_cast<std::uint32_t>(gid.type);
      entry.ndev_ifindex = ::if_nametoindex(gid.interface.c_str());
    }
  }
  return static_cast<ssize_t>(count);
}

ibv_pd* alloc_pd(ibv_context* context) {
  FakeState& state = owner_of(context);
  const Lock lock(state.mutex);
  if (refused(state, "alloc_pd")) {
    return nullptr;
  }
  auto* pd = made<ibv_pd>(state);
  *pd = {.context = context, .handle = 0};
  return pd;
}

int dealloc_pd(ibv_pd* pd) {
  FakeState& state = owner_of(pd->context);
  const Lock lock(state.mutex);
  return given_back<ibv_pd>(state, "dealloc_pd", pd);
}

ibv_mr* add_region(FakeState& state, ibv_pd* pd, void* address, const RegionRecord& record) {
  auto* mr = made<FakeMr>(state);
  mr->address = record.address;
  mr->access = record.access;
  mr->shown.context = pd->context;
  mr->shown.pd = pd;
  mr->shown.addr = address;
  mr->shown.length = record.bytes;
  mr->shown.lkey = mr->shown.rkey = state.next_key++;
  state.memory[mr->shown.rkey] = mr;
  state.regions.push_back(record);
  return &mr->shown;
}

ibv_mr* register_as(const char* call, ibv_pd* pd, void* address, RegionRecord record) {
  FakeState& state = owner_of(pd->context);
  const Lock lock(state.mutex);
  return refused(state, call) ? nullptr : add_region(state, pd, address, record);
}

ibv_mr* reg_mr(ibv_pd* pd, void* address, std::size_t bytes, int access) {
  RegionRecord record;
  record.address = reinterpret_cast<std::uintptr_t>(address);
  record.bytes = bytes;
  record.access = static_cast<unsigned int>(access);
  return register_as("reg_mr", pd, address, record);
}

ibv_mr* reg_mr_iova2(ibv_pd* pd, void* address, std::size_t bytes, std::uint64_t iova,
                     unsigned int access) {
  RegionRecord record;
  record.address = iova;
  record.bytes = bytes;
  record.access = access;
  return register_as("reg_mr_iova2", pd, address, record);
}

ibv_mr* reg_dmabuf_mr(ibv_pd* pd, std::uint64_t offset, std::size_t bytes, std::uint64_t iova,
                      int fd, int access) {
  if (fd < 0) {
    errno = EBADF;
    return nullptr;
  }
  const RegionRecord record{true, iova, bytes, offset, fd, static_cast<unsigned int>(access)};
  return register_as("reg_dmabuf_mr", pd, reinterpret_cast<void*>(iova), record);
}

int dereg_mr(ibv_mr* mr) {
  FakeState& state = owner_of(mr->context);
  const Lock lock(state.mutex);
  state.memory.erase(mr->rkey);
  return given_back<FakeMr>(state, "dereg_mr", mr);
}

ibv_comp_channel* create_comp_channel(ibv_context* context) {
  FakeState& state = owner_of(context);
  const Lock lock(state.mutex);
  if (refused(state, "create_comp_channel")) {
    return nullptr;
  }
  auto* channel = made<FakeChannel>(state);
  channel->event = event_descriptor();
  channel->shown.context = context;
  channel->shown.fd = channel->event.get();
  return &channel->shown;
}

int destroy_comp_channel(ibv_comp_channel* channel) {
  FakeState& state = owner_of(channel->context);
  const Lock lock(state.mutex);
  return given_back<FakeChannel>(state, "destroy_comp_channel", channel);
}

ibv_cq* create_cq(ibv_context* context, int entries, void* cq_context, ibv_comp_channel* channel,
                  int /*vector*/) {
  FakeState& state = owner_of(context);
  const Lock lock(state.mutex);
  if (refused(state, "create_cq")) {
    return nullptr;
  }
  auto* cq = made<FakeCq>(state);
  cq->shown.context = context;
  cq->shown.channel = channel;
  cq->shown.cq_context = cq_context;
  cq->shown.cqe = entries;
  return &cq->shown;
}

/// The original would wait for ever for events that are not acknowledged.
int destroy_cq(ibv_cq* cq) {
  FakeState& state = owner_of(cq->context);
  const Lock lock(state.mutex);
  if (fake_of<FakeCq>(cq).unacknowledged != 0) {
    return EBUSY;
  }
  return given_back<FakeCq>(state, "destroy_cq", cq);
}

int get_cq_event(ibv_comp_channel* channel, ibv_cq** cq, void** cq_context) {
  FakeState& state = owner_of(channel->context);
  const Lock lock(state.mutex);
  FakeChannel& fake = fake_of<FakeChannel>(channel);
  if (!take(fake.event)) {
    errno = EAGAIN;
    return -1;
  }
  *cq = fake.waiting.front();
  *cq_context = (*cq)->cq_context;
  fake.waiting.pop_front();
  ++fake_of<FakeCq>(*cq).unacknowledged;
  return 0;
}

void ack_cq_events(ibv_cq* cq, unsigned int count) {
  const Lock lock(owner_of(cq->context).mutex);
  fake_of<FakeCq>(cq).unacknowledged -= count;
}

}  // namespace

int enter(FakeState& state, const char* call) {
  state.calls.emplace_back(call);
  const auto at = state.refusals.find(call);
  if (at == state.refusals.end() || at->second.second <= 0) {
    return 0;
  }
  --at->second.second;
  return at->second.first;
}

bool refused(FakeState& state, const char* call) {
  errno = enter(state, call);
  return errno != 0;
}

void set_current(FakeState* state) { current = state; }

void set_object_calls(VerbsTable& table) {
  table.get_device_list = &get_device_list;
  table.free_device_list = &free_device_list;
  table.get_device_name = &get_device_name;
  table.open_device = &open_device;
  table.close_device = &close_device;
  table.get_async_event = &get_async_event;
  table.ack_async_event = &ack_async_event;
  table.query_device = &query_device;
  table.query_port = &query_port;
  table.query_gid = &query_gid;
  table.query_pkey = &query_pkey;
  table.query_gid_table = &query_gid_table;
  table.alloc_pd = &alloc_pd;
  table.dealloc_pd = &dealloc_pd;
  table.reg_mr = &reg_mr;
  table.reg_mr_iova2 = &reg_mr_iova2;
  table.reg_dmabuf_mr = &reg_dmabuf_mr;
  table.dereg_mr = &dereg_mr;
  table.create_comp_channel = &create_comp_channel;
  table.destroy_comp_channel = &destroy_comp_channel;
  table.create_cq = &create_cq;
  table.destroy_cq = &destroy_cq;
  table.get_cq_event = &get_cq_event;
  table.ack_cq_events = &ack_cq_events;
}

}  // namespace netbench::rdma::testing
