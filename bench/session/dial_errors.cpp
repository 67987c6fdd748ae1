#include <fmt/format.h>

#include <cerrno>
#include <chrono>
#include <cstring>

#include "bench/session/dial.hpp"

namespace netbench::session {

namespace {

using namespace std::chrono_literals;

// A closed port answers a SYN in a round trip; an ICMP reject counts from the second SYN on, 1 s
// later; a router gives up its own address resolution after about 3 s (measured, Linux 6.18).
constexpr Nanoseconds kAtOnce = 500ms;
constexpr Nanoseconds kRouterGivesUp = 2500ms;

struct Explanation {
  const char* slug;
  std::string what;
  std::string remedy;
};

std::string open_port(const SocketAddress& to) {
  return fmt::format(
      "open the port on the peer: `nft insert rule inet filter input tcp dport {0} accept`, or "
      "`firewall-cmd --add-port={0}/tcp`; see also this host's output rules",
      to.port());
}

Explanation refused(const SocketAddress& to, const ConnectFailure& failure) {
  if (failure.elapsed >= kAtOnce) {
    return {"peer-rejected", "the answers came late: a firewall rejects the port", open_port(to)};
  }
  return {"peer-refused", "nothing listens on that port of that address, or a firewall resets it",
          fmt::format("start `netbench agent` on the peer; if it runs, see with `ss -ltn` that it "
                      "listens on {}",
                      to.text())};
}

Explanation unreachable(const SocketAddress& to, const ConnectFailure& failure) {
  const bool answered = failure.neighbour.state == NeighbourState::reachable;
  if (answered && (!failure.neighbour.gateway || failure.elapsed < kRouterGivesUp)) {
    return {"peer-rejected", "a firewall rejects the port: the next hop itself answers",
            open_port(to)};
  }
  if (answered) {
    return {"peer-unreachable", "the next router answers, but does not reach the peer",
            "check the peer's address and that it is up, and the route behind the router"};
  }
  return {"peer-unreachable", "no host answers for that address on the network",
          "check the peer's address, netmask and VLAN, the cable, and that the peer is up"};
}

Explanation timed_out(const SocketAddress& to, const ConnectFailure& failure) {
  if (failure.neighbour.state == NeighbourState::unanswered) {
    return unreachable(to, failure);
  }
  return {"peer-dropped",
          "no answer of any kind: a firewall drops the packets, or the answers do not come back",
          open_port(to) + "; then check the peer's netmask, route back and reverse-path filter"};
}

Explanation explain(const SocketAddress& to, const ConnectFailure& failure) {
  switch (failure.sys_errno) {
    case ECONNREFUSED:
      return refused(to, failure);
    case EHOSTUNREACH:
    case EHOSTDOWN:
      return unreachable(to, failure);
    case ETIMEDOUT:
      return timed_out(to, failure);
    case ENETUNREACH:
    case ENETDOWN:
    case EADDRNOTAVAIL:
      return {"no-route", "this host has no route to that address",
              fmt::format("see `ip route get {}`; check this host's addresses, routes and link",
                          to.host())};
    case EACCES:
    case EPERM:
      return {"connect-denied", "this host's own firewall or security policy forbids it",
              "see this host's output rules (`nft list ruleset`) and `ausearch -m avc`"};
    default:
      return {"connect-failed", "the system refused", {}};
  }
}

}  // namespace

Error explain_connect(const SocketAddress& to, const ConnectFailure& failure) {
  Explanation why = explain(to, failure);
  return Error{why.slug,
               fmt::format("connecting to {} failed after {:.3f} s ({}): {}", to.text(),
                           std::chrono::duration<double>(failure.elapsed).count(),
                           std::strerror(failure.sys_errno), why.what),
               std::move(why.remedy), ExitClass::nothing_measured};
}

}  // namespace netbench::session
