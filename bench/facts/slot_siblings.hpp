#pragma once

#include <string>
#include <vector>

namespace netbench::facts {

/// A device that shares a bridge's uplink with another card.
struct Sibling {
  std::string address;  // "0000:42:00.0"
  std::string kind;     // network, storage, display, accelerator
  double gigatransfers = 0;
  double lanes = 0;
};

/// Network cards, drives, GPUs and accelerators below a bridge (its folder in /sys/devices),
/// without the functions of the card at `own` ("0000:41:00.0"); one function of each device. Those
/// whose link is not told are left out.
[[nodiscard]] std::vector<Sibling> siblings_below(const std::string& root,
                                                  const std::string& bridge_folder,
                                                  const std::string& own);

}  // namespace netbench::facts
