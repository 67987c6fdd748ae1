#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <map>

#include "report/diagnose/diagnose.hpp"
#include "static_pair.hpp"

namespace netbench::report {
namespace {

using namespace test;

using Seen = std::map<std::string, Value>;

/// A run that did not connect: its error, and what `connect.*` noted.
Document failed(const std::string& code, const Seen& seen = {}) {
  Document document;
  document.status = DocumentStatus::failed;
  document.error = Error{code, "connecting to 192.168.1.101:18550 failed", "see there",
                         ExitClass::nothing_measured};
  document.config["connect.address"] = text("192.168.1.101");
  document.config["connect.port"] = whole(18550);
  for (const auto& [key, value] : seen) {
    document.config["connect." + key] = value;
  }
  document.hosts["h0"] = {"nb-a", {"192.168.1.100"}, "boot-a", "eth0", {}};
  return document;
}

Verdict connection(std::string_view id, const Document& document) {
  return judge(connection_rules(), id, document, -1);
}

/// The rule of that class leads the diagnosis.
void expect_leads(std::string_view class_id, const Document& document) {
  const Diagnosis diagnosis = diagnose(document);
  EXPECT_EQ(diagnosis.findings.at(0).class_id, class_id)
      << diagnosis.findings.at(0).id << ": " << diagnosis.findings.at(0).cause;
  EXPECT_FALSE(diagnosis.findings.at(0).remedy.empty());
}

const Value kReachable = text("reachable");
const Value kAbsent = text("absent");
const Value kUnanswered = text("unanswered");

Seen icmp(std::int64_t type, std::int64_t code, const char* from, int number) {
  return {{"icmp_type", whole(type)},  {"icmp_code", whole(code)},
          {"icmp_from", text(from)},   {"errno", whole(number)},
          {"elapsed_ms", whole(1020)}, {"local_address", text("192.168.1.100")},
          {"gateway", false},          {"neighbour_state", kReachable}};
}

Seen timed_out(const Value& neighbour, bool gateway = false) {
  return {{"errno", whole(ETIMEDOUT)},
          {"elapsed_ms", whole(5000)},
          {"syn_retransmits", whole(3)},
          {"neighbour_state", neighbour},
          {"gateway", gateway}};
}

Seen with(Seen seen, const std::string& key, const Value& value) {
  seen[key] = value;
  return seen;
}

TEST(ConnectionRules, AreUnknownWithoutAnError) {
  expect_all(connection_rules(), Document{}, Outcome::unknown);
}

TEST(ConnectionRules, AreSilentAboutAnotherError) {
  for (const Rule& rule : connection_rules()) {
    const auto verdict = connection(
        rule.id, failed("unfinished", {{"errno", whole(0)}, {"neighbour_macs", whole(1)}}));
    const bool by_facts = rule.scope == Scope::hosts;
    EXPECT_EQ(verdict.outcome, by_facts ? Outcome::unknown : Outcome::silent)
        << rule.id << ": " << verdict.why;
  }
}

TEST(Netmasks, AreAFaultWhereOneEndAloneHasTheOtherInItsSubnet) {
  Document document = healthy_pair();
  document = with_fact(std::move(document), "h0", "path.same_subnet", false);
  document = with_fact(std::move(document), "h0", "path.prefix_length", whole(32));
  const auto verdict = expect_fires(connection_rules(), "hosts.netmasks", document);
  EXPECT_EQ(
      verdict.cause,
      "the netmask of nb-a leaves nb-b out of its subnet, which is not so the other way round "
      "(/32 here)");
  document = with_fact(std::move(document), "h1", "path.same_subnet", false);
  EXPECT_EQ(judge(connection_rules(), "hosts.netmasks", document, -1).outcome, Outcome::silent);
}

TEST(Connection, DatagramsThatDoNotComeBesideAStandingControlConnectionAreAFirewall) {
  Document document = healthy_pair();
  document.measurements[0].error = Error{"udp-no-answer", "UDP does not answer", "", {}};
  const auto verdict = expect_fires(connection_rules(), "connect.data-port", document);
  EXPECT_TRUE(mentions(verdict.remedy, "open port 18550"));
}

TEST(Connection, RefusedAtOnceMeansThatNothingListens) {
  const auto document =
      failed("peer-refused", {{"errno", whole(ECONNREFUSED)}, {"elapsed_ms", whole(0)}});
  expect_leads("C01", document);
  EXPECT_TRUE(mentions(connection("connect.nothing-listens", document).remedy, "netbench agent"));
}

TEST(Connection, NamesTheRungAndThosePassed) {
  const auto verdict = connection("connect.nothing-listens", failed("peer-refused"));
  EXPECT_NE(verdict.why.find("rung 7 of 11, port"), std::string::npos) << verdict.why;
  EXPECT_NE(verdict.why.find("passed: name resolution"), std::string::npos);
}

TEST(Connection, SilenceBehindAKnownNeighbourIsAFirewallThatDrops) {
  expect_leads("C02", failed("peer-dropped", timed_out(kReachable)));
}

TEST(Connection, RemediesSayOnWhichHostAndAssumeNoTableOfTheFirewall) {
  const auto dropped = connection("connect.dropped", failed("peer-dropped", timed_out(kReachable)));
  const bool on_the_peer = std::ranges::any_of(
      dropped.remedy, [](const auto& line) { return line.starts_with("on the peer"); });
  EXPECT_TRUE(on_the_peer);
  for (const auto& line : dropped.remedy) {
    EXPECT_EQ(line.find("inet filter"), std::string::npos) << line;
    EXPECT_FALSE(line.starts_with("nft ") || line.starts_with("iptables ")) << line;
  }
}

TEST(Connection, APingTellsADroppedPortFromAPathThatDoesNotLeadBack) {
  const auto answered =
      failed("peer-dropped", with(timed_out(kReachable, true), "ping_answered", true));
  EXPECT_EQ(connection("connect.dropped", answered).confidence, Confidence::likely);
  EXPECT_EQ(connection("connect.router", answered).outcome, Outcome::silent);
  EXPECT_EQ(connection("connect.netmask", answered).outcome, Outcome::silent);
  const auto silence = failed("peer-dropped", with(timed_out(kReachable), "ping_answered", false));
  EXPECT_EQ(connection("connect.dropped", silence).confidence, Confidence::possible);
}

TEST(Connection, RejectionsAreToldApartByTheirIcmpError) {
  expect_leads("C03", failed("peer-rejected", icmp(3, 3, "192.168.1.101", ECONNREFUSED)));
  expect_leads("C03b", failed("peer-rejected", icmp(3, 10, "192.168.1.101", EHOSTUNREACH)));
  expect_leads("C03b", failed("peer-rejected", icmp(3, 13, "192.168.1.101", EHOSTUNREACH)));
  expect_leads("C03", failed("peer-rejected", icmp(1, 4, "fd00::2", ECONNREFUSED)));
}

TEST(Connection, RejectionsAreToldApartByTheErrorNumberWithoutIt) {
  expect_leads(
      "C03", failed("peer-refused", {{"errno", whole(ECONNREFUSED)}, {"elapsed_ms", whole(1010)}}));
  expect_leads("C03b", failed("peer-rejected",
                              {{"errno", whole(EHOSTUNREACH)}, {"elapsed_ms", whole(1010)}}));
}

TEST(Connection, AResetThatThePeerDidNotSendIsItsFirewalls) {
  expect_leads("C03c", failed("peer-refused", {{"peer_out_rsts", whole(0)}}));
}

TEST(Connection, AnUnansweredNeighbourIsAnUnusedAddress) {
  expect_leads("C04", failed("peer-unreachable", {{"errno", whole(EHOSTUNREACH)},
                                                  {"elapsed_ms", whole(3060)},
                                                  {"neighbour_state", kUnanswered},
                                                  {"gateway", false}}));
}

TEST(Connection, WithoutARouteIsNamed) {
  expect_leads("C05", failed("no-route", {{"errno", whole(ENETUNREACH)}}));
}

TEST(Connection, AnUnknownNameIsToldFromAnAbsentNameServer) {
  Document document = failed("unknown-host");
  document.error->message = "cannot resolve \"gpu7\": Temporary failure (EAI_AGAIN -3)";
  expect_leads("C06", document);
  EXPECT_NE(connection("connect.name", document).cause.find("No name server"), std::string::npos);
}

TEST(Connection, AListenerOnAnotherAddressIsNamed) {
  expect_leads("C07", failed("peer-refused", {{"peer_listens_on", text("127.0.0.1:18550")}}));
  EXPECT_EQ(connection("connect.other-address",
                       failed("peer-refused", {{"peer_listens_on", text("0.0.0.0:18550")}}))
                .outcome,
            Outcome::silent);
}

/// What an agent at another address of the peer saw of the attempt.
Seen witnessed(Seen seen, const char* listens_on, const char* way_back = "eth0",
               std::int64_t resets = 0) {
  seen["peer_listens_on"] = text(listens_on);
  seen["peer_way_back"] = text(way_back);
  seen["peer_out_rsts"] = whole(resets);
  seen["peer_listen_overflows"] = whole(0);
  seen["peer_reverse_path_drops"] = whole(0);
  return seen;
}

void expect_confirmed(std::string_view class_id, const Document& document) {
  expect_leads(class_id, document);
  EXPECT_EQ(diagnose(document).findings.at(0).confidence, Confidence::confirmed);
}

TEST(Connection, AWitnessTellsApartWhatLooksTheSame) {
  const Seen refused = {{"errno", whole(ECONNREFUSED)}, {"elapsed_ms", whole(0)}};
  expect_confirmed("C03c", failed("peer-refused", witnessed(refused, "0.0.0.0:18550")));
  expect_confirmed("C07", failed("peer-refused", witnessed(refused, "127.0.0.1:18550", "eth0", 1)));
  expect_confirmed("C01", failed("peer-refused", witnessed(refused, "", "eth0", 1)));
  const Seen silent = timed_out(kReachable);
  expect_confirmed("C02", failed("peer-dropped", witnessed(silent, "[::]:18550")));
  expect_confirmed("C14", failed("peer-dropped", witnessed(silent, "[::]:18550", "")));
  expect_confirmed("C10", failed("peer-dropped", with(witnessed(silent, "[::]:18550"),
                                                      "peer_reverse_path_drops", whole(3))));
  expect_confirmed("C09", failed("peer-dropped", with(witnessed(silent, "[::]:18550"),
                                                      "peer_listen_overflows", whole(3))));
}

TEST(Connection, AListenerOfALongerAddressIsAnother) {
  const Seen refused = {{"errno", whole(ECONNREFUSED)}, {"elapsed_ms", whole(0)}};
  const Document document =
      failed("peer-refused", witnessed(refused, "192.168.1.10:18550 [::1]:18550", "eth0", 1));
  EXPECT_EQ(connection("connect.other-address", document).outcome, Outcome::fires);
  EXPECT_EQ(connection("connect.other-address",
                       failed("peer-refused", witnessed(refused, "192.168.1.101:18550")))
                .outcome,
            Outcome::silent);
}

TEST(Connection, AFullTableOfConnectionsLeads) {
  Document document = failed("peer-dropped", timed_out(kReachable));
  document = with_fact(std::move(document), "h0", "conntrack.count", whole(65536));
  document = with_fact(std::move(document), "h0", "conntrack.max", whole(65536));
  expect_leads("C08", document);
}

TEST(Connection, AFullAcceptQueueIsCountedByThePeer) {
  const auto seen = timed_out(kReachable);
  EXPECT_EQ(connection("connect.accept-queue", failed("peer-dropped", seen)).outcome,
            Outcome::unknown);
  expect_leads("C09", failed("peer-dropped", with(seen, "peer_listen_overflows", whole(9))));
}

TEST(Connection, AReversePathFilterIsCountedByThePeerOrHere) {
  const auto seen = timed_out(kReachable);
  expect_leads("C10", failed("peer-dropped", with(seen, "peer_reverse_path_drops", whole(7))));
  expect_leads("C10", failed("peer-dropped", with(seen, "netstat.IPReversePathFilter", whole(3))));
}

TEST(Connection, PacketsThatNeverLeftAreThisHostsOwnFirewalls) {
  expect_leads(
      "C11", failed("peer-dropped", with(timed_out(kAbsent), "netstat.TCPRetransFail", whole(6))));
  expect_leads("C11", failed("connect-denied", {{"errno", whole(EPERM)}}));
}

TEST(Connection, ARouterThatDoesNotReachThePeerSaysSo) {
  expect_leads("C12", failed("peer-unreachable", icmp(3, 1, "10.0.0.1", EHOSTUNREACH)));
}

TEST(Connection, BehindARouterDropAndForwardingStayPossible) {
  const auto document = failed("peer-dropped", timed_out(kReachable, true));
  EXPECT_EQ(connection("connect.router", document).confidence, Confidence::possible);
  EXPECT_EQ(connection("connect.dropped", document).confidence, Confidence::possible);
}

TEST(Connection, WithoutACarrierIsThisHostsLink) {
  expect_leads("C13", with_fact(failed("no-route", {{"errno", whole(ENETUNREACH)}}), "h0",
                                "if.eth0.carrier", false));
}

TEST(Connection, AnswersThatCannotComeBackAreTheNetmasks) {
  expect_leads("C14",
               failed("peer-dropped", with(timed_out(kReachable), "peer_out_rsts", whole(7))));
}

TEST(Connection, ASecurityPolicyIsNamedWhereItEnforces) {
  expect_leads("C15", with_fact(failed("connect-denied", {{"errno", whole(EACCES)}}), "h0",
                                "security.selinux", text("enforcing")));
}

TEST(Connection, WithoutAPortLeftIsNamed) {
  expect_leads("C16", failed("no-route", {{"errno", whole(EADDRNOTAVAIL)}}));
}

TEST(Connection, TwoOwnersOfAnAddressAreNamed) {
  expect_leads("C17", failed("peer-refused", {{"neighbour_macs", whole(2)},
                                              {"elapsed_ms", whole(1)},
                                              {"peer_listens_on", text("0.0.0.0:18550")}}));
}

TEST(Connection, DataThatDoesNotComeIsAFirewallOfPorts) {
  Document document = healthy_pair();
  document.measurements[2].error =
      Error{"data-timeout", "no datagram came", "", ExitClass::partial};
  expect_fires(connection_rules(), "connect.data-port", document);
}

TEST(Connection, KeyVersionAndStrangersSpeakForThemselves) {
  for (const auto& [code, id] :
       std::map<std::string, std::string>{{"key-unknown", "connect.key"},
                                          {"agent-wants-key", "connect.key"},
                                          {"version-mismatch", "connect.version"},
                                          {"not-an-agent", "connect.stranger"},
                                          {"peer-busy", "connect.busy"},
                                          {"control-timeout", "connect.lost"}}) {
    EXPECT_EQ(diagnose(failed(code)).findings.at(0).id, id) << code;
    EXPECT_EQ(connection(id, failed(code)).confidence, Confidence::confirmed);
  }
}

}  // namespace
}  // namespace netbench::report
