#include "transports/verbs/endpoint.hpp"

#include <ifaddrs.h>
#include <sched.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <random>

#include "transports/rdma/message.hpp"
#include "transports/rdma/preflight.hpp"
#include "transports/rdma/wire.hpp"

namespace netbench::verbs {
namespace {

constexpr std::uint32_t kAutomaticInline = 256;
constexpr std::uint8_t kExtraVersion = 1;
constexpr std::size_t kTokenBytes = NB_TOKEN_BYTES;
constexpr std::uint32_t kPsnMask = 0xffffff;

bool same_host_address(const sockaddr* first, const sdk::Address& second) {
  if (first == nullptr || first->sa_family != second.family()) {
    return false;
  }
  if (second.family() == AF_INET) {
    return reinterpret_cast<const sockaddr_in*>(first)->sin_addr.s_addr ==
           reinterpret_cast<const sockaddr_in*>(second.get())->sin_addr.s_addr;
  }
  return std::memcmp(&reinterpret_cast<const sockaddr_in6*>(first)->sin6_addr,
                     &reinterpret_cast<const sockaddr_in6*>(second.get())->sin6_addr,
                     sizeof(in6_addr)) == 0;
}

/// Name of the interface that has the address; empty where none has.
std::string interface_of(const sdk::Address& address) {
  ifaddrs* list = nullptr;
  if (address.length == 0 || ::getifaddrs(&list) != 0) {
    return "";
  }
  const std::unique_ptr<ifaddrs, void (*)(ifaddrs*)> owned(list, &::freeifaddrs);
  for (const ifaddrs* entry = list; entry != nullptr; entry = entry->ifa_next) {
    if (same_host_address(entry->ifa_addr, address)) {
      return entry->ifa_name;
    }
  }
  return "";
}

bool is_on(const rdma::PortDescription& port, const std::string& interface) {
  return std::ranges::any_of(port.gids,
                             [&](const auto& gid) { return gid.interface == interface; });
}

std::string reason_of(const Options& options, const rdma::PortDescription& port,
                      const std::string& interface) {
  if (options.device) {
    return "asked for";
  }
  return !interface.empty() && is_on(port, interface)
             ? "on " + interface + ", as the control channel"
             : "the first active one; none is on the control channel's interface";
}

std::size_t usable_cpus() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  return sched_getaffinity(0, sizeof allowed, &allowed) == 0
             ? static_cast<std::size_t>(CPU_COUNT(&allowed))
             : 1;
}

}  // namespace

std::size_t thread_count(const Options& options) {
  const std::size_t wanted = options.threads ? static_cast<std::size_t>(*options.threads)
                                             : std::max<std::size_t>(usable_cpus(), 1);
  return std::min(wanted, options.lanes());
}

std::vector<std::uint8_t> encode_extra(const Extra& extra) {
  rdma::Writer writer;
  writer.u8(kExtraVersion);
  writer.u32(extra.in_slots);
  writer.u32(extra.out_slots);
  writer.raw(extra.token);
  return writer.take();
}

Extra decode_extra(const rdma::EndAddress& address) {
  rdma::Reader reader(address.extra);
  const bool known = reader.u8() == kExtraVersion;
  Extra extra;
  extra.in_slots = reader.u32();
  extra.out_slots = reader.u32();
  constexpr std::size_t kHeadBytes = 9;
  if (address.extra.size() == kHeadBytes + kTokenBytes) {
    extra.token.resize(kTokenBytes);
    reader.raw(extra.token);
  }
  if (!known || !reader.complete()) {
    throw sdk::Error(NB_FAILED, "rdma-bad-address", "the peer's address is not one of verbs",
                     "run the same release on both ends");
  }
  return extra;
}

void Endpoint::open(const rdma::VerbsTable& verbs) {
  const auto rails = rdma::take(rdma::list_rails(verbs));
  const std::string interface = interface_of(options_.local);
  rdma::RailWish wish;
  wish.rail = options_.device.value_or("");
  wish.preferred_interface = interface;
  const rdma::Rail* rail = rdma::take(rdma::choose_rail(rails, wish));
  rail_reason_ = reason_of(options_, rail->port, interface);
  adopt(rdma::take(rdma::Context::open(verbs, rail->port.device)), rail->port);
}

void Endpoint::adopt(rdma::Context context, rdma::PortDescription port) {
  context_.emplace(std::move(context));
  port_ = std::move(port);
  limits_ = rdma::take(rdma::describe_limits(*context_));
  if (options_.atomic() && !limits_.atomics) {
    throw sdk::invalid("op", port_.device + " has no atomic operations", "use another op");
  }
  pd_.emplace(rdma::take(rdma::ProtectionDomain::allocate(*context_)));
}

int Endpoint::access() const {
  int flags = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;
  flags |= options_.atomic() ? IBV_ACCESS_REMOTE_ATOMIC : 0;
  return flags | (options_.relaxed_ordering ? IBV_ACCESS_RELAXED_ORDERING : 0);
}

void Endpoint::prepare_memory() {
  depths_ = plan_depths(options_, {.work_requests = limits_.max_work_requests});
  layout_ = plan_layout(options_, depths_);
  const std::size_t bytes = layout_.lane_bytes() * options_.lanes();
  rdma::take(rdma::require(rdma::preflight({.bytes_to_pin = bytes, .port = &port_})));
  memory_.emplace(rdma::take(rdma::HostMemory::allocate(
      {.bytes = bytes, .huge_pages = options_.huge_pages, .numa_node = options_.numa})));
  fill_slots();
  region_.emplace(rdma::take(memory_->register_with(*pd_, access())));
}

std::byte* Endpoint::lane_memory(std::size_t lane) const {
  return static_cast<std::byte*>(memory_->address()) + layout_.lane_bytes() * lane;
}

/// Every message has the same body; reads find the number of their slot at its end.
void Endpoint::fill_slots() {
  if (options_.atomic()) {
    return;
  }
  std::vector<std::byte> message(layout_.message_bytes);
  rdma::fill_pattern(body_of(message.data(), message.size()), options_.seed);
  for (std::size_t lane = 0; lane < options_.lanes(); ++lane) {
    for (std::uint32_t slot = 0; slot < layout_.out_slots; ++slot) {
      std::byte* target = lane_memory(lane) + layout_.out_message(slot);
      rdma::stamp(message.data(), message.size(), slot + 1);
      std::memcpy(target, message.data(), message.size());
    }
  }
}

std::size_t Endpoint::group_of(std::size_t lane) const { return lane % groups_.size(); }

void Endpoint::make_groups() {
  groups_.resize(thread_count(options_));
  const std::size_t per_group = (options_.lanes() + groups_.size() - 1) / groups_.size();
  // After an error every request completes, those without a signal too.
  const std::size_t entries =
      per_group * (std::size_t{depths_.depth} + Layout::kRecords + depths_.receives);
  const auto wanted = static_cast<int>(std::min<std::size_t>(entries, limits_.max_completions));
  for (Group& group : groups_) {
    if (options_.wait != Wait::poll) {
      group.channel.emplace(rdma::take(rdma::CompletionChannel::create(*context_)));
    }
    rdma::CompletionChannel* channel = group.channel ? &*group.channel : nullptr;
    group.queue.emplace(rdma::take(rdma::CompletionQueue::create(*context_, wanted, channel)));
  }
}

std::uint32_t Endpoint::wanted_inline() const {
  if (options_.op == Op::read || options_.atomic()) {
    return 0;
  }
  if (options_.inline_bytes) {
    return static_cast<std::uint32_t>(*options_.inline_bytes);
  }
  const bool small = options_.message_bytes <= std::int64_t{kAutomaticInline};
  const std::uint32_t record = options_.op == Op::write ? 8 : 0;
  return small ? std::max(static_cast<std::uint32_t>(options_.message_bytes), record) : record;
}

rdma::QueuePair::Spec Endpoint::spec_of(std::size_t lane) {
  Group& group = groups_[group_of(lane)];
  rdma::QueuePair::Spec spec;
  spec.kind = options_.kind();
  spec.send_cq = group.queue->get();
  spec.receive_cq = group.queue->get();
  spec.send_depth =
      depths_.depth + (options_.op == Op::write ? static_cast<std::uint32_t>(Layout::kRecords) : 0);
  spec.receive_depth = std::max<std::uint32_t>(depths_.receives, 1);
  spec.inline_bytes = wanted_inline();
  return spec;
}

LanePlan Endpoint::plan_of(std::size_t lane) const {
  const Group& group = groups_[group_of(lane)];
  LanePlan plan;
  plan.lane = static_cast<std::uint32_t>(lane / groups_.size());
  plan.qp = group.queue_pairs[plan.lane].get();
  plan.memory = lane_memory(lane);
  plan.lkey = region_->lkey();
  plan.layout = layout_;
  plan.depths = depths_;
  plan.seed = options_.seed;
  plan.inline_bytes = inline_bytes_;
  plan.compare_every = options_.is_stream() ? rdma::sampling_distance(layout_.message_bytes)
                                            : UINT64_MAX;  // there: between batches
  return plan;
}

void Endpoint::add_lane(std::size_t lane, rdma::QueuePair qp) {
  Group& group = groups_[group_of(lane)];
  const std::uint32_t granted = qp.granted().max_inline_data;
  inline_bytes_ = std::min(granted, wanted_inline());
  group.queue_pairs.push_back(std::move(qp));
  psns_.push_back(std::random_device()() & kPsnMask);
  group.rings.emplace_back();
  if (depths_.receives > 0) {
    const Op carrier = options_.op == Op::write ? Op::write_imm : options_.op;
    auto ring = std::make_unique<ReceiveRing>(plan_of(lane), carrier);
    if (const int error = ring->post_all(); error != 0) {
      throw sdk::system_error("verbs-post-refused", "posting receives on " + port_.device, error);
    }
    group.rings.back().receive = std::move(ring);
  }
}

void Endpoint::prepare() {
  prepare_with([this](const rdma::ProtectionDomain& pd, rdma::QueuePair::Spec spec) {
    rdma::QueuePair qp = rdma::take(rdma::create_with_inline(pd, spec, spec.inline_bytes));
    rdma::InitStep init;
    init.kind = options_.kind();
    init.port = port_.port;
    init.remote_access = options_.qp == Qp::ud ? 0 : access() & ~int{IBV_ACCESS_RELAXED_ORDERING};
    rdma::take(rdma::apply(qp, rdma::to_init(init), "on " + port_.device));
    return qp;
  });
}

rdma::GidOffer Endpoint::offer() const {
  rdma::GidOffer offer;
  offer.port = port_;
  offer.index = options_.gid_index;
  return offer;
}

rdma::EndAddress Endpoint::address() const {
  rdma::EndAddress address;
  address.offer = offer();
  address.max_reads_out = limits_.max_reads_out;
  address.max_reads_in = limits_.max_reads_in;
  for (std::size_t lane = 0; lane < options_.lanes() && !groups_.empty(); ++lane) {
    const Group& group = groups_[group_of(lane)];
    address.queue_pairs.push_back({group.queue_pairs[lane / groups_.size()].number(), psns_[lane]});
  }
  if (region_) {
    address.buffers = {
        {reinterpret_cast<std::uintptr_t>(memory_->address()), memory_->bytes(), region_->rkey()}};
  }
  return address;
}

}  // namespace netbench::verbs
