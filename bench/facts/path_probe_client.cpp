#include <fmt/format.h>
#include <netinet/in.h>
#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <optional>
#include <set>

#include "bench/facts/addresses.hpp"
#include "bench/facts/network_reader.hpp"
#include "bench/facts/path_mtu.hpp"
#include "bench/facts/path_probe_wire.hpp"
#include "bench/facts/path_search.hpp"

namespace netbench::facts {

namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

constexpr int kTries = 3;
constexpr std::int64_t kLargestPacket = 65535;

sockaddr_storage socket_address(const IpAddress& ip, in_port_t network_port, socklen_t& bytes) {
  sockaddr_storage storage{};
  if (ip.family == AF_INET) {
    sockaddr_in v4{};
    v4.sin_family = AF_INET;
    v4.sin_port = network_port;
    std::memcpy(&v4.sin_addr, ip.bytes.data(), sizeof(v4.sin_addr));
    std::memcpy(&storage, &v4, sizeof(v4));
    bytes = sizeof(v4);
  } else {
    sockaddr_in6 v6{};
    v6.sin6_family = AF_INET6;
    v6.sin6_port = network_port;
    v6.sin6_scope_id = static_cast<std::uint32_t>(ip.scope_index);
    std::memcpy(&v6.sin6_addr, ip.bytes.data(), sizeof(v6.sin6_addr));
    std::memcpy(&storage, &v6, sizeof(v6));
    bytes = sizeof(v6);
  }
  return storage;
}

Result<UniqueFd> open_probe_socket(const ProbeTarget& target, const IpAddress& peer) {
  UniqueFd socket(::socket(peer.family, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!socket.valid()) {
    return fail_errno("probe-socket", "cannot open a UDP socket for path probing", errno);
  }
  if (auto prepared = prepare_probe_socket(socket.get()); !prepared) {
    return tl::unexpected(prepared.error());
  }
  socklen_t bytes = 0;
  if (const auto local = parse_ip(target.local_address); local && local->family == peer.family) {
    const auto source = socket_address(*local, 0, bytes);
    if (::bind(socket.get(), reinterpret_cast<const sockaddr*>(&source), bytes) != 0) {
      return fail_errno("probe-socket", fmt::format("cannot bind {}", target.local_address), errno);
    }
  }
  // sin_port and sin6_port lie at the same place.
  const auto port = reinterpret_cast<const sockaddr_in*>(&target.address)->sin_port;
  const auto address = socket_address(peer, port, bytes);
  if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), bytes) != 0) {
    return fail_errno("probe-socket", fmt::format("no way to {}", to_text(peer)), errno);
  }
  return socket;
}

std::int64_t interface_mtu_towards(const IpAddress& peer, const std::string& local) {
  auto network = open_kernel_network();
  if (!network) {
    return 0;
  }
  const auto route = (*network)->route_to(to_text(peer), local);
  const auto link =
      route ? (*network)->link(route->interface) : Result<LinkInfo>(tl::unexpected(route.error()));
  return link ? link->mtu_bytes : 0;
}

// One way of the path: how a size is asked for and which message says that it passed.
struct Way {
  ProbeType ask;
  ProbeType passed;
  PathSearch search;
};

class Prober {
 public:
  Prober(UniqueFd socket, const ProbeToken& token, bool ipv6, Deadline deadline)
      : socket_(std::move(socket)), token_(token), ipv6_(ipv6), deadline_(deadline) {}

  // The MTU of the peer's interface, or nothing if no answer comes.
  std::optional<std::int64_t> greet();
  void search(std::vector<Way>& ways);
  [[nodiscard]] bool refused() const { return refused_; }

 private:
  struct Question {
    Way* way;
    std::int64_t bytes;
  };
  // The MTU that the answer to this one names.
  std::optional<std::uint32_t> hello(std::uint32_t number, nanoseconds patience);
  void volley(std::vector<Way>& ways);
  void ask(const Question& question);
  void listen(std::vector<Way>& ways, std::vector<Question>& open);
  void take(const ProbeMessage& message, std::vector<Way>& ways, std::vector<Question>& open);
  bool send_message(ProbeType type, std::int64_t value, std::size_t datagram_bytes);
  std::optional<ProbeMessage> receive(Deadline until);
  [[nodiscard]] Deadline answer_by(nanoseconds patience) const {
    return Deadline::after(std::min(patience, deadline_.left()));
  }

  UniqueFd socket_;
  ProbeToken token_;
  bool ipv6_;
  Deadline deadline_;
  nanoseconds patience_{milliseconds(100)};
  nanoseconds round_trip_{std::chrono::seconds(1)};  // the shortest seen
  std::uint32_t icmp_mtu_bytes_ = 0;
  bool refused_ = false;
  std::vector<std::uint8_t> buffer_ = std::vector<std::uint8_t>(65536);
};

bool Prober::send_message(ProbeType type, std::int64_t value, std::size_t datagram_bytes) {
  const auto datagram =
      encode({type, token_, static_cast<std::uint32_t>(value), 0}, datagram_bytes);
  ssize_t sent = ::send(socket_.get(), datagram.data(), datagram.size(), 0);
  if (sent < 0 && errno != EMSGSIZE) {  // the error of an earlier packet: once more
    sent = ::send(socket_.get(), datagram.data(), datagram.size(), 0);
  }
  return sent >= 0;
}

std::optional<ProbeMessage> Prober::receive(Deadline until) {
  while (true) {
    while (const auto report = take_icmp_report(socket_.get())) {
      icmp_mtu_bytes_ = report->mtu_bytes != 0 ? report->mtu_bytes : icmp_mtu_bytes_;
      refused_ = refused_ || report->port_unreachable;
    }
    const ssize_t got = ::recv(socket_.get(), buffer_.data(), buffer_.size(), MSG_DONTWAIT);
    if (got >= 0) {
      const auto message = decode_probe({buffer_.data(), static_cast<std::size_t>(got)});
      if (message && message->token == token_) {
        return message;
      }
      continue;
    }
    if (errno == EAGAIN) {
      pollfd wait{socket_.get(), POLLIN, 0};
      if (until.passed() || ::poll(&wait, 1, until.poll_timeout_ms()) == 0) {
        return std::nullopt;
      }
    }
  }
}

std::optional<std::uint32_t> Prober::hello(std::uint32_t number, nanoseconds patience) {
  const std::int64_t sent_ns = monotonic_ns();
  send_message(ProbeType::hello, number, kProbeMessageBytes);
  const auto until = answer_by(patience);
  while (const auto message = receive(until)) {
    if (message->type == ProbeType::hello_ack && message->value == number) {
      round_trip_ = std::min(round_trip_, nanoseconds(monotonic_ns() - sent_ns));
      return message->extra;
    }
  }
  return std::nullopt;
}

std::optional<std::int64_t> Prober::greet() {
  constexpr std::array kPatience{milliseconds(100), milliseconds(200), milliseconds(400),
                                 milliseconds(800)};
  constexpr nanoseconds kShortest = milliseconds(80);
  constexpr nanoseconds kLongest = milliseconds(500);
  constexpr std::uint32_t kMoreHellos = 3;  // the first one waits for neighbours to be resolved
  std::optional<std::uint32_t> mtu_bytes;
  std::uint32_t number = 0;
  for (; !mtu_bytes && !refused_ && number < kPatience.size(); ++number) {
    mtu_bytes = hello(number, kPatience.at(number));
  }
  if (!mtu_bytes) {
    return std::nullopt;
  }
  for (std::uint32_t more = 0; more < kMoreHellos; ++more) {
    static_cast<void>(hello(number + more, kPatience.back()));
  }
  patience_ = std::clamp<nanoseconds>(3 * round_trip_ + milliseconds(50), kShortest, kLongest);
  return *mtu_bytes;
}

void Prober::ask(const Question& question) {
  const std::size_t headers = packet_header_bytes(ipv6_);
  const bool padded = question.way->ask == ProbeType::probe;
  send_message(question.way->ask, question.bytes,
               padded ? static_cast<std::size_t>(question.bytes) - headers : kProbeMessageBytes);
}

void Prober::take(const ProbeMessage& message, std::vector<Way>& ways,
                  std::vector<Question>& open) {
  for (auto& way : ways) {
    if (message.type == way.passed) {
      way.search.passed(message.value);
      std::erase_if(open, [&](const Question& question) {
        return question.way == &way && question.bytes <= message.value;
      });
    } else if (message.type == ProbeType::request_ack && message.extra != 0 &&
               way.ask == ProbeType::request) {
      way.search.icmp_named(message.extra);
    }
    if (way.ask == ProbeType::probe && icmp_mtu_bytes_ != 0) {
      way.search.icmp_named(icmp_mtu_bytes_);
    }
  }
}

void Prober::listen(std::vector<Way>& ways, std::vector<Question>& open) {
  const auto until = answer_by(patience_);
  while (!open.empty()) {
    const auto message = receive(until);
    if (!message) {
      break;
    }
    take(*message, ways, open);
  }
  take({ProbeType::hello, token_, 0, 0}, ways, open);  // what ICMP said meanwhile
}

// Asks the next sizes of all ways, what is unanswered again, and settles what stays lost.
void Prober::volley(std::vector<Way>& ways) {
  std::vector<Question> open;
  for (auto& way : ways) {
    for (const auto bytes : way.search.next_volley()) {
      open.push_back({&way, bytes});
    }
  }
  for (int attempt = 0; attempt < kTries && !open.empty() && !deadline_.passed(); ++attempt) {
    for (const auto& question : open) {
      ask(question);
    }
    listen(ways, open);
  }
  if (!deadline_.passed()) {
    for (const auto& question : open) {
      question.way->search.lost(question.bytes);
    }
  }
}

void Prober::search(std::vector<Way>& ways) {
  const auto unfinished = [](const Way& way) { return !way.search.finished(); };
  while (std::ranges::any_of(ways, unfinished) && !deadline_.passed()) {
    volley(ways);
  }
}

std::string describe(std::string_view towards, const PathSearch& search, std::int64_t both_take,
                     bool& black_hole) {
  const auto largest = search.largest_bytes();
  if (!search.finished()) {
    return fmt::format("{}: at least {} bytes, time was up", towards, largest);
  }
  if (largest >= search.ceiling_bytes()) {
    return {};
  }
  if (largest >= both_take) {
    return fmt::format("{}: {} bytes, the MTU of the receiver's interface", towards, largest);
  }
  if (search.icmp_mtu_bytes() != 0) {
    return fmt::format("{}: {} bytes, ICMP names {}", towards, largest, search.icmp_mtu_bytes());
  }
  black_hole = true;
  return fmt::format("{}: packets over {} bytes vanish and no ICMP message says so", towards,
                     largest);
}

PathMtu conclude(const Way& forward, const Way& reverse) {
  PathMtu result;
  result.method = kMethodUdp;
  result.forward_bytes = forward.search.largest_bytes();
  result.reverse_bytes = reverse.search.largest_bytes();
  const auto both_take = std::min(forward.search.ceiling_bytes(), reverse.search.ceiling_bytes());
  const auto there = describe("towards the peer", forward.search, both_take, result.black_hole);
  const auto back = describe("from the peer", reverse.search, both_take, result.black_hole);
  result.note = there + (there.empty() || back.empty() ? "" : "; ") + back;
  return result;
}

std::int64_t ceiling_of(std::int64_t interface_mtu, std::int64_t otherwise) {
  return std::min(interface_mtu > 0 ? interface_mtu : otherwise, kLargestPacket);
}

}  // namespace

Result<PathMtu> probe_path(const ProbeTarget& target, const ProbeToken& token, Deadline deadline) {
  constexpr std::int64_t kSmallestIpv4 = 576;   // every host takes it: RFC 1122, section 3.3.2
  constexpr std::int64_t kSmallestIpv6 = 1280;  // RFC 8200, section 5
  constexpr std::int64_t kWhenUnknown = 9000;
  const IpAddress peer = ip_of(target.address);
  auto socket = open_probe_socket(target, peer);
  if (!socket) {
    return tl::unexpected(socket.error());
  }
  const bool ipv6 = peer.family == AF_INET6;
  Prober prober(std::move(*socket), token, ipv6, deadline);
  const auto remote_mtu = prober.greet();
  if (!remote_mtu) {
    PathMtu none;
    none.method = kMethodUdpFiltered;
    none.note = prober.refused() ? "the peer's host refuses UDP on this port"
                                 : "no answer to UDP on this port";
    return none;
  }
  const auto local_ceiling =
      ceiling_of(interface_mtu_towards(peer, target.local_address), kWhenUnknown);
  const auto remote_ceiling = ceiling_of(*remote_mtu, local_ceiling);
  const auto floor =
      std::min({ipv6 ? kSmallestIpv6 : kSmallestIpv4, local_ceiling, remote_ceiling});
  std::vector<Way> ways{{ProbeType::probe, ProbeType::probe_ack, PathSearch(floor, local_ceiling)},
                        {ProbeType::request, ProbeType::data, PathSearch(floor, remote_ceiling)}};
  prober.search(ways);
  return conclude(ways[0], ways[1]);
}

}  // namespace netbench::facts
