#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bench/core/clock.hpp"
#include "bench/facts/cable_test.hpp"
#include "bench/facts/network_reader.hpp"
#include "bench/facts/rtnetlink.hpp"

namespace netbench::facts {

/// The "ethtool" family of generic netlink (Documentation/networking/ethtool-netlink.rst of Linux),
/// for what the ioctls cannot tell. [one thread at a time]
class EthtoolNetlink {
 public:
  /// Errors: `netlink`, also where the kernel has no such family.
  [[nodiscard]] static Result<EthtoolNetlink> open();

  /// Why a link is down, how good the signal is: keys relative to the interface.
  [[nodiscard]] std::vector<Fact> link_state(const std::string& interface);
  /// Memory of the module in the port. Errors: `not-permitted`, `no-module`.
  [[nodiscard]] Result<ModuleMemory> module_memory(const std::string& interface);
  /// Lets the PHY measure its cable, which takes the link down for some seconds. Errors:
  /// `not-permitted`, `no-cable-test`, `cable-test` (busy, or no result within `limit`), `netlink`.
  [[nodiscard]] Result<std::vector<CablePair>> test_cable(const std::string& interface,
                                                          Nanoseconds limit);

 private:
  struct Page {
    std::uint8_t i2c_address;
    std::uint8_t page;
    std::uint32_t offset_bytes;
    std::uint32_t length_bytes;
  };

  EthtoolNetlink(RtNetlink socket, std::uint16_t family, std::uint32_t monitor)
      : socket_(std::move(socket)), family_(family), monitor_(monitor) {}
  [[nodiscard]] NetlinkReply ask(std::uint8_t command, std::uint16_t header_type,
                                 const std::string& interface, ByteSpan more,
                                 std::uint16_t flags = 0);
  [[nodiscard]] Result<std::vector<std::uint8_t>> read_page(const std::string& interface,
                                                            const Page& page);
  void read_monitors(const std::string& interface, ModuleMemory& memory);

  RtNetlink socket_;
  std::uint16_t family_;
  std::uint32_t monitor_;  // the multicast group of notices, 0 where the kernel names none
};

/// The number of a multicast group in a reply of the generic netlink controller, 0 if it is not
/// there. Pure.
[[nodiscard]] std::uint32_t multicast_group(ByteSpan attributes, std::string_view name);

/// Facts of an ETHTOOL_MSG_LINKSTATE_GET reply's attributes. Pure.
[[nodiscard]] std::vector<Fact> link_state_facts(ByteSpan attributes);

}  // namespace netbench::facts
