#include "bench/facts/arp_probe.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "bench/core/unique_fd.hpp"
#include "bench/facts/addresses.hpp"

namespace netbench::facts {

namespace {

// Places in the frame: Ethernet header of 14 bytes, then RFC 826's packet for Ethernet and IPv4.
constexpr std::size_t kSource = 6;
constexpr std::size_t kEtherType = 12;
constexpr std::size_t kOperation = 20;
constexpr std::size_t kSenderMac = 22;
constexpr std::size_t kSenderIp = 28;
constexpr std::size_t kTargetIp = 38;
constexpr std::array<std::uint8_t, 8> kArpOverEthernet{0x08, 0x06, 0, 1, 0x08, 0x00, 6, 4};
constexpr std::uint8_t kRequest = 1;
constexpr std::uint8_t kReply = 2;

template <class Bytes>
void put(ArpFrame& frame, std::size_t place, const Bytes& bytes) {
  std::ranges::copy(bytes, frame.begin() + static_cast<std::ptrdiff_t>(place));
}

Result<Ipv4Bytes> four_bytes(const std::string& text) {
  const auto address = parse_ip(text);
  if (!address || address->family != AF_INET) {
    return fail("bad-address", fmt::format("\"{}\" is no IPv4 address", text));
  }
  Ipv4Bytes bytes{};
  std::ranges::copy(address->raw(), bytes.begin());
  return bytes;
}

/// A packet socket for ARP alone, on one interface.
struct ArpSocket {
  UniqueFd fd;
  MacAddress mac{};
};

Result<ArpSocket> open_socket(const std::string& interface) {
  ArpSocket socket;
  socket.fd = UniqueFd(::socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket.fd.valid()) {
    return errno == EPERM ? fail("not-permitted", "asking by ARP needs CAP_NET_RAW")
                          : fail_errno("arp", "cannot open a packet socket", errno);
  }
  ifreq request{};
  interface.copy(request.ifr_name, IFNAMSIZ - 1);
  if (::ioctl(socket.fd.get(), SIOCGIFHWADDR, &request) != 0) {
    return fail_errno("interface-unknown", "cannot look at interface " + interface, errno);
  }
  std::memcpy(socket.mac.data(), request.ifr_hwaddr.sa_data, socket.mac.size());
  sockaddr_ll address{};
  address.sll_family = AF_PACKET;
  address.sll_protocol = htons(ETH_P_ARP);
  address.sll_ifindex = static_cast<int>(::if_nametoindex(interface.c_str()));
  if (::bind(socket.fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) {
    return fail_errno("arp", "cannot listen on " + interface, errno);
  }
  return socket;
}

void gather(int fd, const Ipv4Bytes& target, const Deadline& deadline,
            std::vector<std::string>& owners) {
  pollfd waiting{fd, POLLIN, 0};
  while (!deadline.passed() && ::poll(&waiting, 1, deadline.poll_timeout_ms()) > 0) {
    std::array<std::uint8_t, 128> frame{};
    const ssize_t got = ::recv(fd, frame.data(), frame.size(), 0);
    const auto owner =
        got > 0 ? arp_owner(std::span(frame).first(static_cast<std::size_t>(got)), target)
                : std::nullopt;
    if (owner && std::ranges::find(owners, *owner) == owners.end()) {
      owners.push_back(*owner);
    }
  }
}

}  // namespace

ArpFrame arp_request(const MacAddress& own_mac, const Ipv4Bytes& own, const Ipv4Bytes& target) {
  ArpFrame frame{};
  constexpr MacAddress kEveryone{0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
  put(frame, 0, kEveryone);
  put(frame, kSource, own_mac);
  put(frame, kEtherType, kArpOverEthernet);
  frame[kOperation + 1] = kRequest;
  put(frame, kSenderMac, own_mac);
  put(frame, kSenderIp, own);
  put(frame, kTargetIp, target);
  return frame;
}

std::optional<std::string> arp_owner(std::span<const std::uint8_t> frame, const Ipv4Bytes& target) {
  const auto holds = [&](std::size_t place, const auto& bytes) {
    return std::equal(bytes.begin(), bytes.end(),
                      frame.begin() + static_cast<std::ptrdiff_t>(place));
  };
  if (frame.size() < kArpFrameBytes || !holds(kEtherType, kArpOverEthernet) ||
      frame[kOperation] != 0 || frame[kOperation + 1] != kReply || !holds(kSenderIp, target)) {
    return std::nullopt;
  }
  return hardware_text(frame.subspan(kSenderMac, MacAddress{}.size()));
}

Result<std::vector<std::string>> arp_owners(const std::string& interface,
                                            const std::string& own_address,
                                            const std::string& address, Nanoseconds limit) {
  const auto own = four_bytes(own_address);
  const auto target = four_bytes(address);
  const auto socket = open_socket(interface);
  if (!own || !target || !socket) {
    return tl::unexpected(!own ? own.error() : !target ? target.error() : socket.error());
  }
  const ArpFrame request = arp_request(socket->mac, *own, *target);
  std::vector<std::string> owners;
  constexpr int kRequests = 2;
  for (int i = 0; i < kRequests; ++i) {
    if (::send(socket->fd.get(), request.data(), request.size(), 0) < 0) {
      return fail_errno("arp", "cannot send on " + interface, errno);
    }
    gather(socket->fd.get(), *target, Deadline::after(limit / kRequests), owners);
  }
  return owners;
}

}  // namespace netbench::facts
