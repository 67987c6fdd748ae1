#include "transports/rdma/device.hpp"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>

#include "transports/rdma/preflight.hpp"
#include "transports/rdma/qp_state.hpp"

namespace netbench::rdma {
namespace {

constexpr std::array<std::uint8_t, 12> kMappedPrefix = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

struct InterfaceAddress {
  std::string interface;
  Gid address{};
  std::uint8_t prefix_bits = 0;
};

std::uint8_t bits_of(std::span<const std::uint8_t> mask) {
  int bits = 0;
  for (const std::uint8_t byte : mask) {
    bits += std::popcount(byte);
  }
  return static_cast<std::uint8_t>(bits);
}

template <class Socket, class Member>
std::span<const std::uint8_t> address_bytes(const sockaddr* address, Member Socket::*member) {
  const auto* socket = reinterpret_cast<const Socket*>(address);
  return {reinterpret_cast<const std::uint8_t*>(&(socket->*member)), sizeof(Member)};
}

InterfaceAddress interface_address(const ifaddrs& entry) {
  InterfaceAddress found{.interface = entry.ifa_name};
  if (entry.ifa_addr->sa_family == AF_INET) {
    std::ranges::copy(kMappedPrefix, found.address.begin());
    std::ranges::copy(address_bytes(entry.ifa_addr, &sockaddr_in::sin_addr),
                      found.address.begin() + kMappedPrefix.size());
    found.prefix_bits = bits_of(address_bytes(entry.ifa_netmask, &sockaddr_in::sin_addr));
  } else {
    std::ranges::copy(address_bytes(entry.ifa_addr, &sockaddr_in6::sin6_addr),
                      found.address.begin());
    found.prefix_bits = bits_of(address_bytes(entry.ifa_netmask, &sockaddr_in6::sin6_addr));
  }
  return found;
}

std::vector<InterfaceAddress> interface_addresses() {
  std::vector<InterfaceAddress> found;
  ifaddrs* head = nullptr;
  if (::getifaddrs(&head) != 0) {
    return found;  // prefixes stay unknown
  }
  const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> owner(head, &::freeifaddrs);
  for (const ifaddrs* entry = head; entry != nullptr; entry = entry->ifa_next) {
    if (entry->ifa_addr != nullptr && entry->ifa_netmask != nullptr &&
        (entry->ifa_addr->sa_family == AF_INET || entry->ifa_addr->sa_family == AF_INET6)) {
      found.push_back(interface_address(*entry));
    }
  }
  return found;
}

void assign_prefixes(std::vector<GidEntry>& gids, std::span<const InterfaceAddress> addresses) {
  for (GidEntry& gid : gids) {
    const auto at = std::ranges::find_if(addresses, [&gid](const InterfaceAddress& candidate) {
      return candidate.address == gid.address && candidate.interface == gid.interface;
    });
    gid.prefix_bits = at != addresses.end() ? at->prefix_bits : std::uint8_t{0};
  }
}

Gid gid_of(const ibv_gid& gid) {
  Gid bytes{};
  std::memcpy(bytes.data(), gid.raw, bytes.size());
  return bytes;
}

GidType gid_type(std::uint32_t type) {
  return type == IBV_GID_TYPE_ROCE_V2   ? GidType::roce_v2
         : type == IBV_GID_TYPE_ROCE_V1 ? GidType::roce_v1
                                        : GidType::infiniband;
}

std::string interface_name(std::uint32_t index) {
  std::array<char, IF_NAMESIZE> name{};
  return index != 0 && ::if_indextoname(index, name.data()) != nullptr ? name.data() : "";
}

/// The whole table of a device by one call; false where the library has none.
bool table_by_verbs(const Context& context, const PortDescription& port,
                    std::vector<GidEntry>& gids) {
  constexpr std::size_t kCapacity = 1024;
  if (context.verbs().query_gid_table == nullptr) {
    return false;
  }
  std::vector<ibv_gid_entry> entries(kCapacity);
  const ssize_t count = context.verbs().query_gid_table(context.get(), entries.data(),
                                                        entries.size(), 0, sizeof(ibv_gid_entry));
  if (count < 0) {
    return false;
  }
  entries.resize(static_cast<std::size_t>(count));
  for (const ibv_gid_entry& entry : entries) {
    if (entry.port_num == port.port && !is_zero(gid_of(entry.gid))) {
      gids.push_back({.index = entry.gid_index,
                      .address = gid_of(entry.gid),
                      .type = gid_type(entry.gid_type),
                      .interface = interface_name(entry.ndev_ifindex)});
    }
  }
  return true;
}

std::string first_line(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);  // empty for a slot without a GID: the kernel answers EINVAL
  return line;
}

/// sysfs calls both "IB/RoCE v1"; the link layer tells them apart.
GidType type_in_sysfs(const std::string& text, LinkLayer layer) {
  return text == "RoCE v2"                ? GidType::roce_v2
         : layer == LinkLayer::infiniband ? GidType::infiniband
                                          : GidType::roce_v1;
}

std::vector<GidEntry> table_by_sysfs(const PortDescription& port, int length,
                                     const std::string& root) {
  const std::filesystem::path folder = std::filesystem::path(root) / "sys/class/infiniband" /
                                       port.device / "ports" / std::to_string(port.port);
  std::vector<GidEntry> gids;
  for (int i = 0; i < length; ++i) {
    const std::string number = std::to_string(i);
    GidEntry gid;
    gid.index = static_cast<std::uint32_t>(i);
    const std::string text = first_line(folder / "gids" / number);
    if (::inet_pton(AF_INET6, text.c_str(), gid.address.data()) == 1 && !is_zero(gid.address)) {
      gid.type = type_in_sysfs(first_line(folder / "gid_attrs/types" / number), port.link_layer);
      gid.interface = first_line(folder / "gid_attrs/ndevs" / number);
      gids.push_back(std::move(gid));
    }
  }
  return gids;
}

LinkLayer link_layer_of(const ibv_context& context, std::uint8_t layer) {
  if (context.device->transport_type == IBV_TRANSPORT_IWARP) {
    return LinkLayer::iwarp;
  }
  return layer == IBV_LINK_LAYER_ETHERNET ? LinkLayer::ethernet : LinkLayer::infiniband;
}

PortState port_state_of(ibv_port_state state) {
  return state >= IBV_PORT_DOWN && state <= IBV_PORT_ACTIVE ? static_cast<PortState>(state)
                                                            : PortState::unknown;
}

Result<ibv_port_attr> query_port(const Context& context, std::uint8_t port) {
  ibv_port_attr attributes{};
  const int error = context.verbs().query_port(
      context.get(), port, reinterpret_cast<_compat_ibv_port_attr*>(&attributes));
  if (error != 0) {
    return fail_errno("rdma-no-port", "port " + std::to_string(port) + " of " + context.device(),
                      error);
  }
  return attributes;
}

Result<ibv_device_attr> query_device(const Context& context) {
  ibv_device_attr attributes{};
  const int error = context.verbs().query_device(context.get(), &attributes);
  if (error != 0) {
    return fail_errno("rdma-no-attributes", "attributes of " + context.device(), error);
  }
  return attributes;
}

}  // namespace

bool is_zero(const Gid& gid) { return gid == Gid{}; }

GidFamily family_of(const Gid& gid) {
  if (std::equal(kMappedPrefix.begin(), kMappedPrefix.end(), gid.begin())) {
    return GidFamily::ipv4;
  }
  return gid[0] == 0xfe && (gid[1] & 0xc0) == 0x80 ? GidFamily::link_local : GidFamily::ipv6;
}

std::string text_of(const Gid& gid) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  const bool v4 = family_of(gid) == GidFamily::ipv4;
  ::inet_ntop(v4 ? AF_INET : AF_INET6, gid.data() + (v4 ? kMappedPrefix.size() : 0), text.data(),
              text.size());
  return text.data();
}

Result<PortDescription> describe_port(const Context& context, std::uint8_t port,
                                      const std::string& root) {
  const Result<ibv_port_attr> attributes = query_port(context, port);
  if (!attributes) {
    return Failure(attributes.error());
  }
  const Result<ibv_device_attr> device = query_device(context);
  if (!device) {
    return Failure(device.error());
  }
  PortDescription description{
      .device = context.device(),
      .port = port,
      .port_count = device->phys_port_cnt,
      .link_layer = link_layer_of(*context.get(), attributes->link_layer),
      .state = port_state_of(attributes->state),
      .active_mtu_bytes = bytes_of(attributes->active_mtu),
      .max_mtu_bytes = bytes_of(attributes->max_mtu),
      .max_message_bytes = attributes->max_msg_sz,
      .lid = attributes->lid,
      .sm_lid = attributes->sm_lid,
      .gids = {},
  };
  if (!table_by_verbs(context, description, description.gids)) {
    description.gids = table_by_sysfs(description, attributes->gid_tbl_len, root);
  }
  assign_prefixes(description.gids, interface_addresses());
  return description;
}

Result<DeviceLimits> describe_limits(const Context& context) {
  return query_device(context).map([](const ibv_device_attr& device) {
    const auto clamped = [](int value) {
      return static_cast<std::uint8_t>(std::clamp(value, 0, 255));
    };
    return DeviceLimits{
        .max_queue_pairs = static_cast<std::uint32_t>(device.max_qp),
        .max_work_requests = static_cast<std::uint32_t>(device.max_qp_wr),
        .max_completions = static_cast<std::uint32_t>(device.max_cqe),
        .max_reads_out = clamped(device.max_qp_init_rd_atom),
        .max_reads_in = clamped(device.max_qp_rd_atom),
        .atomics = device.atomic_cap != IBV_ATOMIC_NONE,
        .max_region_bytes = device.max_mr_size,
        .vendor_id = device.vendor_id,
        .vendor_part_id = device.vendor_part_id,
        .firmware = std::string(device.fw_ver, ::strnlen(device.fw_ver, sizeof device.fw_ver)),
    };
  });
}

}  // namespace netbench::rdma
