#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/diagnose/rdma_judges.hpp"
#include "report/diagnose/rdma_signals.hpp"
#include "report/diagnose/verdicts.hpp"

namespace netbench::report {

namespace {

using M = RdmaMeaning;

/// Less than this of the payload in a port's counter, and it counts something else.
constexpr double kOwnShare = 0.9;
/// Share of received packets from which loss is felt: each costs a round trip or a time-out.
constexpr double kLossFelt = 1e-5;

std::string counted(const Look& look, End end, const RdmaCount& count) {
  return fmt::format("{} {}", look.host_name(end), count.names.empty() ? "none" : count.names);
}

std::string rail_interface(Look& look, End end) {
  return rail_text(look, end, rail_of(look, end), "interface").value_or(look.interface(end));
}

std::vector<std::string> loss_remedy(Look& look) {
  if (is_software(look)) {
    return {fmt::format("ip -s link show {}; tc -s qdisc show dev {}", look.interface(End::sender),
                        look.interface(End::sender)),
            "find the drops on the way: queueing disciplines, firewalls, switches, a receiver "
            "without CPU time"};
  }
  return {fmt::format("on {}: mlnx_qos -i {} or dcb pfc show dev {}: is the class of this traffic "
                      "lossless, here and on every switch port?",
                      look.host_name(End::sender), rail_interface(look, End::sender),
                      rail_interface(look, End::sender)),
          "read the drop counters of the switch ports in between; then cables and modules",
          "with priority flow control: --verbs.traffic_class of the lossless class"};
}

/// How sure and how much: both ends saw it, or the requester alone timed out, or the responder
/// alone saw packets out of order, which several paths may do.
struct LossSeen {
  Confidence confidence = Confidence::possible;
  double nearness = 0;
};
LossSeen weigh(double asked, double answered, std::optional<double> packets) {
  const double share = packets && *packets > 0 ? std::max(asked, answered) / *packets : kLossFelt;
  const double nearness = share >= kLossFelt ? 0.9 : 0.5;
  if (asked > 0) {
    return {answered > 0 ? Confidence::confirmed : Confidence::likely, nearness};
  }
  return {Confidence::possible, std::min(nearness, 0.6)};
}

}  // namespace

Verdict judge_rdma_loss(Look& look) {
  const End from = requester(look);
  const End to = responder(look);
  const auto asked =
      rdma_count(look, from, {M::ack_timeouts, M::sequence_naks, M::retransmits, M::slow_restarts});
  const auto answered = rdma_count(look, to, {M::out_of_sequence, M::duplicates});
  if (!asked && !answered) {
    return unknown("neither end counts lost packets");
  }
  const double sent = asked ? asked->total : 0;
  const double seen = answered ? answered->total : 0;
  const std::string why = fmt::format("{}; {}", counted(look, from, asked.value_or(RdmaCount{})),
                                      counted(look, to, answered.value_or(RdmaCount{})));
  if (sent + seen <= 0) {
    return silent("no packet was lost: " + why);
  }
  const auto arrived = rdma_count(look, to, {M::packets_arrived});
  const LossSeen loss = weigh(sent, seen, arrived ? std::optional(arrived->total) : std::nullopt);
  return fires(
      loss.confidence, loss.nearness, why,
      fmt::format("packets of RDMA are lost{} between the ends, where not one should be: {}",
                  sent > 0 ? "" : " or reordered", why),
      loss_remedy(look));
}

Verdict judge_rdma_receiver_not_ready(Look& look) {
  const auto asked = rdma_count(look, requester(look), {M::rnr_received});
  const auto answered = rdma_count(look, responder(look), {M::no_receive});
  if (!asked && !answered) {
    return unknown("neither end counts missing receives");
  }
  const double total = std::max(asked ? asked->total : 0, answered ? answered->total : 0);
  const std::string why =
      fmt::format("{}; {}", counted(look, requester(look), asked.value_or(RdmaCount{})),
                  counted(look, responder(look), answered.value_or(RdmaCount{})));
  if (total <= 0) {
    return silent("a receive was always ready: " + why);
  }
  Verdict verdict =
      fires(asked && answered && asked->total > 0 && answered->total > 0 ? Confidence::confirmed
                                                                         : Confidence::likely,
            0.8, why, "the receiver had no receive ready when messages came: " + why,
            {"more receives: --verbs.rx_depth",
             "a receiver that polls, on a core of its own: "
             "--verbs.wait poll --verbs.cpu"});
  // A software device's receiver shares its CPU with the network stack.
  return is_software(look) ? milder(std::move(verdict)) : std::move(verdict);
}

namespace {

Verdict link_errors_at(Look& look, End end) {
  const auto errors = rdma_count(look, end, {M::link_errors});
  const auto downs = rdma_count(look, end, {M::link_downs});
  const std::string name = rail_name(look, end, rail_of(look, end));
  if (!errors && !downs) {
    return unknown(name + ": no port counters");
  }
  const double total = (errors ? errors->total : 0) + (downs ? downs->total : 0);
  if (total <= 0) {
    return silent(name + ": no error of the link");
  }
  const bool went_down = downs && downs->total > 0;
  const std::string names = went_down ? downs->names : errors->names;
  return fires(
      Confidence::confirmed, went_down ? 0.95 : 0.85, name + ": " + names,
      fmt::format("the link of {} {} during the run ({})", name,
                  went_down ? "went down" : "had errors", names),
      {"reseat and clean the connectors, then swap cable, module and switch port one by one",
       fmt::format("on {}: mlxlink -d {} -m -c -e; ibdiagnet --get_phy_info", look.host_name(end),
                   rail_of(look, end))});
}

Verdict damaged_at(Look& look, End end) {
  const auto damaged = rdma_count(look, end, {M::icrc_errors});
  const std::string name = rail_name(look, end, rail_of(look, end));
  if (!damaged) {
    return unknown(name + ": damaged packets are not counted");
  }
  if (damaged->total <= 0) {
    return silent(name + ": no damaged packet");
  }
  return fires(Confidence::confirmed, 0.9, name + ": " + damaged->names,
               fmt::format("{} received RDMA packets with a wrong checksum from end to end ({}): "
                           "something on the way changes them",
                           name, damaged->names),
               {"look for a switch or bridge that rewrites RoCE packets, and for its memory errors",
                "then the cards' memory and slots (PCIe errors)"});
}

/// Payload that arrived against the port's bytes.
Verdict foreign_at(Look& look, End end) {
  const auto payload = look.total(end, "payload.received_bytes");
  const auto port = rdma_count(look, end, {M::bytes_arrived});
  const std::string name = rail_name(look, end, rail_of(look, end));
  if (!payload || !port || *payload < 1e6) {
    return unknown(name + ": its bytes are not counted, or too few came");
  }
  const std::string why =
      fmt::format("{}: {:.3g} B of payload, {:.3g} B by the port", name, *payload, port->total);
  if (port->total >= kOwnShare * *payload) {
    return silent(why);
  }
  return fires(Confidence::likely, 0.2, why,
               "the port's counters are not of this traffic (a virtual function, another port, or "
               "a container's view), so that they prove nothing: " +
                   why,
               {"read the counters of the physical function, on the host"});
}

}  // namespace

Verdict judge_rdma_link_errors(Look& look) { return either_end(look, link_errors_at); }

Verdict judge_rdma_damaged(Look& look) { return either_end(look, damaged_at); }

Verdict judge_rdma_counters_foreign(Look& look) { return foreign_at(look, End::receiver); }

Verdict judge_rdma_data_errors(Look& look) {
  std::optional<double> wrong;
  for (const End end : kEnds) {
    if (const auto failed = look.total(end, "verbs.check_failed")) {
      wrong = wrong.value_or(0) + *failed;
    }
  }
  if (!wrong) {
    return unknown("the messages' contents were not compared");
  }
  if (*wrong <= 0) {
    return silent("every message that was compared was right");
  }
  const bool relaxed = look.setting(End::sender, "verbs.relaxed_ordering").value_or(0) != 0 ||
                       look.setting(End::receiver, "verbs.relaxed_ordering").value_or(0) != 0;
  const std::string why = fmt::format("{:.0f} messages arrived with wrong contents", *wrong);
  return fires(Confidence::confirmed, 1, why,
               why + (relaxed ? "; relaxed ordering lets a later write overtake data" : ""),
               {relaxed ? "--verbs.relaxed_ordering off, and compare"
                        : "relaxed ordering may be forced in the card's firmware: mlxconfig -d … q "
                          "| grep PCI_WR_ORDERING",
                "then memory and PCIe errors of both hosts"});
}

}  // namespace netbench::report
