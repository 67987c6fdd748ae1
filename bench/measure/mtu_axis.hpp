#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "bench/core/result.hpp"
#include "bench/plan/plan.hpp"

namespace netbench::measure {

/// How a level of the MTU axis is brought about.
enum class MtuWay {
  as_is,       // the interfaces already have it
  interface,   // set on both ends, restored afterwards
  emulated,    // by a smaller MSS; the interfaces stay as they are
  not_varied,  // cannot be had here; `reason` says why
};

struct MtuLevel {
  MtuWay way = MtuWay::as_is;
  std::string reason;
};

/// What decides how MTU levels can be had.
struct MtuSituation {
  std::int64_t local_mtu_bytes = 0;  // 0: unknown
  std::int64_t remote_mtu_bytes = 0;
  std::string local_refusal;  // why this end cannot change its MTU; "" where it can
  std::string remote_refusal;
};

/// The way of one level. Emulation works downwards only.
[[nodiscard]] MtuLevel mtu_level(std::int64_t mtu_bytes, const MtuSituation& situation);

/// The MTU axis of a sweep: changes both interfaces as the visits ask for it, and restores them
/// when it is destroyed.
class MtuAxis {
 public:
  using Setter = std::function<Status(std::int64_t mtu_bytes)>;  // 0 restores

  /// `verify` is asked after each change whether packets of that size pass.
  MtuAxis(MtuSituation situation, Setter set_local, Setter set_remote, Setter verify);
  ~MtuAxis();
  MtuAxis(const MtuAxis&) = delete;
  MtuAxis& operator=(const MtuAxis&) = delete;

  [[nodiscard]] MtuLevel level(std::int64_t mtu_bytes) const;

  /// Makes the interfaces ready for visits at that MTU (0: as they were). Lowering starts at the
  /// initiator, raising at the responder. An error is repeated for every visit at that level; the
  /// interfaces are restored by then. Cheap where the level does not change.
  [[nodiscard]] Status apply(std::int64_t mtu_bytes);

  /// Restores both ends; errors of the restoring are returned once.
  [[nodiscard]] Status restore();

 private:
  [[nodiscard]] Status change(std::int64_t mtu_bytes);

  MtuSituation situation_;
  Setter set_local_;
  Setter set_remote_;
  Setter verify_;
  std::int64_t current_bytes_ = 0;
  std::map<std::int64_t, Error> failed_;
};

}  // namespace netbench::measure
