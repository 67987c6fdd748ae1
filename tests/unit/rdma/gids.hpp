#pragma once

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>

#include "transports/rdma/device.hpp"

namespace netbench::rdma {

/// "10.77.0.1" or "fd77::1".
[[nodiscard]] inline Gid gid_at(const std::string& text) {
  Gid gid{};
  if (text.find(':') != std::string::npos) {
    inet_pton(AF_INET6, text.c_str(), gid.data());
    return gid;
  }
  gid[10] = gid[11] = 0xff;
  inet_pton(AF_INET, text.c_str(), gid.data() + 12);
  return gid;
}

[[nodiscard]] inline GidEntry entry(std::uint32_t index, const std::string& address,
                                    std::uint8_t prefix_bits = 0, GidType type = GidType::roce_v2,
                                    const std::string& interface = "eth0") {
  return {index, gid_at(address), type, interface, prefix_bits};
}

[[nodiscard]] inline PortDescription port_of(const std::string& device,
                                             std::vector<GidEntry> gids) {
  PortDescription port;
  port.device = device;
  port.link_layer = LinkLayer::ethernet;
  port.state = PortState::active;
  port.active_mtu_bytes = 1024;
  port.max_mtu_bytes = 4096;
  port.gids = std::move(gids);
  return port;
}

}  // namespace netbench::rdma
