#include "bench/facts/lldp_socket.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>

#include "bench/core/unique_fd.hpp"
#include "bench/facts/lldp.hpp"

namespace netbench::facts {

namespace {

constexpr std::uint16_t kEtherType = 0x88CC;
constexpr std::size_t kLargestFrame = 9216;
// Nearest bridge, nearest non-TPMR bridge, nearest customer bridge (IEEE 802.1AB, table 7-1).
constexpr std::array<std::uint8_t, 3> kGroups{0x0E, 0x03, 0x00};

Result<UniqueFd> open_socket(const std::string& name) {
  UniqueFd socket(::socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket.valid()) {
    return errno == EPERM ? fail("not-permitted", "listening for LLDP needs CAP_NET_RAW")
                          : fail_errno("netlink", "cannot open a packet socket", errno);
  }
  sockaddr_ll address{};
  address.sll_family = AF_PACKET;
  address.sll_protocol = htons(kEtherType);
  address.sll_ifindex = static_cast<int>(::if_nametoindex(name.c_str()));
  for (const auto group : kGroups) {
    packet_mreq join{};
    join.mr_ifindex = address.sll_ifindex;
    join.mr_type = PACKET_MR_MULTICAST;
    join.mr_alen = 6;
    const std::array<std::uint8_t, 6> mac{0x01, 0x80, 0xC2, 0x00, 0x00, group};
    std::copy(mac.begin(), mac.end(), join.mr_address);
    ::setsockopt(socket.get(), SOL_PACKET, PACKET_ADD_MEMBERSHIP, &join, sizeof(join));
  }
  if (::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) {
    return fail_errno("netlink", fmt::format("cannot listen on {}", name), errno);
  }
  return socket;
}

// A frame of a neighbour, not our own agent's on its way out.
std::vector<std::uint8_t> receive(int socket) {
  std::vector<std::uint8_t> frame(kLargestFrame);
  sockaddr_ll from{};
  socklen_t length = sizeof(from);
  const ssize_t got = ::recvfrom(socket, frame.data(), frame.size(), 0,
                                 reinterpret_cast<sockaddr*>(&from), &length);
  frame.resize(got < 0 || from.sll_pkttype == PACKET_OUTGOING ? 0 : static_cast<std::size_t>(got));
  return parse_lldp(frame) ? frame : std::vector<std::uint8_t>{};
}

}  // namespace

Result<std::vector<LldpFrame>> listen_for_lldp(const std::vector<std::string>& names,
                                               Nanoseconds limit) {
  std::vector<UniqueFd> sockets;
  std::vector<pollfd> waiting;
  for (const auto& name : names) {
    auto socket = open_socket(name);
    if (!socket) {
      return tl::unexpected(socket.error());
    }
    waiting.push_back({socket->get(), POLLIN, 0});
    sockets.push_back(std::move(*socket));
  }
  const Deadline deadline = Deadline::after(limit);
  std::vector<LldpFrame> frames;
  while (frames.size() < names.size() && !deadline.passed()) {
    if (::poll(waiting.data(), waiting.size(), deadline.poll_timeout_ms()) < 0 && errno != EINTR) {
      return fail_errno("netlink", "cannot wait for LLDP", errno);
    }
    for (std::size_t i = 0; i < waiting.size(); ++i) {
      if (waiting[i].revents == 0) {
        continue;
      }
      if (auto frame = receive(waiting[i].fd); !frame.empty()) {
        frames.push_back({names[i], std::move(frame)});
        waiting[i].fd = -1;  // poll(2) passes it over
      }
      waiting[i].revents = 0;
    }
  }
  return frames;
}

}  // namespace netbench::facts
