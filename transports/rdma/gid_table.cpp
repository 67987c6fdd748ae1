#include "transports/rdma/gid_table.hpp"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <span>
#include <system_error>

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

std::string first_line(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);  // empty for a slot without a GID: the kernel answers EINVAL
  return line;
}

/// The interface with this MAC address; empty where none has it.
std::string interface_with_mac(std::span<const std::uint8_t> mac, const std::string& root) {
  std::string wanted;
  for (const std::uint8_t byte : mac) {
    constexpr const char* kDigits = "0123456789abcdef";
    wanted += wanted.empty() ? "" : ":";
    wanted += {kDigits[byte >> 4], kDigits[byte & 15]};
  }
  std::error_code error;
  const std::filesystem::path folder = std::filesystem::path(root) / "sys/class/net";
  for (std::filesystem::directory_iterator at(folder, error), end; !error && at != end;
       at.increment(error)) {
    if (first_line(at->path() / "address") == wanted) {
      return at->path().filename().string();
    }
  }
  return "";
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

sdk::Address socket_address(const GidEntry& gid, std::uint16_t port) {
  sdk::Address address;
  if (family_of(gid.address) == GidFamily::ipv4) {
    auto* v4 = reinterpret_cast<sockaddr_in*>(&address.storage);
    v4->sin_family = AF_INET;
    v4->sin_port = htons(port);
    std::memcpy(&v4->sin_addr, gid.address.data() + kMappedPrefix.size(), sizeof v4->sin_addr);
    address.length = sizeof *v4;
    return address;
  }
  auto* v6 = reinterpret_cast<sockaddr_in6*>(&address.storage);
  v6->sin6_family = AF_INET6;
  v6->sin6_port = htons(port);
  std::memcpy(&v6->sin6_addr, gid.address.data(), gid.address.size());
  address.length = sizeof *v6;
  return address;
}

std::vector<GidEntry> read_gid_table(const Context& context, const PortDescription& port,
                                     int length, const std::string& root) {
  std::vector<GidEntry> gids;
  if (!table_by_verbs(context, port, gids)) {
    gids = table_by_sysfs(port, length, root);
  }
  assign_prefixes(gids, interface_addresses());
  return gids;
}

std::vector<GidEntry> addresses_of_iwarp(const Context& context, const PortDescription& port,
                                         const std::string& root) {
  constexpr std::size_t kMacBytes = 6;
  ibv_gid first{};
  if (context.verbs().query_gid(context.get(), port.port, 0, &first) != 0) {
    return {};
  }
  const std::string interface = interface_with_mac(std::span(first.raw).first(kMacBytes), root);
  std::vector<GidEntry> found;
  for (const InterfaceAddress& address : interface_addresses()) {
    if (!interface.empty() && address.interface == interface) {
      found.push_back({static_cast<std::uint32_t>(found.size()), address.address, GidType::iwarp,
                       interface, address.prefix_bits});
    }
  }
  return found;
}

}  // namespace netbench::rdma
