#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "report/diagnose/rdma_completion.hpp"
#include "report/diagnose/rdma_failures.hpp"
#include "report/diagnose/rdma_judges.hpp"
#include "report/diagnose/rdma_signals.hpp"
#include "report/diagnose/verdicts.hpp"

namespace netbench::report {

namespace {

using M = RdmaMeaning;

/// IPv4 20, UDP 8, BTH 12, RETH 16, ICRC 4; IPv6 20 more.
constexpr double kRoceHeaders = 60;

/// Nothing came back: the card gave up, or the harness did.
bool is_silence(const Error& error) {
  const auto completion = completion_of(error);
  return completion == Completion::retry_exceeded || completion == Completion::response_timeout ||
         begins(error, {"visit-deadline", "no-progress", "rdma-timeout", "rdma-no-completion",
                        "verbs-stalled", "verbs-message-lost", "verbs-peer-silent"});
}

/// A number that was asked of a row: failed ones have no effective values.
std::optional<double> asked(Look& look, const std::string& name) {
  const auto& requested = look.row()->tunables.requested;
  const auto found = requested.find(name);
  const auto* number =
      found == requested.end() ? nullptr : std::get_if<std::int64_t>(&found->second);
  return number == nullptr ? look.setting(End::sender, name)
                           : std::optional(static_cast<double>(*number));
}

/// The index of the GID table that was asked for at an end: "3", or "1:3" of initiator and
/// responder.
std::optional<std::string> asked_gid(const Look& look, End end) {
  const auto& requested = look.row()->tunables.requested;
  const auto found = requested.find("verbs.gid_index");
  if (found == requested.end()) {
    return std::nullopt;
  }
  if (const auto* number = std::get_if<std::int64_t>(&found->second)) {
    return std::to_string(*number);
  }
  const auto* text = std::get_if<std::string>(&found->second);
  if (text == nullptr || *text == "auto") {
    return std::nullopt;
  }
  const auto colon = text->find(':');
  const bool initiator = (end == End::sender) != (look.row()->direction == Direction::reverse);
  return colon == std::string::npos ? *text
         : initiator                ? text->substr(0, colon)
                                    : text->substr(colon + 1);
}

std::string way(const Look& look) {
  return fmt::format("from {} to {}", look.host_name(End::sender), look.host_name(End::receiver));
}

std::vector<std::string> roce_firewall(Look& look) {
  const std::string host = look.host_name(End::receiver);
  return {
      fmt::format("on {}, by what manages its rules: firewall-cmd --add-port=4791/udp, ufw allow "
                  "4791/udp, or nft insert rule FAMILY TABLE CHAIN udp dport 4791 accept "
                  "(software RDMA passes the host's firewall, cards do not)",
                  host),
      "on the way: access lists and security groups for UDP 4791, both ways",
      fmt::format("the route and the neighbour on the GID's own interface: ip route get PEER "
                  "oif {}",
                  look.interface(End::sender))};
}

bool refuses(Look& look, End end) {
  return look.fact(end, "firewall.input_refuses").value_or(0) != 0 ||
         look.fact_text(end, "firewall.input_policy") == "drop";
}

}  // namespace

const Error& failure_of(Look& look) {
  look.cite(
      fmt::format("/measurements/{}/error/code", look.row() - look.document().measurements.data()));
  return *look.row()->error;
}

bool begins(const Error& error, std::initializer_list<std::string_view> starts) {
  return std::ranges::any_of(starts, [&](auto start) { return error.slug.starts_with(start); });
}

Verdict another_error(const Error& error) { return silent("the row ended with " + error.slug); }

Verdict judge_rdma_never_arrived(Look& look) {
  const Error& error = failure_of(look);
  if (!is_silence(error)) {
    return another_error(error);
  }
  const End to = responder(look);
  const auto arrived = rdma_count(look, to, {M::packets_arrived, M::requests_arrived});
  const auto waited = rdma_count(look, requester(look), {M::ack_timeouts, M::retries_exceeded});
  const bool filtered = refuses(look, to) && is_software(look);
  if (!arrived && !filtered) {
    return unknown("what arrived at the other end was not counted");
  }
  const std::string why =
      fmt::format("{} arrived at {}{}{}",
                  !arrived             ? "not known what"
                  : arrived->total > 0 ? arrived->names
                                       : "nothing",
                  look.host_name(to), waited && waited->total > 0 ? "; " + waited->names : "",
                  filtered ? "; its firewall refuses packets" : "");
  if (arrived && arrived->total > 0) {
    return silent(why);
  }
  return fires(arrived ? Confidence::confirmed : Confidence::likely, 1, why,
               fmt::format("RDMA packets {} never arrive, although TCP passes: filtered (UDP 4791) "
                           "or not routed: {}",
                           way(look), why),
               roce_firewall(look));
}

Verdict judge_rdma_lost_on_the_way(Look& look) {
  const Error& error = failure_of(look);
  if (!is_silence(error)) {
    return another_error(error);
  }
  const auto arrived = rdma_count(look, responder(look), {M::packets_arrived, M::requests_arrived});
  const auto lost = rdma_count(look, responder(look), {M::out_of_sequence});
  if (arrived && arrived->total <= 0) {
    return silent("nothing arrived at all");
  }
  const std::string why =
      fmt::format("{}; {}", error.slug,
                  !arrived ? "what arrived was not counted"
                           : arrived->names + (lost && lost->total > 0 ? ", " + lost->names : ""));
  return fires(
      lost && lost->total > 0 ? Confidence::likely : Confidence::possible, arrived ? 0.8 : 0.5, why,
      fmt::format("no acknowledgement came back within all retries {}: {}", way(look), why),
      {"see whether the peer still runs, and its own first error",
       "find the loss: flow control of the class in use (R03), a path MTU above the "
       "network's, cables; longer waits only hide it (--verbs.ack_timeout, "
       "--verbs.retries)"});
}

Verdict judge_rdma_class_not_lossless(Look& look) {
  const Error& error = failure_of(look);
  if (!is_silence(error) || is_software(look)) {
    return another_error(error);
  }
  const Measurement& own = *look.row();
  const auto& rows = look.document().measurements;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto& requested = rows[i].tunables.requested;
    const auto other = requested.find("verbs.traffic_class");
    if (rows[i].transport == own.transport && rows[i].status == MeasurementStatus::ok &&
        !rows[i].error && other != requested.end() &&
        differs_only_in(own, rows[i], "verbs.traffic_class", other->second)) {
      look.cite(fmt::format("/measurements/{}/tunables/requested/verbs.traffic_class", i));
      const auto* number = std::get_if<std::int64_t>(&other->second);
      const std::string why =
          fmt::format("with traffic class {} the same row passes", number == nullptr ? 0 : *number);
      return fires(Confidence::confirmed, 1, why,
                   "these queue pairs do not run in the lossless class of the network: " + why,
                   {fmt::format("--verbs.traffic_class {} on every queue pair (of NCCL NCCL_IB_TC; "
                                "of GPU-initiated ones their own setting)",
                                number == nullptr ? 0 : *number)});
    }
  }
  return unknown("no like row with another traffic class passed");
}

Verdict judge_rdma_mtu_too_large(Look& look) {
  const Error& error = failure_of(look);
  if (!is_silence(error) && completion_of(error) != Completion::local_length) {
    return another_error(error);
  }
  const auto path = asked(look, "verbs.path_mtu");
  const auto near = interface_mtu(look, End::sender, rail_of(look, End::sender));
  const auto far = interface_mtu(look, End::receiver, rail_of(look, End::receiver));
  if (!path || (!near && !far)) {
    return unknown("the path MTU, or the interfaces' MTU, is not known");
  }
  const double room = std::min(near.value_or(*path + 1e4), far.value_or(*path + 1e4));
  const std::string why =
      fmt::format("path MTU {:.0f} and {:.0f} B of headers, in an interface MTU of {:.0f}", *path,
                  kRoceHeaders, room);
  if (*path + kRoceHeaders <= room) {
    return silent(why);
  }
  return fires(Confidence::likely, 1, why,
               "packets of this path MTU do not fit the interface, and large ones vanish: " + why,
               {"--verbs.path_mtu auto",
                fmt::format("or ip link set dev {} mtu {:.0f} at both ends and on the switch",
                            look.interface(End::sender), *path + 104)});
}

Verdict judge_rdma_gids_do_not_fit(Look& look) {
  const Error& error = failure_of(look);
  if (begins(error, {"rdma-no-gid-pair", "rdma-link-layers-differ", "rdma-gid", "verbs-gid"})) {
    return fires(Confidence::confirmed, 1, error.slug, error.message,
                 {error.remedy.empty() ? "--verbs.gid_index auto" : error.remedy,
                  "give both interfaces an address of one family in one subnet, RoCE v2 at both"});
  }
  const auto index = asked_gid(look, End::sender);
  if (!is_silence(error) && !begins(error, {"rdma-qp-", "rdma-no-address-handle"})) {
    return another_error(error);
  }
  if (!index) {
    return judge_rdma_gid_pair(look);
  }
  const auto text = [&](End end, const char* what) {
    return rail_text(look, end, rail_of(look, end),
                     fmt::format("gid.{}.{}", asked_gid(look, end).value_or(""), what));
  };
  const auto near = text(End::sender, "address");
  const auto far = text(End::receiver, "address");
  const std::string why =
      fmt::format("index {} is {} {} on {} and {} {} on {}", *index, near.value_or("not in use"),
                  text(End::sender, "type").value_or(""), look.host_name(End::sender),
                  far.value_or("not in use"), text(End::receiver, "type").value_or(""),
                  look.host_name(End::receiver));
  const bool fit = near && far && text(End::sender, "type") == text(End::receiver, "type") &&
                   near->starts_with("::ffff:") == far->starts_with("::ffff:") &&
                   near->starts_with("fe80:") == far->starts_with("fe80:");
  return fit ? silent(why)
             : fires(Confidence::likely, 1, why,
                     "one GID index means different addresses at the two ends: " + why,
                     {"--verbs.gid_index auto: the pair is chosen from both tables"});
}

}  // namespace netbench::report
