#pragma once

#include <sys/socket.h>

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "bench/core/clock.hpp"
#include "bench/core/result.hpp"
#include "bench/core/unique_fd.hpp"
#include "bench/model/document.hpp"

namespace netbench::facts {

/// Secret of a session, agreed over the control channel; a probe without it gets no answer.
using ProbeToken = std::array<std::uint8_t, 16>;

inline constexpr const char* kMethodUdp = "udp-df";
inline constexpr const char* kMethodTcp = "tcp-mss";
inline constexpr const char* kMethodUdpFiltered = "udp filtered";

/// TCP payload bytes of a segment that fills an IP packet of `mtu_bytes`: less 20 (IPv4) or 40
/// (IPv6), 20 TCP and 12 for timestamps (RFC 9293, RFC 7323). family: AF_INET or AF_INET6. At
/// least 1.
[[nodiscard]] std::int64_t mss_for_mtu(std::int64_t mtu_bytes, int family, bool timestamps);

/// A datagram on the probes' socket that is no probe, with its source as recvfrom(2) gives it (IPv4
/// mapped into IPv6 on a dual-stack socket). Called on the responder's thread; must not wait.
using ForeignDatagram = std::function<void(std::span<const std::uint8_t> datagram,
                                           const sockaddr* source, socklen_t source_bytes)>;

/// Answers path probes on a UDP socket (bound, IPv4 or dual-stack IPv6) in a thread of its own.
/// Answers only datagrams that carry an allowed token, so an unknown sender gets nothing; all
/// answers together stay under 16 MiB a second. Sends DF packets (IP_PMTUDISC_PROBE, ip(7)) of
/// asked sizes.
class PathProbeResponder {
 public:
  /// Takes the socket. Errors: `probe-socket`.
  [[nodiscard]] static Result<std::unique_ptr<PathProbeResponder>> start(
      UniqueFd udp_socket, ForeignDatagram on_foreign = {});
  PathProbeResponder(const PathProbeResponder&) = delete;
  PathProbeResponder& operator=(const PathProbeResponder&) = delete;
  ~PathProbeResponder();  // joins the thread, closes the socket

  void allow(const ProbeToken& token);   // [any-thread]
  void forget(const ProbeToken& token);  // [any-thread]
  void forget_all();                     // [any-thread]

 private:
  struct Impl;
  explicit PathProbeResponder(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

/// A UDP address to probe.
struct ProbeTarget {
  sockaddr_storage address{};
  socklen_t address_bytes = 0;
  std::string local_address;  // numeric source address to bind, "" = the route's
};

/// Finds the largest IP packet that passes without fragmentation towards the target and back.
/// Sizes between 576 (IPv4) or 1280 (IPv6) and the interface's MTU, 1500 and 9000 among the first,
/// each at least three times before it counts as lost. `black_hole`: packets that both interfaces
/// would take vanish and no ICMP says so. No answer to any UDP: method "udp filtered", sizes 0.
/// Ends by the deadline. Errors: `probe-socket`.
[[nodiscard]] Result<PathMtu> probe_path(const ProbeTarget& target, const ProbeToken& token,
                                         Deadline deadline);

/// Gives a fresh connected TCP socket to an end that sends every byte back, with the MSS clamped to
/// `mss_bytes` before it connected (TCP_MAXSEG, tcp(7)), or the reason why there is none.
using EchoConnection = std::function<Result<UniqueFd>(std::int64_t mss_bytes)>;

/// The fallback where UDP is filtered: whether 64 KiB pass and come back within 1 s in packets of
/// `interface_mtu_bytes`, then of 9000, 1500, 1440, 1280 and 576 bytes where those are smaller. The
/// sizes found are lower bounds: the next larger step failed. Errors: those of `connect` at the
/// first step.
[[nodiscard]] Result<PathMtu> tcp_mss_probe(const EchoConnection& connect, int family,
                                            std::int64_t interface_mtu_bytes, Deadline deadline);

}  // namespace netbench::facts
