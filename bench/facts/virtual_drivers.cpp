#include "bench/facts/virtual_drivers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace netbench::facts {

namespace {

struct VirtualDriver {
  std::string_view driver;
  std::string_view why;
};

// What each driver's get_link_ksettings returns: drivers/net/{veth,tun,virtio_net,…}.c of Linux.
constexpr std::array kVirtual{
    VirtualDriver{"lo", "the loopback device has no wire"},
    VirtualDriver{"veth", "a veth pair has no wire; its driver always says 10000 Mb/s"},
    VirtualDriver{"virtio_net",
                  "the hypervisor decides what a virtio NIC can do and reports no wire"},
    VirtualDriver{"tun", "a tun/tap device has no wire; its driver always says 10000 Mb/s"},
    VirtualDriver{"bridge", "a bridge repeats the speed of its fastest port"},
    VirtualDriver{"dummy", "a dummy device has no wire"},
    VirtualDriver{"ifb", "an ifb device has no wire"},
    VirtualDriver{"netkit", "a netkit pair has no wire"},
    VirtualDriver{"vxlan", "a VXLAN device has no wire of its own"},
    VirtualDriver{"geneve", "a Geneve device has no wire of its own"},
    VirtualDriver{"wireguard", "a WireGuard device has no wire of its own"},
    VirtualDriver{"openvswitch", "an Open vSwitch port has no wire of its own"},
    VirtualDriver{"vmxnet3", "vmxnet3 always says 10000 Mb/s"},
    VirtualDriver{"vif", "a Xen virtual NIC has no wire of its own"},
    VirtualDriver{"xen_netfront", "a Xen virtual NIC has no wire of its own"},
    VirtualDriver{"hv_netvsc", "the speed is the host's port, shared with other machines"},
    VirtualDriver{"ena", "the cloud's limit depends on the instance type, not on a wire"},
    VirtualDriver{"gve", "the cloud's limit depends on the machine type, not on a wire"},
};

constexpr std::array<std::string_view, 9> kEmulated{
    "e1000", "e1000e", "8139cp", "8139too", "ne2k-pci", "pcnet32", "r8169", "igb", "tulip"};

constexpr std::array<std::string_view, 9> kWithoutStatistics{
    "lo", "tun", "bridge", "dummy", "ifb", "netkit", "veth", "vxlan", "wireguard"};

}  // namespace

std::string why_speed_is_fiction(std::string_view driver, bool in_vm) {
  const auto found = std::ranges::find(kVirtual, driver, &VirtualDriver::driver);
  if (found != kVirtual.end()) {
    return std::string(found->why);
  }
  if (in_vm && std::ranges::find(kEmulated, driver) != kEmulated.end()) {
    return fmt::format("{} in a virtual machine is emulated and has no wire", driver);
  }
  return {};
}

bool has_nic_statistics(std::string_view driver) {
  return !driver.empty() &&
         std::ranges::find(kWithoutStatistics, driver) == kWithoutStatistics.end();
}

}  // namespace netbench::facts
