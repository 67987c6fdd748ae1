#pragma once

#include <linux/netlink.h>

#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bench/core/clock.hpp"
#include "bench/core/result.hpp"
#include "bench/core/unique_fd.hpp"

namespace netbench::facts {

using ByteSpan = std::span<const std::uint8_t>;

/// A message without its nlmsghdr: the family's header (ifinfomsg, rtmsg …) and its attributes.
struct NetlinkMessage {
  std::uint16_t type = 0;
  std::vector<std::uint8_t> body;
};

/// What the kernel answered. `error_number` is 0 or the errno of the refusal.
struct NetlinkReply {
  int error_number = 0;
  std::vector<NetlinkMessage> messages;
};

/// A netlink(7) socket of the network namespace in which it was opened: rtnetlink(7), or another
/// protocol (NETLINK_GENERIC, NETLINK_NETFILTER) of the same framing. Move-only.
class RtNetlink {
 public:
  /// Errors: `netlink`.
  [[nodiscard]] static Result<RtNetlink> open(int protocol = NETLINK_ROUTE);

  /// Sends one request and gathers its answer: a dump to its end (again when the kernel says that
  /// it was disturbed), else one message or the acknowledgement. `flags` beside NLM_F_REQUEST.
  [[nodiscard]] NetlinkReply talk(std::uint16_t type, std::uint16_t flags, ByteSpan body);

  /// From now on notices of that multicast group arrive too. Errors: `netlink`.
  [[nodiscard]] Status join(std::uint32_t group);
  /// What arrives next, unasked; empty where nothing came by the deadline.
  [[nodiscard]] std::vector<NetlinkMessage> wait_for_notices(const Deadline& deadline);

 private:
  explicit RtNetlink(UniqueFd socket) : socket_(std::move(socket)) {}
  [[nodiscard]] int send_request(std::uint16_t type, std::uint16_t flags, ByteSpan body);
  [[nodiscard]] bool receive_reply(NetlinkReply& reply);

  UniqueFd socket_;
  std::uint32_t sequence_ = 0;
};

template <class T>
void append_header(std::vector<std::uint8_t>& body, const T& header) {
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(&header);
  body.insert(body.end(), bytes, bytes + sizeof(T));
}

void append_attribute(std::vector<std::uint8_t>& body, std::uint16_t type, ByteSpan value);
void append_attribute(std::vector<std::uint8_t>& body, std::uint16_t type, std::uint32_t value);
void append_attribute(std::vector<std::uint8_t>& body, std::uint16_t type,
                      const std::string& value);

/// The family's header at the start of a message; zeroes if the message is too short.
template <class T>
[[nodiscard]] T header_of(ByteSpan body) {
  T header{};
  if (body.size() >= sizeof(T)) {
    std::memcpy(&header, body.data(), sizeof(T));
  }
  return header;
}

/// Value of an attribute in a list of attributes, empty if there is none.
[[nodiscard]] ByteSpan find_attribute(ByteSpan attributes, std::uint16_t type);

/// Values of every attribute of that type, in order: the elements of a nested list.
[[nodiscard]] std::vector<ByteSpan> all_attributes(ByteSpan attributes, std::uint16_t type);

/// The attributes behind a family header of that size.
[[nodiscard]] ByteSpan attributes_after(ByteSpan body, std::size_t header_bytes);

/// The first number of an attribute that is at least as long as T, in host order.
template <class T>
[[nodiscard]] std::optional<T> attribute_number(ByteSpan attributes, std::uint16_t type) {
  const ByteSpan value = find_attribute(attributes, type);
  return value.size() < sizeof(T) ? std::nullopt : std::optional<T>(header_of<T>(value));
}
[[nodiscard]] std::optional<std::uint32_t> attribute_u32(ByteSpan attributes, std::uint16_t type);
[[nodiscard]] std::string attribute_string(ByteSpan attributes, std::uint16_t type);

}  // namespace netbench::facts
