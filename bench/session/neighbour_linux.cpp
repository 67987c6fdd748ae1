#include <linux/neighbour.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <array>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

#include "bench/core/unique_fd.hpp"
#include "bench/session/neighbour.hpp"

namespace netbench::session {

namespace {

constexpr std::size_t kAnswerBytes = 8192;

std::string_view address_bytes(const SocketAddress& address) {
  const auto* base = reinterpret_cast<const char*>(&address.storage);
  return address.family() == AF_INET6
             ? std::string_view(base + offsetof(sockaddr_in6, sin6_addr), sizeof(in6_addr))
             : std::string_view(base + offsetof(sockaddr_in, sin_addr), sizeof(in_addr));
}

template <class T>
std::string_view as_bytes(const T& value) {
  return {reinterpret_cast<const char*>(&value), sizeof(value)};
}

// A request: nlmsghdr, a fixed header, attributes (netlink(7)).
template <class Header>
class Request {
 public:
  Request(std::uint16_t type, const Header& header) : bytes_(NLMSG_HDRLEN, '\0') {
    head_.nlmsg_type = type;
    head_.nlmsg_flags = NLM_F_REQUEST;
    append(as_bytes(header));
  }

  void add(std::uint16_t type, std::string_view payload) {
    rtattr attribute{};
    attribute.rta_type = type;
    attribute.rta_len = static_cast<std::uint16_t>(RTA_LENGTH(payload.size()));
    append(as_bytes(attribute));
    append(payload);
  }

  const std::string& finish() {
    head_.nlmsg_len = static_cast<std::uint32_t>(bytes_.size());
    std::memcpy(bytes_.data(), &head_, sizeof(head_));
    return bytes_;
  }

 private:
  void append(std::string_view part) {
    bytes_ += part;
    bytes_.resize(NLMSG_ALIGN(bytes_.size()), '\0');
  }

  nlmsghdr head_{};
  std::string bytes_;
};

// The single answer's fixed header and attributes, by their type; nothing where the kernel refused.
template <class Header>
struct Answer {
  Header header{};
  std::array<std::string, 32> attributes;
};

template <class Header>
std::optional<Answer<Header>> ask(std::uint16_t answer_type, const std::string& request) {
  const UniqueFd fd(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE));
  const timeval limit{.tv_sec = 1, .tv_usec = 0};
  std::array<char, kAnswerBytes> bytes{};
  if (!fd.valid() || ::setsockopt(fd.get(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit)) != 0 ||
      ::send(fd.get(), request.data(), request.size(), 0) < 0) {
    return std::nullopt;
  }
  const ssize_t size = ::recv(fd.get(), bytes.data(), bytes.size(), 0);
  nlmsghdr head{};
  constexpr std::size_t kFixed = NLMSG_LENGTH(sizeof(Header));
  if (size < static_cast<ssize_t>(kFixed)) {
    return std::nullopt;
  }
  std::memcpy(&head, bytes.data(), sizeof(head));
  if (head.nlmsg_type != answer_type || head.nlmsg_len > static_cast<std::size_t>(size)) {
    return std::nullopt;
  }
  Answer<Header> answer;
  std::memcpy(&answer.header, bytes.data() + NLMSG_HDRLEN, sizeof(Header));
  std::string_view rest(bytes.data(), head.nlmsg_len);
  rest.remove_prefix(std::min(rest.size(), std::size_t{NLMSG_ALIGN(kFixed)}));
  while (rest.size() >= sizeof(rtattr)) {
    rtattr attribute{};
    std::memcpy(&attribute, rest.data(), sizeof(attribute));
    if (attribute.rta_len < sizeof(rtattr) || attribute.rta_len > rest.size()) {
      break;
    }
    if (attribute.rta_type < answer.attributes.size()) {
      answer.attributes.at(attribute.rta_type) =
          rest.substr(RTA_LENGTH(0), attribute.rta_len - RTA_LENGTH(0));
    }
    rest.remove_prefix(std::min(rest.size(), std::size_t{RTA_ALIGN(attribute.rta_len)}));
  }
  return answer;
}

struct NextHop {
  int interface = 0;
  std::string address;
  bool gateway = false;
};

std::optional<NextHop> find_next_hop(const SocketAddress& to) {
  rtmsg route{};
  route.rtm_family = static_cast<unsigned char>(to.family());
  Request request(RTM_GETROUTE, route);
  request.add(RTA_DST, address_bytes(to));
  if (to.family() == AF_INET6) {
    sockaddr_in6 six{};
    std::memcpy(&six, &to.storage, sizeof(six));
    if (six.sin6_scope_id != 0) {
      request.add(RTA_OIF, as_bytes(six.sin6_scope_id));
    }
  }
  const auto answer = ask<rtmsg>(RTM_NEWROUTE, request.finish());
  if (!answer || answer->attributes[RTA_OIF].size() != sizeof(int)) {
    return std::nullopt;
  }
  NextHop hop;
  std::memcpy(&hop.interface, answer->attributes[RTA_OIF].data(), sizeof(int));
  hop.gateway = !answer->attributes[RTA_GATEWAY].empty();
  hop.address = hop.gateway ? answer->attributes[RTA_GATEWAY] : std::string(address_bytes(to));
  return hop;
}

NeighbourState state_of(std::uint16_t kernel_state) {
  constexpr unsigned kAnswered = NUD_REACHABLE | NUD_STALE | NUD_DELAY | NUD_PROBE | NUD_PERMANENT;
  if ((kernel_state & kAnswered) != 0) {
    return NeighbourState::reachable;
  }
  return (kernel_state & (NUD_INCOMPLETE | NUD_FAILED)) != 0 ? NeighbourState::unanswered
                                                             : NeighbourState::unknown;
}

}  // namespace

Neighbour find_neighbour(const SocketAddress& to) {
  if (to.family() != AF_INET && to.family() != AF_INET6) {
    return {};
  }
  const auto hop = find_next_hop(to);
  if (!hop) {
    return {};
  }
  ndmsg neighbour{};
  neighbour.ndm_family = static_cast<unsigned char>(to.family());
  neighbour.ndm_ifindex = hop->interface;
  Request request(RTM_GETNEIGH, neighbour);
  request.add(NDA_DST, hop->address);
  const auto answer = ask<ndmsg>(RTM_NEWNEIGH, request.finish());
  return {answer ? state_of(answer->header.ndm_state) : NeighbourState::absent, hop->gateway};
}

}  // namespace netbench::session
