#include <netinet/in.h>
#include <poll.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <mutex>
#include <thread>

#include "bench/facts/addresses.hpp"
#include "bench/facts/network_reader.hpp"
#include "bench/facts/path_mtu.hpp"
#include "bench/facts/path_probe_wire.hpp"

namespace netbench::facts {

namespace {

// Where a datagram came from and to which of our addresses; answers leave from that address.
struct Arrival {
  sockaddr_storage peer{};
  socklen_t peer_bytes = sizeof(sockaddr_storage);
  alignas(cmsghdr) std::array<char, 128> control{};
  std::size_t control_bytes = 0;
  std::size_t datagram_bytes = 0;

  [[nodiscard]] bool ipv6() const { return ip_of(peer).family == AF_INET6; }
};

bool is_link_local(const sockaddr_storage& address) {
  const IpAddress ip = ip_of(address);
  return ip.family == AF_INET6 && ip.bytes[0] == 0xfe && (ip.bytes[1] & 0xc0U) == 0x80;
}

// Turns the packet information of an arrival into that of an answer: source address as there, the
// interface left to routing unless the peer is link-local.
void prepare_answer(Arrival& arrival, msghdr& received) {
  arrival.peer_bytes = received.msg_namelen;
  arrival.control_bytes = received.msg_controllen;
  const bool keep_interface = is_link_local(arrival.peer);
  for (auto* part = CMSG_FIRSTHDR(&received); part != nullptr;
       part = CMSG_NXTHDR(&received, part)) {
    if (part->cmsg_level == IPPROTO_IP && part->cmsg_type == IP_PKTINFO) {
      reinterpret_cast<in_pktinfo*>(CMSG_DATA(part))->ipi_ifindex = 0;
    } else if (part->cmsg_level == IPPROTO_IPV6 && part->cmsg_type == IPV6_PKTINFO &&
               !keep_interface) {
      reinterpret_cast<in6_pktinfo*>(CMSG_DATA(part))->ipi6_ifindex = 0;
    }
  }
}

// At most 16 MiB a second, 4 MiB at once.
class AnswerBudget {
 public:
  bool spend(std::size_t bytes) {
    const std::int64_t now = monotonic_ns();
    const double earned = kBytesPerSecond * 1e-9 * static_cast<double>(now - last_ns_);
    left_ = std::min(kMostBytes, left_ + earned);
    last_ns_ = now;
    if (left_ < static_cast<double>(bytes)) {
      return false;
    }
    left_ -= static_cast<double>(bytes);
    return true;
  }

 private:
  static constexpr double kBytesPerSecond = 16.0 * (1 << 20);
  static constexpr double kMostBytes = 4.0 * (1 << 20);
  double left_ = kMostBytes;
  std::int64_t last_ns_ = monotonic_ns();
};

}  // namespace

struct PathProbeResponder::Impl {
  struct Session {
    sockaddr_storage peer{};
    std::uint32_t icmp_mtu_bytes = 0;
  };

  UniqueFd socket;
  UniqueFd stop;
  std::mutex mutex;
  std::map<ProbeToken, Session> sessions;
  AnswerBudget budget;
  std::vector<std::uint8_t> buffer = std::vector<std::uint8_t>(65536);
  std::unique_ptr<NetworkReader> network;
  ForeignDatagram on_foreign;
  std::thread thread;

  void serve();
  bool receive(Arrival& arrival);
  void answer(Arrival& arrival);
  void send_to(Arrival& arrival, const ProbeMessage& message,
               std::size_t bytes = kProbeMessageBytes);
  void send_data(Arrival& arrival, const ProbeMessage& request);
  std::uint32_t interface_mtu_towards(const sockaddr_storage& peer);
  bool know(const ProbeToken& token, const sockaddr_storage& peer);
  std::uint32_t icmp_mtu_of(const ProbeToken& token);
  void take_errors();
};

// True for an allowed token, whose peer is noted for ICMP errors to come.
bool PathProbeResponder::Impl::know(const ProbeToken& token, const sockaddr_storage& peer) {
  const std::lock_guard lock(mutex);
  const auto session = sessions.find(token);
  if (session == sessions.end()) {
    return false;
  }
  session->second.peer = peer;
  return true;
}

std::uint32_t PathProbeResponder::Impl::icmp_mtu_of(const ProbeToken& token) {
  const std::lock_guard lock(mutex);
  const auto session = sessions.find(token);
  return session == sessions.end() ? 0 : session->second.icmp_mtu_bytes;
}

void PathProbeResponder::Impl::take_errors() {
  while (const auto report = take_icmp_report(socket.get())) {
    if (report->mtu_bytes == 0) {
      continue;
    }
    const IpAddress destination = ip_of(report->destination);
    const std::lock_guard lock(mutex);
    for (auto& [token, session] : sessions) {
      if (ip_of(session.peer).bytes == destination.bytes) {
        session.icmp_mtu_bytes = report->mtu_bytes;
      }
    }
  }
}

std::uint32_t PathProbeResponder::Impl::interface_mtu_towards(const sockaddr_storage& peer) {
  if (network == nullptr) {
    return 0;
  }
  const auto route = network->route_to(to_text(ip_of(peer)), "");
  const auto link =
      route ? network->link(route->interface) : Result<LinkInfo>(tl::unexpected(route.error()));
  return link ? static_cast<std::uint32_t>(link->mtu_bytes) : 0;
}

void PathProbeResponder::Impl::send_to(Arrival& arrival, const ProbeMessage& message,
                                       std::size_t bytes) {
  if (!budget.spend(bytes)) {
    return;
  }
  auto datagram = encode(message, bytes);
  iovec piece{datagram.data(), datagram.size()};
  msghdr answer{};
  answer.msg_name = &arrival.peer;
  answer.msg_namelen = arrival.peer_bytes;
  answer.msg_iov = &piece;
  answer.msg_iovlen = 1;
  answer.msg_control = arrival.control_bytes == 0 ? nullptr : arrival.control.data();
  answer.msg_controllen = arrival.control_bytes;
  // A pending ICMP error of an earlier packet makes one send fail: take it off and send again.
  if (::sendmsg(socket.get(), &answer, MSG_DONTWAIT) < 0) {
    take_errors();
    ::sendmsg(socket.get(), &answer, MSG_DONTWAIT);
  }
}

void PathProbeResponder::Impl::send_data(Arrival& arrival, const ProbeMessage& request) {
  const std::size_t headers = packet_header_bytes(arrival.ipv6());
  const std::size_t bytes = request.value < headers ? 0 : request.value - headers;
  if (bytes < kProbeMessageBytes || bytes > buffer.size()) {
    return;
  }
  send_to(arrival, {ProbeType::data, request.token, request.value, 0}, bytes);
}

void PathProbeResponder::Impl::answer(Arrival& arrival) {
  const std::span<const std::uint8_t> datagram(buffer.data(), arrival.datagram_bytes);
  const auto message = decode_probe(datagram);
  if (!message && on_foreign) {
    on_foreign(datagram, reinterpret_cast<const sockaddr*>(&arrival.peer), arrival.peer_bytes);
  }
  if (!message || !know(message->token, arrival.peer)) {
    return;
  }
  const auto reply = [&](ProbeType type, std::uint32_t value, std::uint32_t extra) {
    send_to(arrival, {type, message->token, value, extra});
  };
  const auto packet =
      static_cast<std::uint32_t>(arrival.datagram_bytes + packet_header_bytes(arrival.ipv6()));
  switch (message->type) {
    case ProbeType::hello:
      return reply(ProbeType::hello_ack, message->value, interface_mtu_towards(arrival.peer));
    case ProbeType::probe:
      return reply(ProbeType::probe_ack, packet, 0);
    case ProbeType::request:
      send_data(arrival, *message);
      return reply(ProbeType::request_ack, message->value, icmp_mtu_of(message->token));
    default:
      return;  // an answer: not for us
  }
}

bool PathProbeResponder::Impl::receive(Arrival& arrival) {
  iovec piece{buffer.data(), buffer.size()};
  msghdr message{};
  message.msg_name = &arrival.peer;
  message.msg_namelen = sizeof(arrival.peer);
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  message.msg_control = arrival.control.data();
  message.msg_controllen = arrival.control.size();
  const ssize_t got = ::recvmsg(socket.get(), &message, MSG_DONTWAIT);
  if (got < 0) {
    return false;
  }
  arrival.datagram_bytes = static_cast<std::size_t>(got);
  prepare_answer(arrival, message);
  return true;
}

void PathProbeResponder::Impl::serve() {
  std::array<pollfd, 2> waits{{{socket.get(), POLLIN, 0}, {stop.get(), POLLIN, 0}}};
  while (true) {
    if (::poll(waits.data(), waits.size(), -1) < 0 && errno != EINTR) {
      return;
    }
    if ((waits[1].revents & POLLIN) != 0) {
      return;
    }
    take_errors();
    Arrival arrival;
    while (receive(arrival)) {
      answer(arrival);
      arrival = {};
    }
  }
}

PathProbeResponder::PathProbeResponder(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Result<std::unique_ptr<PathProbeResponder>> PathProbeResponder::start(UniqueFd udp_socket,
                                                                      ForeignDatagram on_foreign) {
  if (auto prepared = prepare_probe_socket(udp_socket.get()); !prepared) {
    return tl::unexpected(prepared.error());
  }
  const int on = 1;
  ::setsockopt(udp_socket.get(), IPPROTO_IP, IP_PKTINFO, &on, sizeof(on));
  ::setsockopt(udp_socket.get(), IPPROTO_IPV6, IPV6_RECVPKTINFO, &on, sizeof(on));
  auto impl = std::make_unique<Impl>();
  impl->socket = std::move(udp_socket);
  impl->on_foreign = std::move(on_foreign);
  impl->stop.reset(::eventfd(0, EFD_CLOEXEC));
  if (!impl->stop.valid()) {
    return fail_errno("probe-socket", "cannot make an eventfd", errno);
  }
  if (auto network = open_kernel_network(); network) {
    impl->network = std::move(*network);
  }
  impl->thread = std::thread([raw = impl.get()] { raw->serve(); });
  return std::unique_ptr<PathProbeResponder>(new PathProbeResponder(std::move(impl)));
}

PathProbeResponder::~PathProbeResponder() {
  ::eventfd_write(impl_->stop.get(), 1);
  impl_->thread.join();
}

void PathProbeResponder::allow(const ProbeToken& token) {
  const std::lock_guard lock(impl_->mutex);
  impl_->sessions[token] = {};
}

void PathProbeResponder::forget(const ProbeToken& token) {
  const std::lock_guard lock(impl_->mutex);
  impl_->sessions.erase(token);
}

void PathProbeResponder::forget_all() {
  const std::lock_guard lock(impl_->mutex);
  impl_->sessions.clear();
}

}  // namespace netbench::facts
