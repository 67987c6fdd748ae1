#include "bench/facts/rtnetlink.hpp"

#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>

namespace netbench::facts {

namespace {

constexpr std::size_t kReceiveBytes = 256 * 1024;
constexpr int kDumpAttempts = 3;

constexpr std::size_t aligned(std::size_t bytes) { return (bytes + 3U) & ~std::size_t{3}; }

// The next attribute of that type; `attributes` becomes what is behind it.
std::optional<ByteSpan> next_attribute(ByteSpan& attributes, std::uint16_t type) {
  constexpr auto kTypeMask = static_cast<std::uint16_t>(NLA_TYPE_MASK);
  while (attributes.size() >= sizeof(rtattr)) {
    const auto header = header_of<rtattr>(attributes);
    if (header.rta_len < sizeof(rtattr) || header.rta_len > attributes.size()) {
      return std::nullopt;
    }
    const ByteSpan value = attributes.subspan(sizeof(rtattr), header.rta_len - sizeof(rtattr));
    attributes = attributes.subspan(std::min(aligned(header.rta_len), attributes.size()));
    if ((header.rta_type & kTypeMask) == type) {
      return value;
    }
  }
  return std::nullopt;
}

}  // namespace

Result<RtNetlink> RtNetlink::open(int protocol) {
  UniqueFd socket(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, protocol));
  if (!socket.valid()) {
    return fail_errno("netlink", "cannot open a netlink socket", errno);
  }
  const timeval patience{2, 0};
  ::setsockopt(socket.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
  return RtNetlink(std::move(socket));
}

int RtNetlink::send_request(std::uint16_t type, std::uint16_t flags, ByteSpan body) {
  nlmsghdr header{};
  header.nlmsg_len = static_cast<std::uint32_t>(NLMSG_HDRLEN + body.size());
  header.nlmsg_type = type;
  header.nlmsg_flags = static_cast<std::uint16_t>(NLM_F_REQUEST | flags);
  header.nlmsg_seq = ++sequence_;
  std::vector<std::uint8_t> message;
  append_header(message, header);
  message.insert(message.end(), body.begin(), body.end());
  const ssize_t sent = ::send(socket_.get(), message.data(), message.size(), 0);
  return sent < 0 ? errno : 0;
}

// Reads one datagram of messages; false when the answer is complete.
bool RtNetlink::receive_reply(NetlinkReply& reply) {
  static_assert(NLMSG_HDRLEN == sizeof(nlmsghdr));
  std::vector<std::uint8_t> buffer(kReceiveBytes);
  const ssize_t got = ::recv(socket_.get(), buffer.data(), buffer.size(), 0);
  if (got < 0) {
    reply.error_number = errno;
    return errno == EINTR;
  }
  ByteSpan rest(buffer.data(), static_cast<std::size_t>(got));
  bool multipart = false;
  while (rest.size() >= sizeof(nlmsghdr)) {
    const auto header = header_of<nlmsghdr>(rest);
    if (header.nlmsg_len < sizeof(nlmsghdr) || header.nlmsg_len > rest.size()) {
      break;
    }
    const ByteSpan body = rest.subspan(sizeof(nlmsghdr), header.nlmsg_len - sizeof(nlmsghdr));
    rest = rest.subspan(std::min(aligned(header.nlmsg_len), rest.size()));
    if (header.nlmsg_seq != sequence_) {
      multipart = true;  // left over from an answer given up earlier: keep waiting for ours
      continue;
    }
    if ((header.nlmsg_flags & NLM_F_DUMP_INTR) != 0) {
      reply.error_number = EINTR;
    }
    if (header.nlmsg_type == NLMSG_DONE) {
      return false;
    }
    if (header.nlmsg_type == NLMSG_ERROR) {
      reply.error_number = -header_of<nlmsgerr>(body).error;
      return false;
    }
    multipart = (header.nlmsg_flags & NLM_F_MULTI) != 0;
    reply.messages.push_back({header.nlmsg_type, {body.begin(), body.end()}});
  }
  return multipart;
}

NetlinkReply RtNetlink::talk(std::uint16_t type, std::uint16_t flags, ByteSpan body) {
  NetlinkReply reply;
  for (int attempt = 0; attempt < kDumpAttempts; ++attempt) {
    reply = {};
    reply.error_number = send_request(type, flags, body);
    if (reply.error_number != 0) {
      return reply;
    }
    while (receive_reply(reply)) {
    }
    if (reply.error_number != EINTR) {
      return reply;
    }
  }
  return reply;
}

Status RtNetlink::join(std::uint32_t group) {
  const int number = static_cast<int>(group);
  const int joined =
      ::setsockopt(socket_.get(), SOL_NETLINK, NETLINK_ADD_MEMBERSHIP, &number, sizeof(number));
  return joined == 0
             ? Status{}
             : Status(fail_errno("netlink", "cannot listen for notices of the kernel", errno));
}

std::vector<NetlinkMessage> RtNetlink::wait_for_notices(const Deadline& deadline) {
  pollfd waiting{socket_.get(), POLLIN, 0};
  if (::poll(&waiting, 1, deadline.poll_timeout_ms()) <= 0) {
    return {};
  }
  std::vector<std::uint8_t> buffer(kReceiveBytes);
  const ssize_t got = ::recv(socket_.get(), buffer.data(), buffer.size(), 0);
  ByteSpan rest(buffer.data(), static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  std::vector<NetlinkMessage> messages;
  while (rest.size() >= sizeof(nlmsghdr)) {
    const auto header = header_of<nlmsghdr>(rest);
    if (header.nlmsg_len < sizeof(nlmsghdr) || header.nlmsg_len > rest.size()) {
      break;
    }
    const ByteSpan body = rest.subspan(sizeof(nlmsghdr), header.nlmsg_len - sizeof(nlmsghdr));
    rest = rest.subspan(std::min(aligned(header.nlmsg_len), rest.size()));
    messages.push_back({header.nlmsg_type, {body.begin(), body.end()}});
  }
  return messages;
}

void append_attribute(std::vector<std::uint8_t>& body, std::uint16_t type, ByteSpan value) {
  body.resize(aligned(body.size()));
  const rtattr header{static_cast<std::uint16_t>(sizeof(rtattr) + value.size()), type};
  append_header(body, header);
  body.insert(body.end(), value.begin(), value.end());
  body.resize(aligned(body.size()));
}

void append_attribute(std::vector<std::uint8_t>& body, std::uint16_t type, std::uint32_t value) {
  append_attribute(body, type,
                   ByteSpan(reinterpret_cast<const std::uint8_t*>(&value), sizeof(value)));
}

void append_attribute(std::vector<std::uint8_t>& body, std::uint16_t type,
                      const std::string& value) {
  append_attribute(
      body, type, ByteSpan(reinterpret_cast<const std::uint8_t*>(value.c_str()), value.size() + 1));
}

ByteSpan find_attribute(ByteSpan attributes, std::uint16_t type) {
  return next_attribute(attributes, type).value_or(ByteSpan{});
}

std::vector<ByteSpan> all_attributes(ByteSpan attributes, std::uint16_t type) {
  std::vector<ByteSpan> found;
  while (const auto value = next_attribute(attributes, type)) {
    found.push_back(*value);
  }
  return found;
}

ByteSpan attributes_after(ByteSpan body, std::size_t header_bytes) {
  const std::size_t start = aligned(header_bytes);
  return body.size() <= start ? ByteSpan{} : body.subspan(start);
}

std::optional<std::uint32_t> attribute_u32(ByteSpan attributes, std::uint16_t type) {
  const ByteSpan value = find_attribute(attributes, type);
  if (value.size() < sizeof(std::uint32_t)) {
    return std::nullopt;
  }
  return header_of<std::uint32_t>(value);
}

std::string attribute_string(ByteSpan attributes, std::uint16_t type) {
  const ByteSpan value = find_attribute(attributes, type);
  const auto end = std::ranges::find(value, 0);
  return {value.begin(), end};
}

}  // namespace netbench::facts
