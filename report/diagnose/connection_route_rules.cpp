#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "report/diagnose/attempt.hpp"
#include "report/diagnose/connection_judges.hpp"

namespace netbench::report {

namespace {

std::string state_text(Attempt& attempt) {
  return fmt::format("neighbour {}{}", attempt.text("neighbour_state").value_or("not known"),
                     attempt.number("gateway") == 1.0 ? " (a router)" : "");
}

bool own_carrier_lost(Look& look) { return look.fact(End::sender, "if.*.carrier") == 0.0; }

bool has_errno(Attempt& attempt, std::initializer_list<int> numbers) {
  const auto seen = attempt.number("errno");
  return seen && std::ranges::any_of(numbers, [&](int number) { return *seen == number; });
}

Verdict no_way_back(Attempt& attempt) {
  const std::string here = attempt.text("local_address").value_or("THIS-HOST");
  return fires(Confidence::confirmed, 1, attempt.ladder() + "; the peer has no route to " + here,
               fmt::format("The peer has no route back to {}: a wrong netmask, or a route that is "
                           "missing there.",
                           here),
               {"on the peer: ip -br address; ip route get " + here,
                "the same prefix length on both hosts"});
}

}  // namespace

Verdict judge_name(Look& look) {
  const Attempt attempt(look);
  if (const auto other = attempt.not_among({"unknown-host"})) {
    return *other;
  }
  const std::string& message = look.document().error->message;
  const bool no_server = message.find("EAI_AGAIN") != std::string::npos;
  return fires(
      Confidence::confirmed, 1, attempt.ladder(),
      (no_server ? "No name server answers: " : "The peer's name is not known here: ") + message,
      attempt.remedy({"getent hosts PEER", "cat /etc/resolv.conf"}));
}

Verdict judge_no_route(Look& look) {
  Attempt attempt(look);
  if (const auto other = attempt.not_among({"no-route"})) {
    return *other;
  }
  if (own_carrier_lost(look)) {
    return silent("this host's interface has no carrier, so it has no route");
  }
  if (has_errno(attempt, {EADDRNOTAVAIL})) {
    return silent("there is a route, but no address or port to send from");
  }
  return fires(Confidence::likely, 0.95, attempt.ladder(),
               fmt::format("This host has no route to {}.", attempt.address()),
               attempt.remedy({fmt::format("ip route get {}", attempt.address()),
                               "ip -br address; ip route"}));
}

Verdict judge_no_carrier(Look& look) {
  const Attempt attempt(look);
  if (const auto other =
          attempt.not_among({"no-route", "peer-unreachable", "peer-dropped", "connect-failed"})) {
    return *other;
  }
  const auto carrier = look.fact(End::sender, "if.*.carrier");
  if (!carrier) {
    return unknown("this host's carrier was not read; the peer's can only be seen there");
  }
  if (*carrier != 0) {
    return silent(fmt::format("{} has a carrier", device_of(look, End::sender)));
  }
  return fires(Confidence::confirmed, 1, attempt.ladder(),
               fmt::format("The link of {} is down: no carrier.", device_of(look, End::sender)),
               {fmt::format("ip link set dev {} up", look.interface(End::sender)),
                "the cable, the module, and the switch port or the other host's interface"});
}

Verdict judge_unused_address(Look& look) {
  Attempt attempt(look);
  if (const auto other = attempt.not_among({"peer-unreachable"})) {
    return *other;
  }
  const std::string why = fmt::format("{}; {}", attempt.ladder(), state_text(attempt));
  const auto state = attempt.text("neighbour_state");
  if (own_carrier_lost(look)) {
    return silent(why + "; this host's interface has no carrier");
  }
  if (state && *state != "unanswered") {
    return silent(why);
  }
  const bool gateway = attempt.number("gateway") == 1.0;
  return fires(state ? Confidence::likely : Confidence::possible, 0.9, why,
               gateway ? "The router towards the peer answers nobody's address resolution."
                       : fmt::format("No host of this network answers for {}: a wrong address, "
                                     "another VLAN, a cable, or the peer is down.",
                                     attempt.address()),
               attempt.remedy({fmt::format("ip neighbour show {}", attempt.address()),
                               "on the peer: ip -br address; ip -br link"}));
}

Verdict judge_router(Look& look) {
  Attempt attempt(look);
  if (const auto other = attempt.not_among({"peer-unreachable", "peer-dropped"})) {
    return *other;
  }
  const auto from = attempt.text("icmp_from");
  const auto gateway = attempt.number("gateway");
  const std::string why = fmt::format("{}; {}{}", attempt.ladder(), state_text(attempt),
                                      from ? ", ICMP error from " + *from : "");
  const bool answered_by_router =
      from && *from != attempt.address() && *from != attempt.text("local_address").value_or("");
  if (attempt.number("ping_answered") == 1.0) {
    return silent(why + "; ping is answered");
  }
  if (!gateway && !answered_by_router) {
    return unknown(why + "; whether a router is between is not known");
  }
  const bool reached = attempt.text("neighbour_state") == "reachable" && gateway == 1.0;
  if (!answered_by_router && !reached) {
    return silent(why);
  }
  return fires(answered_by_router ? Confidence::likely : Confidence::possible,
               answered_by_router ? 0.9 : 0.6, why,
               "A router answers, but what it is sent does not reach the peer.",
               attempt.remedy(
                   {"on the router: sysctl net.ipv4.ip_forward; ip route get " + attempt.address(),
                    "on the router: sysctl -w net.ipv4.ip_forward=1"}));
}

// The peer's own side of the subnet cannot be seen from here: its answers must have been counted.
Verdict judge_netmask(Look& look) {
  Attempt attempt(look);
  if (const auto other = attempt.not_among({"peer-dropped"})) {
    return *other;
  }
  if (attempt.number("ping_answered") == 1.0) {
    return silent(attempt.ladder() + "; ping is answered, so answers come back");
  }
  if (const auto back = attempt.text("peer_way_back"); back && back->empty()) {
    return no_way_back(attempt);
  }
  const auto answers = attempt.number("peer_out_rsts");
  const auto own = look.fact(End::sender, "path.prefix_length");
  const auto theirs = look.fact(End::receiver, "path.prefix_length");
  if (!answers && (!own || !theirs)) {
    return unknown("the peer's netmask and answers can only be seen there");
  }
  const std::string why =
      fmt::format("{}; prefix length {} here, {} there; {} answers of the peer", attempt.ladder(),
                  own ? fmt::format("{:.0f}", *own) : "unknown",
                  theirs ? fmt::format("{:.0f}", *theirs) : "unknown",
                  answers ? fmt::format("{:.0f}", *answers) : "unknown");
  if (answers.value_or(0) <= 0 && (!own || !theirs || *own == *theirs)) {
    return silent(why);
  }
  return fires(Confidence::likely, 0.95, why,
               "The peer answers, but its netmask leaves the answers no way back.",
               {"on the peer: ip -br address; ip route get " +
                    attempt.text("local_address").value_or("THIS-HOST"),
                "the same prefix length on both hosts"});
}

Verdict judge_reverse_path(Look& look) {
  Attempt attempt(look);
  if (const auto other = attempt.not_among({"peer-dropped"})) {
    return *other;
  }
  const auto here = attempt.number("netstat.IPReversePathFilter");
  const auto there = attempt.number("peer_reverse_path_drops");
  const std::string why =
      fmt::format("reverse-path filter: {:.0f} packets dropped here, {} by the peer",
                  here.value_or(0), there ? fmt::format("{:.0f}", *there) : "an unknown number");
  if (here.value_or(0) + there.value_or(0) <= 0) {
    return there ? silent(why) : unknown(why);
  }
  const std::string host = here.value_or(0) > 0 ? "this host" : "the peer";
  return fires(
      Confidence::confirmed, 1, attempt.ladder() + "; " + why,
      fmt::format("The reverse-path filter of {} drops the packets: they come in by another "
                  "interface than answers would leave by.",
                  host),
      {fmt::format("on {}: sysctl -w net.ipv4.conf.all.rp_filter=2", host),
       "routes that are the same both ways"});
}

Verdict judge_duplicate_address(Look& look) {
  Attempt attempt(look);
  const auto owners = attempt.number("neighbour_macs");
  if (!owners) {
    return unknown("whether several hosts answer for the address was not tried");
  }
  const std::string why = fmt::format("{:.0f} hosts answer for {}", *owners, attempt.address());
  if (*owners < 2) {
    return silent(why);
  }
  return fires(Confidence::confirmed, 0.95, why,
               fmt::format("Two hosts have the address {}: connections reach one or the other.",
                           attempt.address()),
               {fmt::format("arping -D -I {} {}", look.interface(End::sender), attempt.address()),
                "one address for each host"});
}

Verdict judge_own_output(Look& look) {
  Attempt attempt(look);
  if (const auto other = attempt.not_among({"connect-denied", "peer-dropped"})) {
    return *other;
  }
  const auto failed = attempt.number("netstat.TCPRetransFail");
  const auto state = attempt.text("neighbour_state");
  const std::string why = fmt::format("{}; {}, {:.0f} repeats not sent", attempt.ladder(),
                                      state_text(attempt), failed.value_or(0));
  const bool denied = attempt.ended_with({"connect-denied"});
  if (denied ? has_errno(attempt, {EACCES}) : !state) {
    return denied ? silent(why + "; a security policy says EACCES") : unknown(why);
  }
  if (!denied && (failed.value_or(0) <= 0 || *state == "reachable")) {
    return silent(why);
  }
  return fires(
      Confidence::likely, 0.95, why, "This host's own firewall keeps the connection from leaving.",
      {"on this host: nft list ruleset; iptables -S OUTPUT   (which table and chain refuse?)",
       fmt::format(
           "on this host, by what manages its rules: iptables -I OUTPUT -p tcp --dport {0} -j "
           "ACCEPT, or nft insert rule FAMILY TABLE CHAIN tcp dport {0} accept",
           attempt.port())});
}

Verdict judge_own_policy(Look& look) {
  Attempt attempt(look);
  if (const auto other = attempt.not_among({"connect-denied"})) {
    return *other;
  }
  const auto selinux = look.fact_text(End::sender, "security.selinux").value_or("unknown");
  const auto apparmor = look.fact_text(End::sender, "security.apparmor").value_or("unknown");
  const std::string why =
      fmt::format("{}; SELinux {}, AppArmor {}", attempt.ladder(), selinux, apparmor);
  const auto number = attempt.number("errno");
  if (!number) {
    return unknown(why + "; the error number is not known");
  }
  if (*number != EACCES) {
    return silent(why);
  }
  const bool enforced = selinux == "enforcing" || apparmor.find("enforce") != std::string::npos;
  return fires(enforced ? Confidence::likely : Confidence::possible, 0.9, why,
               "A security policy of this host (SELinux, AppArmor) forbids the connection.",
               {"ausearch -m avc -ts recent; dmesg | grep -i 'apparmor=\"DENIED\"'",
                fmt::format("semanage port -a -t http_port_t -p tcp {}", attempt.port())});
}

Verdict judge_own_ports(Look& look) {
  Attempt attempt(look);
  const auto seen = attempt.number("errno");
  if (!seen) {
    return unknown("the error's number is not known");
  }
  if (*seen != EADDRNOTAVAIL) {
    return silent(fmt::format("error number {:.0f}", *seen));
  }
  return fires(Confidence::likely, 1, attempt.ladder(),
               "This host has no port left to connect from, or the source address is not its own.",
               {"ss -s; cat /proc/net/sockstat   (connections in TIME-WAIT)",
                "sysctl -w net.ipv4.ip_local_port_range=\"10240 65535\""});
}

// One end has the other in its subnet, which must then be so the other way round too; addresses of
// clouds (/32) are alike at both ends.
Verdict judge_netmasks(Look& look) {
  const auto at_sender = look.fact(End::sender, "path.same_subnet");
  const auto at_receiver = look.fact(End::receiver, "path.same_subnet");
  if (!at_sender || !at_receiver) {
    return unknown("whether an end has the other in its subnet was not read");
  }
  const std::string why =
      fmt::format("{} has the other in its subnet: {}; {}: {}", look.host_name(End::sender),
                  *at_sender != 0 ? "yes" : "no", look.host_name(End::receiver),
                  *at_receiver != 0 ? "yes" : "no");
  if (*at_sender == *at_receiver) {
    return silent(why);
  }
  const End narrow = *at_sender != 0 ? End::receiver : End::sender;
  if (look.fact_text(narrow, "path.subnet_interface")) {
    return silent(why + ", by another interface: a route leads past it");
  }
  const auto length = look.fact(narrow, "path.prefix_length");
  return fires(
      Confidence::likely, 0.7, why,
      fmt::format("the netmask of {} leaves {} out of its subnet, which is not so the other "
                  "way round{}",
                  look.host_name(narrow),
                  look.host_name(narrow == End::sender ? End::receiver : End::sender),
                  length ? fmt::format(" (/{:.0f} here)", *length) : ""),
      {fmt::format("on {}: ip -br address show {}   (give both ends the same prefix length)",
                   look.host_name(narrow), look.interface(narrow))});
}

}  // namespace netbench::report
