#include "transports/verbs/depths.hpp"

#include <algorithm>

namespace netbench::verbs {
namespace {

constexpr std::size_t kLineBytes = 64;
constexpr std::int64_t kDefaultDepth = 128;
constexpr std::int64_t kDefaultReceives = 512;
constexpr std::int64_t kChainedBytes = 4096;
constexpr std::int64_t kDefaultChain = 16;
/// Completions at least this far apart cost little beside the payload.
constexpr std::int64_t kBytesPerCompletion = 64 << 10;
/// Records of progress and the last completions of an interval.
constexpr std::int64_t kSpareRequests = 2 * static_cast<std::int64_t>(Layout::kRecords);

constexpr std::uint32_t kPingDepth = 64;
constexpr std::uint32_t kPingInterval = 16;
constexpr std::uint32_t kPingReceives = 4;

std::size_t stride_of(const Options& options) {
  const std::size_t header = options.qp == Qp::ud ? kGrhBytes : 0;
  const std::size_t whole = static_cast<std::size_t>(options.message_bytes) + header;
  return (whole + kLineBytes - 1) / kLineBytes * kLineBytes;
}

std::int64_t slots_in_working_set(const Options& options) {
  const auto share = static_cast<std::int64_t>(kWorkingSetBytes / options.lanes());
  return std::max<std::int64_t>(share / static_cast<std::int64_t>(stride_of(options)), 2);
}

/// The least of what was wanted and what limits it, and a word on the limit.
std::int64_t limited(std::int64_t wanted, std::int64_t limit, const char* why, std::string& note) {
  if (wanted > limit) {
    note = why;
  }
  return std::min(wanted, limit);
}

constexpr const char* kBecauseOfMemory = "messages under way are kept to 8 MiB";
constexpr const char* kBecauseOfDevice = "the most the device or the peer has room for";

void plan_sends(const Options& options, const DepthLimits& limits, Depths& depths) {
  const std::int64_t device =
      std::max<std::int64_t>(std::int64_t{limits.work_requests} - kSpareRequests, 1);
  std::int64_t depth = options.tx_depth.value_or(kDefaultDepth);
  depth = limited(depth, slots_in_working_set(options), kBecauseOfMemory, depths.depth_note);
  depth = limited(depth, device, kBecauseOfDevice, depths.depth_note);
  if (limits.peer_slots > 0) {
    depth = limited(depth, limits.peer_slots, kBecauseOfDevice, depths.depth_note);
  }
  const std::int64_t half = std::max<std::int64_t>(depth / 2, 1);  // two intervals under way
  const std::int64_t chain = std::min(
      half, options.post_list.value_or(options.message_bytes <= kChainedBytes ? kDefaultChain : 1));
  const std::int64_t sparse = std::clamp<std::int64_t>(kBytesPerCompletion / options.message_bytes,
                                                       1, std::max<std::int64_t>(depth / 4, 1));
  const std::int64_t moderation = std::min(half, options.cq_moderation.value_or(sparse));
  const std::int64_t interval = std::max(moderation / chain * chain, chain);
  depths.chain = static_cast<std::uint32_t>(chain);
  depths.interval = static_cast<std::uint32_t>(interval);
  depths.depth = static_cast<std::uint32_t>(depth / interval * interval);
}

void plan_receives(const Options& options, const DepthLimits& limits, Depths& depths) {
  const bool buffers = options.op == Op::send;
  std::int64_t count = options.rx_depth.value_or(kDefaultReceives);
  if (buffers) {
    count = limited(count, slots_in_working_set(options), kBecauseOfMemory, depths.receives_note);
  }
  count = limited(count, limits.work_requests, kBecauseOfDevice, depths.receives_note);
  const std::int64_t chunk = std::max<std::int64_t>(count / 4, 1);
  depths.receive_chunk = static_cast<std::uint32_t>(chunk);
  depths.receives = static_cast<std::uint32_t>(count / chunk * chunk);
}

}  // namespace

Depths plan_depths(const Options& options, const DepthLimits& limits) {
  Depths depths;
  if (!options.is_stream()) {
    const bool one_sided = options.op == Op::read || options.atomic();
    depths.depth = one_sided ? 1 : kPingDepth;
    depths.interval = one_sided ? 1 : kPingInterval;
    depths.receives = one_sided ? 0 : kPingReceives;
    return depths;
  }
  plan_sends(options, limits, depths);
  if (options.two_sided() && options.is_target()) {
    plan_receives(options, limits, depths);
  }
  return depths;
}

Layout plan_layout(const Options& options, const Depths& depths) {
  Layout layout;
  layout.message_bytes = static_cast<std::size_t>(options.message_bytes);
  layout.header_bytes = options.qp == Qp::ud ? kGrhBytes : 0;
  layout.stride = stride_of(options);
  const std::uint32_t ring = options.is_stream() ? depths.depth : 1;
  if (options.op == Op::read) {
    layout.in_slots = options.posts() ? ring : 0;
    layout.out_slots = options.is_target() ? ring : 0;
  } else {
    layout.out_slots = options.posts() ? ring : 0;
    layout.in_slots = !options.is_target() || options.atomic() ? 0
                      : options.op == Op::send                 ? depths.receives
                                                               : ring;
  }
  return layout;
}

}  // namespace netbench::verbs
