#include <fmt/format.h>
#include <netinet/icmp6.h>
#include <netinet/ip_icmp.h>

#include <cerrno>
#include <chrono>
#include <cstring>

#include "bench/session/dial.hpp"

namespace netbench::session {

namespace {

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

std::string sender_of(const IcmpAnswer& answer) {
  return fmt::format("{} (ICMP type {} code {})", answer.from.host(), answer.type, answer.code);
}

// Says that the host is not there, rather than that it does not want to.
bool says_absent(const IcmpAnswer& answer) {
  return answer.from.family() == AF_INET6
             ? answer.type == ICMP6_DST_UNREACH && (answer.code == ICMP6_DST_UNREACH_NOROUTE ||
                                                    answer.code == ICMP6_DST_UNREACH_ADDR)
             : answer.type == ICMP_DEST_UNREACH &&
                   (answer.code == ICMP_NET_UNREACH || answer.code == ICMP_HOST_UNREACH);
}

Explanation denied() {
  return {"connect-denied", "this host's own firewall or security policy forbids it",
          "see this host's output rules (`nft list ruleset`) and `ausearch -m avc`"};
}

Explanation absent() {
  return {"peer-unreachable", "no host answers for that address on the network",
          "check the peer's address, netmask and VLAN, the cable, and that the peer is up"};
}

// A host that reports itself as absent is there: a firewall speaks. This host reports a peer as
// absent when nobody answers its address resolution.
Explanation answered_by_icmp(const SocketAddress& to, const ConnectFailure& failure) {
  const IcmpAnswer& answer = *failure.icmp;
  const bool by_peer = answer.from.host() == to.host();
  const bool by_self = answer.from.host() == failure.local.host();
  if (!by_peer && says_absent(answer)) {
    return by_self ? absent()
                   : Explanation{"peer-unreachable",
                                 "a router does not reach the peer: " + sender_of(answer),
                                 "check the peer's address, that it is up, and the route behind "
                                 "that router"};
  }
  if (by_self && !by_peer) {
    return denied();
  }
  return {"peer-rejected", "a firewall rejects the port: " + sender_of(answer), open_port(to)};
}

Explanation unreachable(const SocketAddress& to, const ConnectFailure& failure) {
  if (failure.neighbour.state != NeighbourState::reachable) {
    return absent();
  }
  if (failure.neighbour.gateway) {
    return {"peer-unreachable", "the next router answers, but does not reach the peer",
            "check the peer's address and that it is up, and the route behind the router"};
  }
  return {"peer-rejected", "a firewall rejects the port: the peer itself is reachable",
          open_port(to)};
}

Explanation timed_out(const SocketAddress& to, const ConnectFailure& failure) {
  if (failure.neighbour.state == NeighbourState::unanswered) {
    return absent();
  }
  return {"peer-dropped",
          "no answer of any kind: a firewall drops the packets, or the answers do not come back",
          open_port(to) + "; then check the peer's netmask, route back and reverse-path filter"};
}

Explanation explain(const SocketAddress& to, const ConnectFailure& failure) {
  if (failure.icmp) {
    return answered_by_icmp(to, failure);
  }
  switch (failure.sys_errno) {
    case ECONNREFUSED:
      return {"peer-refused",
              "nothing listens on that port of that address, or a firewall resets it",
              fmt::format("start `netbench agent` on the peer; if it runs, see with `ss -ltn` that "
                          "it listens on {}",
                          to.text())};
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
      return denied();
    default:
      return {"connect-failed", "the system refused", "see the system's log (`dmesg`)"};
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
