#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "bench/core/result.hpp"
#include "bench/facts/mtu_knob.hpp"

namespace netbench::measure {

/// The MTU of one host's test interface as a knob: journalled before it changes, restored by
/// set(0), by the destructor, or by the next start after a crash.
class InterfaceMtu {
 public:
  struct Change {
    std::int64_t before_bytes = 0;
    std::int64_t now_bytes = 0;
  };

  /// `allowed`: the operator of this host permits changes.
  InterfaceMtu(std::string interface, bool allowed);

  /// Why the MTU cannot be changed here; "" where it can.
  [[nodiscard]] std::string refusal() const;

  /// Sets the MTU, or restores everything with 0. Errors: as facts::KnobJournal::set_mtu().
  [[nodiscard]] Result<Change> set(std::int64_t mtu_bytes, bool force);

 private:
  [[nodiscard]] facts::KnobPolicy policy(bool force) const;

  std::string interface_;
  bool allowed_;
  std::optional<facts::KnobJournal> journal_;
};

}  // namespace netbench::measure
