#include <array>

#include "report/diagnose/attempt.hpp"
#include "report/diagnose/connection_judges.hpp"

namespace netbench::report {

namespace {

/// Errors that say their cause themselves.
Verdict told(Look& look, std::initializer_list<std::string_view> codes) {
  const Attempt attempt(look);
  if (const auto other = attempt.not_among(codes)) {
    return *other;
  }
  look.cite("/error/message");
  return fires(Confidence::confirmed, 1, attempt.ladder(), look.document().error->message,
               attempt.remedy({}));
}

Verdict judge_key(Look& look) {
  return told(look, {"key-missing", "key-malformed", "key-unknown", "key-wrong", "key-file-open",
                     "key-file-unreadable", "agent-wants-key", "agent-insecure"});
}
Verdict judge_version(Look& look) {
  return told(look, {"version-mismatch", "plugin-mismatch", "plugin-version"});
}
Verdict judge_stranger(Look& look) { return told(look, {"not-an-agent", "bad-frame", "protocol"}); }
Verdict judge_busy(Look& look) { return told(look, {"peer-busy"}); }
Verdict judge_lost(Look& look) {
  return told(look, {"peer-closed", "peer-lost", "control-timeout"});
}

constexpr Rule rung(std::string_view id, std::string_view class_id, Verdict (*judge)(Look&)) {
  return {id, class_id, Scope::connection, Kind::defect, Severity::problem, judge};
}

constexpr Rule of_hosts(std::string_view id, std::string_view class_id, Verdict (*judge)(Look&)) {
  return {id, class_id, Scope::hosts, Kind::defect, Severity::problem, judge};
}

// The ladder, from below.
constexpr std::array kRules = {
    rung("connect.name", "C06", judge_name),
    rung("connect.no-route", "C05", judge_no_route),
    rung("connect.no-carrier", "C13", judge_no_carrier),
    rung("connect.own-ports", "C16", judge_own_ports),
    rung("connect.own-output", "C11", judge_own_output),
    rung("connect.own-policy", "C15", judge_own_policy),
    rung("connect.netmask", "C14", judge_netmask),
    rung("connect.unused-address", "C04", judge_unused_address),
    rung("connect.duplicate-address", "C17", judge_duplicate_address),
    rung("connect.router", "C12", judge_router),
    rung("connect.reverse-path", "C10", judge_reverse_path),
    rung("connect.nothing-listens", "C01", judge_nothing_listens),
    rung("connect.other-address", "C07", judge_other_address),
    rung("connect.dropped", "C02", judge_dropped),
    rung("connect.rejected-port", "C03", judge_rejected_port),
    rung("connect.rejected-host", "C03b", judge_rejected_host),
    rung("connect.reset-by-firewall", "C03c", judge_reset_by_firewall),
    rung("connect.accept-queue", "C09", judge_accept_queue),
    of_hosts("connect.conntrack", "C08", judge_conntrack),
    rung("connect.stranger", "", judge_stranger),
    rung("connect.busy", "", judge_busy),
    rung("connect.key", "", judge_key),
    rung("connect.version", "", judge_version),
    rung("connect.lost", "", judge_lost),
    of_hosts("connect.data-port", "C18", judge_data_port),
    Rule{"hosts.netmasks", "C14", Scope::hosts, Kind::defect, Severity::warning, judge_netmasks}};

}  // namespace

RuleTable connection_rules() { return kRules; }

}  // namespace netbench::report
