#include <ctime>
// linux/errqueue.h needs struct timespec and does not ask for it itself.
#include <linux/errqueue.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <cstring>

#include "bench/session/icmp_answer.hpp"

namespace netbench::session {

namespace {

bool is_error(const cmsghdr& head) {
  return (head.cmsg_level == IPPROTO_IP && head.cmsg_type == IP_RECVERR) ||
         (head.cmsg_level == IPPROTO_IPV6 && head.cmsg_type == IPV6_RECVERR);
}

// The extended error and, behind it, the address of who sent it (ip(7), SO_EE_OFFENDER).
std::optional<IcmpAnswer> parse(const unsigned char* data, std::size_t size) {
  sock_extended_err error{};
  if (size < sizeof(error) + sizeof(sockaddr_in)) {
    return std::nullopt;
  }
  std::memcpy(&error, data, sizeof(error));
  if (error.ee_origin != SO_EE_ORIGIN_ICMP && error.ee_origin != SO_EE_ORIGIN_ICMP6) {
    return std::nullopt;
  }
  const auto* from = reinterpret_cast<const sockaddr*>(data + sizeof(error));
  return IcmpAnswer{error.ee_type, error.ee_code,
                    make_address(from, static_cast<socklen_t>(size - sizeof(error)))};
}

}  // namespace

void keep_icmp_answers(int fd, int family, bool keep) {
  const int value = keep ? 1 : 0;
  const bool six = family == AF_INET6;
  ::setsockopt(fd, six ? IPPROTO_IPV6 : IPPROTO_IP, six ? IPV6_RECVERR : IP_RECVERR, &value,
               sizeof(value));
}

std::optional<IcmpAnswer> read_icmp_answer(int fd) {
  std::optional<IcmpAnswer> last;
  while (true) {
    alignas(cmsghdr) std::array<unsigned char, 512> control{};
    std::array<char, 256> packet{};
    iovec data{packet.data(), packet.size()};
    msghdr message{};
    message.msg_iov = &data;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    if (::recvmsg(fd, &message, MSG_ERRQUEUE | MSG_DONTWAIT) < 0) {
      return last;
    }
    for (cmsghdr* head = CMSG_FIRSTHDR(&message); head != nullptr;
         head = CMSG_NXTHDR(&message, head)) {
      if (is_error(*head)) {
        last = parse(CMSG_DATA(head), head->cmsg_len - CMSG_LEN(0));
      }
    }
  }
}

}  // namespace netbench::session
