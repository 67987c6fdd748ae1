#include "bench/measure/mtu_axis.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace netbench::measure {

MtuLevel mtu_level(std::int64_t mtu_bytes, const MtuSituation& situation) {
  const std::int64_t local = situation.local_mtu_bytes;
  const std::int64_t remote = situation.remote_mtu_bytes;
  if (mtu_bytes == 0 || (mtu_bytes == local && mtu_bytes == remote)) {
    return {MtuWay::as_is, {}};
  }
  if (situation.local_refusal.empty() && situation.remote_refusal.empty()) {
    return {MtuWay::interface, {}};
  }
  const std::string refusal = situation.local_refusal.empty()
                                  ? fmt::format("the responder: {}", situation.remote_refusal)
                                  : fmt::format("the initiator: {}", situation.local_refusal);
  const bool known = local > 0 && remote > 0;
  if (known && mtu_bytes <= std::min(local, remote)) {
    return {MtuWay::emulated, fmt::format("by the MSS, the interfaces keep {} and {} bytes ({})",
                                          local, remote, refusal)};
  }
  return {MtuWay::not_varied,
          fmt::format("an MTU of {} bytes needs the interfaces changed ({})", mtu_bytes, refusal)};
}

MtuAxis::MtuAxis(MtuSituation situation, Setter set_local, Setter set_remote, Setter verify)
    : situation_(std::move(situation)),
      set_local_(std::move(set_local)),
      set_remote_(std::move(set_remote)),
      verify_(std::move(verify)) {}

MtuAxis::~MtuAxis() { [[maybe_unused]] const Status restored = restore(); }

MtuLevel MtuAxis::level(std::int64_t mtu_bytes) const { return mtu_level(mtu_bytes, situation_); }

Status MtuAxis::apply(std::int64_t mtu_bytes) {
  const MtuWay way = level(mtu_bytes).way;
  if (way != MtuWay::interface) {
    return restore();
  }
  if (mtu_bytes == current_bytes_) {
    return {};
  }
  if (const auto known = failed_.find(mtu_bytes); known != failed_.end()) {
    return tl::unexpected(known->second);
  }
  Status done = change(mtu_bytes);
  if (!done) {
    failed_.emplace(mtu_bytes, done.error());
    [[maybe_unused]] const Status restored = restore();
  }
  return done;
}

Status MtuAxis::change(std::int64_t mtu_bytes) {
  const std::int64_t now = current_bytes_ != 0 ? current_bytes_ : situation_.local_mtu_bytes;
  const bool lowering = mtu_bytes < now;
  current_bytes_ = mtu_bytes;
  const Setter& first = lowering ? set_local_ : set_remote_;
  const Setter& second = lowering ? set_remote_ : set_local_;
  for (const Setter* step : {&first, &second, &std::as_const(verify_)}) {
    if (Status done = (*step)(mtu_bytes); !done) {
      return done;
    }
  }
  return {};
}

Status MtuAxis::restore() {
  if (current_bytes_ == 0) {
    return {};
  }
  current_bytes_ = 0;
  const Status remote = set_remote_(0);
  const Status local = set_local_(0);
  return local ? remote : local;
}

}  // namespace netbench::measure
