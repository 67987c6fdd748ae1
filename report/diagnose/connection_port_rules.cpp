#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <sstream>

#include "report/diagnose/attempt.hpp"
#include "report/diagnose/connection_judges.hpp"

namespace netbench::report {

namespace {

/// A closed port refuses at once; a firewall's ICMP refuses with the second packet, after a second
/// (measured: Linux takes the first for a soft error).
constexpr double kAtOnce_ms = 900;
/// Of the table of tracked connections.
constexpr double kTableFull = 0.98;
// ICMP (RFC 792, RFC 1812 section 5.2.7.1) and ICMPv6 (RFC 4443, section 3.1).
constexpr double kUnreachable = 3;
constexpr double kPort = 3;
constexpr double kUnreachable6 = 1;
constexpr double kPort6 = 4;

/// What kind of rejection a firewall sent, by the ICMP error or, without it, by the error number.
enum class Rejection { port, host, none };

Rejection rejection_of(Attempt& attempt) {
  const auto type = attempt.number("icmp_type");
  const auto code = attempt.number("icmp_code");
  if (type && code) {
    const bool port =
        (*type == kUnreachable && *code == kPort) || (*type == kUnreachable6 && *code == kPort6);
    return port ? Rejection::port : Rejection::host;
  }
  const auto number = attempt.number("errno");
  return number == ECONNREFUSED   ? Rejection::port
         : number == EHOSTUNREACH ? Rejection::host
                                  : Rejection::none;
}

std::vector<std::string> open_port(Attempt& attempt) {
  const std::string port = attempt.port();
  return attempt.remedy(
      {"on the peer: nft list ruleset; iptables -S INPUT   (which table and chain refuse?)",
       fmt::format(
           "on the peer, by what manages its rules: firewall-cmd --add-port={0}/tcp, ufw allow "
           "{0}/tcp, iptables -I INPUT -p tcp --dport {0} -j ACCEPT, or nft insert rule "
           "FAMILY TABLE CHAIN tcp dport {0} accept",
           port)});
}

Verdict rejected(Look& look, Rejection kind, const char* cause) {
  Attempt attempt(look);
  if (const auto other = attempt.not_among({"peer-rejected", "peer-refused"})) {
    return *other;
  }
  const auto elapsed = attempt.number("elapsed_ms");
  const bool late = elapsed && *elapsed >= kAtOnce_ms;
  if (attempt.ended_with({"peer-refused"}) && !late && !attempt.number("icmp_type")) {
    return silent("refused by a reset, at once");
  }
  const Rejection seen = rejection_of(attempt);
  if (seen == Rejection::none) {
    return unknown(attempt.ladder() + "; neither the ICMP error nor the error number is known");
  }
  if (seen != kind) {
    return silent(attempt.ladder() + (kind == Rejection::port ? "; not the port's ICMP error"
                                                              : "; the port's ICMP error"));
  }
  const auto from = attempt.text("icmp_from");
  return fires(from || late ? Confidence::confirmed : Confidence::likely, 1, attempt.ladder(),
               fmt::format("{}{}", cause, from ? fmt::format(" It came from {}.", *from) : ""),
               open_port(attempt));
}

/// Other causes that look like a dropped packet, and what speaks for them.
std::optional<std::string> better_cause(Look& look, Attempt& attempt) {
  for (const End end : kEnds) {
    if (conntrack_is_full(look, end)) {
      return fmt::format("the table of connections of {} is full", look.host_name(end));
    }
  }
  if (attempt.number("netstat.IPReversePathFilter").value_or(0) > 0 ||
      attempt.number("peer_reverse_path_drops").value_or(0) > 0) {
    return "a reverse-path filter counts drops";
  }
  if (attempt.number("peer_listen_overflows").value_or(0) > 0 ||
      attempt.number("netstat.ListenOverflows").value_or(0) > 0) {
    return "an accept queue counts overflows";
  }
  if (attempt.number("peer_out_rsts").value_or(0) > 0) {
    return "the peer does answer";
  }
  if (const auto back = attempt.text("peer_way_back"); back && back->empty()) {
    return "the peer has no route back";
  }
  const auto state = attempt.text("neighbour_state");
  if (state && *state == "absent" && attempt.number("netstat.TCPRetransFail").value_or(0) > 0) {
    return "the packets did not leave this host";
  }
  return std::nullopt;
}

/// Whether the listeners "192.168.1.101:18550 [::]:18550" take what is sent to the address.
bool is_among(const std::string& address, const std::string& listeners) {
  std::string one;
  for (std::istringstream words(listeners); words >> one;) {
    const bool everywhere = one.starts_with("0.0.0.0") || one.starts_with("[::]:") ||
                            one == "[::]" || one.starts_with("*");
    if (everywhere || one == address || one.starts_with(address + ":") ||
        one.starts_with("[" + address + "]")) {
      return true;
    }
  }
  return false;
}

/// The peer was asked, and neither its queues nor its filters nor its routes explain the silence.
bool is_cleared_by_witness(Attempt& attempt) {
  return attempt.text("peer_listens_on") && attempt.number("peer_out_rsts") == 0.0 &&
         attempt.number("peer_listen_overflows") == 0.0 &&
         attempt.number("peer_reverse_path_drops") == 0.0 &&
         !attempt.text("peer_way_back").value_or("").empty();
}

/// A data connection, or a datagram, that did not come though the control connection stands.
bool is_data_port_error(std::string_view slug) {
  return slug == "data-timeout" || slug == "udp-no-answer";
}

}  // namespace

bool conntrack_is_full(Look& look, End end) {
  const auto count = look.fact(end, "conntrack.count");
  const auto most = look.fact(end, "conntrack.max");
  return count && most && *most > 0 && *count >= kTableFull * *most;
}

Verdict judge_nothing_listens(Look& look) {
  Attempt attempt(look);
  if (const auto other = attempt.not_among({"peer-refused"})) {
    return *other;
  }
  const auto elapsed = attempt.number("elapsed_ms");
  if ((elapsed && *elapsed >= kAtOnce_ms) || attempt.number("icmp_type")) {
    return silent(attempt.ladder() + "; refused by an ICMP error, not by the port");
  }
  const auto listens = attempt.text("peer_listens_on");
  if ((listens && !listens->empty()) || attempt.number("peer_out_rsts") == 0.0) {
    return silent(attempt.ladder() + "; the peer says another cause");
  }
  return fires(
      listens ? Confidence::confirmed : Confidence::likely, listens ? 1 : 0.95, attempt.ladder(),
      fmt::format("Nothing listens on port {} of {}.", attempt.port(), attempt.address()),
      attempt.remedy({fmt::format("on the peer: ss -ltn 'sport = :{}'   (on which address; "
                                  "if it listens, a firewall resets)",
                                  attempt.port()),
                      "on the peer: netbench agent"}));
}

Verdict judge_other_address(Look& look) {
  Attempt attempt(look);
  if (const auto other = attempt.not_among({"peer-refused"})) {
    return *other;
  }
  const auto listens = attempt.text("peer_listens_on");
  if (!listens) {
    return unknown("on which address the agent listens can only be seen on the peer");
  }
  if (listens->empty()) {
    return silent("nothing listens on that port at all");
  }
  const std::string why = fmt::format("{}; the agent listens on {}", attempt.ladder(), *listens);
  if (is_among(attempt.address(), *listens)) {
    return silent(why);
  }
  return fires(
      Confidence::confirmed, 1, why,
      fmt::format("The agent listens on {} alone, not on {}.", *listens, attempt.address()),
      {fmt::format("on the peer: netbench agent --bind {}", attempt.address())});
}

Verdict judge_dropped(Look& look) {
  Attempt attempt(look);
  if (const auto other = attempt.not_among({"peer-dropped"})) {
    return *other;
  }
  if (const auto better = better_cause(look, attempt)) {
    return silent(attempt.ladder() + "; " + *better);
  }
  const auto state = attempt.text("neighbour_state");
  const std::string why =
      fmt::format("{}; neighbour {}, {} repeats", attempt.ladder(), state.value_or("not known"),
                  attempt.number("syn_retransmits").value_or(0));
  if (state && *state == "unanswered") {
    return silent(why);
  }
  if (is_cleared_by_witness(attempt)) {
    return fires(Confidence::confirmed, 1, why + "; the peer's TCP saw nothing of it",
                 fmt::format("A firewall between {} and its port {} drops what is sent there.",
                             attempt.address(), attempt.port()),
                 open_port(attempt));
  }
  const auto ping = attempt.number("ping_answered");
  const bool direct = state && *state == "reachable" && attempt.number("gateway") != 1.0;
  if (ping == 0.0 || (!direct && ping != 1.0)) {
    return fires(
        Confidence::possible, 0.8, why + (ping ? "; no answer to ping" : ""),
        fmt::format("A firewall drops what is sent to port {} of {}, or its answers have no "
                    "way back.",
                    attempt.port(), attempt.address()),
        open_port(attempt));
  }
  return fires(Confidence::likely, 0.95, why + (ping ? "; ping is answered" : ""),
               fmt::format("{} is there, but a firewall drops what is sent to its port {}.",
                           attempt.address(), attempt.port()),
               open_port(attempt));
}

Verdict judge_rejected_port(Look& look) {
  return rejected(look, Rejection::port, "A firewall rejects the port (ICMP port unreachable).");
}

Verdict judge_rejected_host(Look& look) {
  return rejected(look, Rejection::host,
                  "A firewall rejects the connection as prohibited; \"No route to host\" is its "
                  "answer, the route exists.");
}

Verdict judge_reset_by_firewall(Look& look) {
  Attempt attempt(look);
  if (const auto other = attempt.not_among({"peer-refused"})) {
    return *other;
  }
  const auto resets = attempt.number("peer_out_rsts");
  if (!resets) {
    return unknown("whether the peer or its firewall sent the reset can only be seen there");
  }
  if (*resets > 0) {
    return silent(fmt::format("the peer itself sent {:.0f} resets", *resets));
  }
  const bool listens = !attempt.text("peer_listens_on").value_or("").empty();
  return fires(listens ? Confidence::confirmed : Confidence::likely, 1,
               attempt.ladder() + "; the peer's TCP sent no reset",
               "A firewall answers with a reset in the peer's name.", open_port(attempt));
}

Verdict judge_accept_queue(Look& look) {
  Attempt attempt(look);
  if (const auto other = attempt.not_among({"peer-dropped"})) {
    return *other;
  }
  const auto there = attempt.number("peer_listen_overflows");
  const auto here = attempt.number("netstat.ListenOverflows");
  if (!there && !here) {
    return unknown("overflows of the accept queue are counted by the peer (TcpExtListenOverflows)");
  }
  const double overflows = there.value_or(0) + here.value_or(0);
  const std::string why = fmt::format("{}; {:.0f} overflows", attempt.ladder(), overflows);
  if (overflows <= 0) {
    return silent(why);
  }
  return fires(
      Confidence::confirmed, 1, why,
      "The port is open, but its program does not accept: the queue of new connections is "
      "full.",
      {fmt::format("on the peer: ss -ltn 'sport = :{}'   (Recv-Q above Send-Q)", attempt.port()),
       "restart that program; sysctl -w net.core.somaxconn=4096 and a larger backlog"});
}

Verdict judge_conntrack(Look& look) {
  return either_end(look, [](Look& at, End end) {
    const auto count = at.fact(end, "conntrack.count");
    const auto most = at.fact(end, "conntrack.max");
    if (!count || !most) {
      return unknown(fmt::format("{}: table of connections not read", at.host_name(end)));
    }
    const std::string why =
        fmt::format("{}: {:.0f} of {:.0f} tracked connections", at.host_name(end), *count, *most);
    if (!conntrack_is_full(at, end)) {
      return silent(why);
    }
    return fires(
        Confidence::confirmed, 1, why,
        "The table of tracked connections is full: new ones are dropped (" + why + ").",
        {fmt::format("on {}: sysctl -w net.netfilter.nf_conntrack_max=1048576", at.host_name(end)),
         "notrack rules for the traffic that needs no tracking"});
  });
}

Verdict judge_data_port(Look& look) {
  std::string failed;
  const auto& rows = look.document().measurements;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rows[i].error && is_data_port_error(rows[i].error->slug)) {
      look.cite(fmt::format("/measurements/{}/error", i));
      failed += (failed.empty() ? "" : ", ") + rows[i].id;
    }
  }
  const Attempt attempt(look);
  if (failed.empty() && !attempt.ended_with({"data-timeout"})) {
    return rows.empty() ? unknown("no data connection was tried")
                        : silent("every data connection came");
  }
  const std::string what = failed.empty() ? attempt.ladder() : failed;
  return fires(Confidence::likely, 0.9, "data connections that did not come: " + what,
               "The control connection works, but data connections do not come through: a firewall "
               "passes the one and not the other (" +
                   what + ").",
               {"open port 18550 on the agent's host for TCP and UDP",
                "a firewall that counts new connections (limit, connlimit) must allow several"});
}

}  // namespace netbench::report
