#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "report/diagnose/rdma_completion.hpp"
#include "report/diagnose/rdma_judges.hpp"
#include "report/diagnose/rdma_signals.hpp"
#include "report/diagnose/verdicts.hpp"

namespace netbench::report {

namespace {

using M = RdmaMeaning;

/// IPv4 20, UDP 8, BTH 12, RETH 16, ICRC 4; IPv6 20 more.
constexpr double kRoceHeaders = 60;

std::string place_of(Look& look) {
  return fmt::format("/measurements/{}/error", look.row() - look.document().measurements.data());
}

/// The row's error, cited.
const Error& error_of(Look& look) {
  look.cite(place_of(look) + "/code");
  return *look.row()->error;
}

bool begins(const Error& error, std::initializer_list<std::string_view> starts) {
  return std::ranges::any_of(starts, [&](auto start) { return error.slug.starts_with(start); });
}

bool says(const Error& error, std::string_view words) {
  return error.message.find(words) != std::string::npos;
}

/// Nothing came back: the card gave up, or the harness did.
bool is_silence(const Error& error) {
  const auto completion = completion_of(error);
  return completion == Completion::retry_exceeded || completion == Completion::response_timeout ||
         begins(error, {"visit-deadline", "no-progress", "rdma-timeout", "rdma-no-completion",
                        "verbs-stalled", "verbs-message-lost", "verbs-peer-silent"});
}

Verdict another_error(const Error& error) { return silent("the row ended with " + error.slug); }

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

Verdict judge_rdma_never_arrived(Look& look) {
  const Error& error = error_of(look);
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
  const Error& error = error_of(look);
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
  const Error& error = error_of(look);
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
  const Error& error = error_of(look);
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
  const Error& error = error_of(look);
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
      fmt::format("index {} is {} {} on {} and {} {} on {}", *index,
                  near.value_or("not in use"), text(End::sender, "type").value_or(""),
                  look.host_name(End::sender), far.value_or("not in use"),
                  text(End::receiver, "type").value_or(""), look.host_name(End::receiver));
  const bool fit = near && far && text(End::sender, "type") == text(End::receiver, "type") &&
                   near->starts_with("::ffff:") == far->starts_with("::ffff:") &&
                   near->starts_with("fe80:") == far->starts_with("fe80:");
  return fit ? silent(why)
             : fires(Confidence::likely, 1, why,
                     "one GID index means different addresses at the two ends: " + why,
                     {"--verbs.gid_index auto: the pair is chosen from both tables"});
}

Verdict judge_rdma_cannot_pin(Look& look) {
  const Error& error = error_of(look);
  const bool pin = begins(error, {"rdma-memlock", "rdma-cannot-pin", "rdma-registration"}) ||
                   says(error, "Cannot allocate memory");
  if (!pin) {
    return another_error(error);
  }
  for (const End end : kEnds) {
    const auto limit = look.fact(end, "rdma.memlock_bytes");
    const bool capable = look.fact(end, "rdma.cap_ipc_lock").value_or(0) != 0;
    if (limit && !capable && *limit < 1e12) {
      const std::string why = fmt::format("{} may lock {:.0f} KiB and has no CAP_IPC_LOCK",
                                          look.host_name(end), *limit / 1024);
      return fires(Confidence::confirmed, 1, why,
                   fmt::format("RDMA could not pin its buffers: {} ({})", why, error.message),
                   {"ulimit -l unlimited; for services LimitMEMLOCK=infinity; for containers "
                    "--ulimit memlock=-1 --cap-add=IPC_LOCK; for users /etc/security/limits.d",
                    "or smaller queues: --verbs.tx_depth, --verbs.rx_depth"});
    }
  }
  return fires(Confidence::likely, 0.9, error.slug, error.message,
               {error.remedy.empty() ? "ulimit -l unlimited" : error.remedy});
}

Verdict judge_rdma_failed_receiver(Look& look) {
  const Error& error = error_of(look);
  if (completion_of(error) != Completion::receiver_not_ready) {
    return another_error(error);
  }
  return fires(Confidence::confirmed, 1, error.slug,
               fmt::format("{} had no receive ready within all retries: {}",
                           look.host_name(responder(look)), error.message),
               {"more receives: --verbs.rx_depth; more patience: --verbs.rnr_retries 7 (for ever)",
                "see whether the peer's program still runs and polls"});
}

Verdict judge_rdma_went_down(Look& look) {
  const Error& error = error_of(look);
  const bool gone = completion_of(error) == Completion::device_failed ||
                    begins(error, {"rdma-device-", "rdma-port-down", "rdma-port-error",
                                   "rdma-port-failed", "verbs-device-gone"});
  double downs = 0;
  for (const End end : kEnds) {
    const auto count = rdma_count(look, end, {M::link_downs});
    const auto carrier = look.total(end, "if.*.carrier_changes");
    downs += (count ? count->total : 0) + carrier.value_or(0);
  }
  if (!gone && downs <= 0) {
    return another_error(error);
  }
  return fires(
      gone ? Confidence::confirmed : Confidence::likely, 1,
      fmt::format("{}; the link changed {:.0f} times", error.slug, downs),
      fmt::format("an RDMA device or its link went away during the run: {}", error.message),
      {"dmesg | grep -iE 'mlx|bnxt|rdma|link'; rdma link",
       "reseat the cable; look for a reset of the card or a device that was removed"});
}

Verdict judge_rdma_not_available(Look& look) {
  const Error& error = error_of(look);
  const bool missing = begins(
      error, {"rdma-no-port", "rdma-no-device", "rdma-no-library", "rdma-library-too-old",
              "rdma-open-failed", "rdma-port-not-active", "rdma-no-provider", "rdma-not-permitted",
              "rdma-no-permission", "rdma-no-uverbs", "transport-unavailable"});
  if (!missing) {
    return another_error(error);
  }
  return fires(Confidence::confirmed, 1, error.slug, "RDMA cannot be used here: " + error.message,
               {error.remedy.empty() ? "rdma link; ls -l /dev/infiniband" : error.remedy});
}

Verdict judge_rdma_peer_gone(Look& look) {
  const Error& error = error_of(look);
  const auto completion = completion_of(error);
  const bool gone = begins(error, {"verbs-peer-closed", "rdma-cm-disconnected"}) ||
                    completion == Completion::flushed || completion == Completion::remote_abort;
  return gone
             ? fires(Confidence::likely, 0.9, error.slug,
                     "the other end went away or failed first: " + error.message,
                     {"see the other end's own error and its program's log: was it killed, did its "
                      "device fail?"})
             : another_error(error);
}

Verdict judge_rdma_wrong_contents(Look& look) {
  const Error& error = error_of(look);
  return begins(error, {"verbs-data-mismatch"})
             ? fires(Confidence::confirmed, 1, error.slug,
                     "messages arrived with wrong contents: " + error.message,
                     {"--verbs.relaxed_ordering off, and compare; the card's firmware may force "
                      "relaxed ordering: mlxconfig -d DEVICE q | grep PCI_WR_ORDERING",
                      "then memory and PCIe errors of both hosts"})
             : another_error(error);
}

Verdict judge_rdma_no_route(Look& look) {
  const Error& error = error_of(look);
  if (!begins(error, {"rdma-qp-ready-to-receive", "rdma-no-address-handle", "rdma-cm-"})) {
    return another_error(error);
  }
  return fires(Confidence::likely, 0.95, error.slug,
               "the card could not address the peer: " + error.message,
               {error.remedy.empty() ? "check the GIDs of both ends" : error.remedy,
                fmt::format("the route and the neighbour on the GID's own interface: ip route get "
                            "PEER oif {}; ip neighbour",
                            look.interface(End::sender))});
}

namespace {

/// What a refused operation means and where to look first.
struct Refusal {
  Completion completion;
  std::string_view cause;
  std::string_view remedy;
};
constexpr std::array<Refusal, 8> kRefusals{
    {{Completion::local_length, "a message is longer than the buffer or the packet it has to fit",
      "of UD, messages up to the path MTU; larger receives"},
     {Completion::local_protection, "the card may not touch this end's memory",
      "of GPU memory: ACS and the IOMMU on the way between card and GPU; of host memory: a buffer "
      "that is registered no more"},
     {Completion::local_access, "a request came to memory of this end that it may not touch",
      "the access flags of the memory region"},
     {Completion::remote_invalid, "the peer's card refuses the operation",
      "what its queue pair allows, its read depth (--verbs.read_depth), the length"},
     {Completion::remote_access, "the peer's memory may not be touched so",
      "its key, range and access flags; memory on demand or of a GPU that was revoked"},
     {Completion::remote_operation, "the peer could not carry the operation out",
      "the peer's own first error"},
     {Completion::local_operation, "this end's card could not carry the operation out",
      "an operation that this kind of queue pair has not (--verbs.qp, --verbs.op)"},
     {Completion::bad_response, "the peer answered with something unexpected",
      "the firmware and driver of both cards"}}};

}  // namespace

Verdict judge_rdma_memory_refused(Look& look) {
  const Error& error = error_of(look);
  const auto completion = completion_of(error);
  const auto refusal = std::ranges::find_if(
      kRefusals, [&](const Refusal& one) { return completion == one.completion; });
  if (refusal == kRefusals.end()) {
    return another_error(error);
  }
  const auto counted = rdma_count(look, responder(look), {M::refused_requests});
  const std::string why =
      fmt::format("{}{}", completion_text(*completion),
                  counted && counted->total > 0 ? "; the peer counts " + counted->names : "");
  return fires(Confidence::likely, 0.9, why,
               fmt::format("{}: {} ({})", refusal->cause, error.message, why),
               {std::string(refusal->remedy)});
}

Verdict judge_rdma_failed(Look& look) {
  const Error& error = error_of(look);
  const auto completion = completion_of(error);
  return fires(Confidence::possible, 0.3, completion ? completion_text(*completion) : error.slug,
               "a row of RDMA failed: " + error.message,
               {error.remedy.empty() ? "netbench doctor --peer HOST" : error.remedy});
}

}  // namespace netbench::report
