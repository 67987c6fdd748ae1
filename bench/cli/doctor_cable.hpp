#pragma once

#include <string>

#include "bench/core/result.hpp"
#include "bench/model/facts.hpp"

namespace netbench::cli {

struct CableRequest {
  std::string interface;
  std::string towards;  // numeric address of a peer whose interface is left alone; "" for none
  bool force = false;   // also the interface of the default route, an SSH session or the peer
};

/// Lets the PHY of an interface measure its cable and adds if.<dev>.cable.* to the host's facts:
/// the link goes down for some seconds, which is said on standard error first. Errors:
/// `no-such-interface`, those of check_lifeline() unless forced, and of
/// NetworkReader::test_cable().
[[nodiscard]] Status test_cable(const CableRequest& request, HostInfo& host);

}  // namespace netbench::cli
