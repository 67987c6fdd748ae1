#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "report/diagnose/link_judges.hpp"
#include "report/diagnose/signals.hpp"
#include "report/diagnose/verdicts.hpp"

namespace netbench::report {

namespace {

/// A thread or the softirq of one core that busy limits what cheaper packets would speed up.
constexpr double kCpuBound = 0.8;
/// Above this rate a core does not take packets of one MTU each (measured: 1.7 Gb/s on a slow core,
/// 5 to 10 on a fast one).
constexpr double kFastLink_bps = 10e9;
/// Of the losses: then damage in the receiver, not loss on the path, is what is retransmitted.
constexpr double kChecksumShare = 0.5;
/// Packets of more than so many MTUs are the work of an offload.
constexpr double kSuperPacket = 2;
/// Round trips that the interrupt delay makes up.
constexpr double kDelayShare = 0.5;

bool is_off(Look& look, End end, std::string_view feature) {
  return look.fact(end, fmt::format("if.*.offload.{}", feature)) == 0.0;
}

/// The offloads of an end that are off and would spare it packets; "" where none is.
std::string missing_offloads(Look& look, End end) {
  if (end == End::sender) {
    return is_off(look, end, "tso") && is_off(look, end, "gso") ? "tso gso" : "";
  }
  const bool merges =
      look.fact(end, "if.*.offload.gro") == 1.0 || look.fact(end, "if.*.offload.lro") == 1.0;
  return is_off(look, end, "gro") && !merges ? "gro" : "";
}

std::string switched_on(const std::string& features) {
  std::string text;
  for (std::size_t at = 0; at < features.size();) {
    const auto end = std::min(features.find(' ', at), features.size());
    text += " " + features.substr(at, end - at) + " on";
    at = end + 1;
  }
  return text;
}

/// Bytes of a packet that crossed the interface, on the average: a veth pair hands super-packets of
/// its peer over whole, whatever its own offloads.
std::optional<double> packet_bytes(Look& look, End end) {
  return end == End::sender ? look.ratio(end, "if.*.tx_bytes", "if.*.tx_packets")
                            : look.ratio(end, "if.*.rx_bytes", "if.*.rx_packets");
}

Verdict offload_off_at(Look& look, End end, const std::string& off) {
  const auto packet = packet_bytes(look, end);
  const auto mtu = look.fact(end, "if.*.mtu_bytes");
  if (packet && mtu && *packet > kSuperPacket * *mtu) {
    return silent(fmt::format("{}: {} off, but packets of {:.0f} B pass it", device_of(look, end),
                              off, *packet));
  }
  const auto busy =
      nearest_bound(look, {"softirq", end == End::sender ? "sender-thread" : "receiver-thread"});
  const auto speed = look.fact(end, "if.*.speed_bps");
  const bool software_sums = end == End::sender && is_off(look, end, "tx_checksum");
  const std::string where = fmt::format("{}: {} off", device_of(look, end), off);
  if (busy.value_or(0) < kCpuBound && !(speed && *speed > kFastLink_bps) && !software_sums) {
    return silent(fmt::format("{}, which matters only above 10 Gb/s or where a core is full{}",
                              where, busy ? fmt::format(" ({:.0f} % here)", 100 * *busy) : ""));
  }
  const bool bound = busy.value_or(0) >= kCpuBound;
  Verdict verdict =
      fires(bound ? Confidence::likely : Confidence::possible, std::min(1.0, busy.value_or(0)),
            fmt::format("{}, busiest core {}", where,
                        busy ? fmt::format("{:.0f} %", 100 * *busy) : "not known"),
            fmt::format("{} handles every packet by itself: segmentation offload ({}) is off",
                        device_of(look, end), off),
            {on(look, end,
                fmt::format("ethtool -K {}{}{}", look.interface(end), switched_on(off),
                            software_sums ? " tx on" : ""))});
  // Packets cost nothing but CPU: where no core is full, this limits nothing.
  return bound || !busy ? verdict : milder(std::move(verdict));
}

/// Cards and paravirtual devices that compute checksums; pairs and bridges pass them on unread.
bool has_checksum_engine(Look& look, End end) {
  constexpr std::array<std::string_view, 5> kNone = {"veth", "lo", "bridge", "dummy", "netkit"};
  const auto driver = look.fact_text(end, "if.*.driver");
  return driver && std::ranges::find(kNone, *driver) == kNone.end();
}

/// A paravirtual sender leaves checksums to whoever takes the packet out of the host: where nobody
/// does, every packet is wrong. That is common, and a path that rewrites packets is rare.
bool leaves_checksums_to_the_host(Look& look) {
  constexpr std::array<std::string_view, 5> kParavirtual = {"virtio_net", "tun", "vmxnet3", "vif",
                                                            "xen_netfront"};
  const auto driver = look.fact_text(End::sender, "if.*.driver");
  return driver && std::ranges::find(kParavirtual, *driver) != kParavirtual.end() &&
         look.fact(End::sender, "if.*.offload.tx_checksum") == 1.0;
}

std::optional<double> lost_segments(Look& look) {
  const auto all = look.total(End::sender, "tcp_info.total_retrans");
  const auto spurious = look.total(End::sender, "tcp_info.dsack_dups");
  return all ? std::optional(std::max(0.0, *all - spurious.value_or(0))) : std::nullopt;
}

Verdict checksum_verdict(Look& look, double sums, const std::string& why) {
  const std::string device = look.interface(End::receiver);
  const Intervention* moved = look.moved("offload-off");
  const bool cured = moved != nullptr && moved->ratio_low > 1.1;
  return fires(
      cured ? Confidence::confirmed : Confidence::likely,
      leaves_checksums_to_the_host(look) ? 1 : 0.85, why,
      fmt::format("{} gets {:.0f} packets with wrong checksums over a clean link: an "
                  "offload of a card or driver at one end is faulty, or a virtual device "
                  "left the checksum unfinished",
                  device_of(look, End::receiver), sums),
      {on(look, End::receiver, fmt::format("ethtool -K {} rx off", device)),
       on(look, End::sender, fmt::format("ethtool -K {} tx off", look.interface(End::sender))),
       "if the errors stop, update that driver and kernel; if they stay, a device on the "
       "path rewrites packets"});
}

}  // namespace

Verdict judge_offload_off(Look& look) {
  std::vector<Verdict> verdicts;
  for (const End end : kEnds) {
    const std::string off = missing_offloads(look, end);
    if (!off.empty()) {
      verdicts.push_back(offload_off_at(look, end, off));
    } else if (look.fact(end, end == End::sender ? "if.*.offload.tso" : "if.*.offload.gro")) {
      verdicts.push_back(silent(fmt::format("{}: segmentation offloads on", device_of(look, end))));
    } else {
      verdicts.push_back(unknown(fmt::format("{}: offloads not read", device_of(look, end))));
    }
  }
  return nearest_of(verdicts, {});
}

Verdict judge_checksum_offload(Look& look) {
  if (const Intervention* moved = look.moved("offload-off"); moved && moved->ratio_low > 1.2) {
    return fires(
        Confidence::confirmed, 0.95,
        fmt::format("goodput x {:.2f} with the offloads off", moved->ratio),
        fmt::format("the offloads between {} and {} do not work together: goodput is {:.2f} "
                    "times as high without them",
                    device_of(look, End::sender), device_of(look, End::receiver), moved->ratio),
        {fmt::format("on {}: ethtool -K {} tx off tso off gso off", look.host_name(End::sender),
                     look.interface(End::sender)),
         "update the driver, or the hypervisor that offers these features"});
  }
  const auto sums = look.total(End::receiver, "snmp.Tcp.InCsumErrors");
  if (!sums) {
    return unknown("checksum errors were not counted");
  }
  const auto lost = lost_segments(look);
  const std::string why = fmt::format("{:.0f} checksum errors, {} segments lost", *sums,
                                      lost ? fmt::format("{:.0f}", *lost) : "an unknown number of");
  if (*sums <= 0 || (lost && *sums < kChecksumShare * *lost)) {
    return silent(why);
  }
  const CounterSum crc = sum_counters(look, End::receiver, {{"if.*.", "rx_crc_errors"}});
  if (crc.total > 0) {
    return silent(why + ", and damaged frames on the link: " + crc.names);
  }
  if (!has_checksum_engine(look, End::receiver) && !has_checksum_engine(look, End::sender)) {
    return silent(why + ", but no end has a card that computes checksums");
  }
  return checksum_verdict(look, *sums, why);
}

// A receiver whose merged packets are accounted too large never opens its window again: seen with
// LRO in a 10 GbE driver (window of 720 bytes, 1 Gb/s).
Verdict judge_receive_offload(Look& look) {
  const auto window = look.largest(End::sender, "tcp_info_max.snd_wnd");
  const auto mss = look.typical(End::sender, "tcp_info.snd_mss");
  const auto buffer = look.largest(End::receiver, "sock_max.rcvbuf_bytes");
  const auto lro = look.fact(End::receiver, "if.*.offload.lro");
  if (!window || !mss || !buffer || !lro) {
    return unknown("window, segment size, receive buffer or lro not known");
  }
  const std::string why =
      fmt::format("window at most {:.0f} B, segments of {:.0f} B, buffer {:.0f} B, lro {}", *window,
                  *mss, *buffer, *lro > 0 ? "on" : "off");
  if (*window >= *mss || *buffer < 64 * 1024 || *lro == 0) {
    return silent(why);
  }
  const std::string device = look.interface(End::receiver);
  return fires(
      Confidence::likely, 0.9, why,
      fmt::format("{} announces a window below one segment although its buffer has room: "
                  "receive offload (lro, gro) accounts merged packets wrongly",
                  device_of(look, End::receiver)),
      {on(look, End::receiver, fmt::format("ethtool -K {} lro off gro off", device)),
       on(look, End::receiver, fmt::format("ethtool -i {}  # update the driver", device))});
}

Verdict judge_coalescing(Look& look) {
  const Measurement* row = look.row();
  const auto near_us = look.fact(End::sender, "if.*.coalesce.rx_us");
  const auto far_us = look.fact(End::receiver, "if.*.coalesce.rx_us");
  if (row == nullptr || !row->summary.rtt_p50_ns || !near_us || !far_us) {
    return unknown("the interrupt delay of an end or the round trip is not known");
  }
  const double rtt_us = *row->summary.rtt_p50_ns / 1000;
  const double share = (*near_us + *far_us) / rtt_us;
  const std::string why = fmt::format(
      "receive interrupts delayed by up to {:.0f} + {:.0f} us of a round trip of {:.1f} us",
      *near_us, *far_us, rtt_us);
  if (share < kDelayShare || share > 2) {
    return silent(why);
  }
  std::vector<std::string> remedy;
  for (const End end : kEnds) {
    remedy.push_back(fmt::format("on {}: ethtool -C {} adaptive-rx off rx-usecs 0",
                                 look.host_name(end), look.interface(end)));
  }
  return fires(Confidence::possible, std::min(1.0, share), why,
               "interrupt coalescing makes up most of the round trip: " + why, std::move(remedy));
}

}  // namespace netbench::report
