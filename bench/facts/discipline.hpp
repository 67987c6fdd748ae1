#pragma once

#include "bench/facts/network_reader.hpp"
#include "bench/facts/rtnetlink.hpp"

namespace netbench::facts {

/// One RTM_NEWQDISC or RTM_NEWTCLASS message without its nlmsghdr (linux/pkt_sched.h). Pure;
/// hostile bytes give fewer parameters.
///
/// Parameters, where set: tbf, cake, htb {rate_bps}, tbf {burst_bytes}, netem {rate_bps, delay_s,
/// jitter_s, loss_share}, fq {flow_rate_bps, pacing}, and limit_packets or limit_bytes of tbf,
/// netem, fq, fq_codel, pfifo, bfifo. A class of htb: {rate_bps} is its ceiling.
[[nodiscard]] DisciplineInfo parse_discipline(ByteSpan body);
/// The interface that a message is about (tcmsg.tcm_ifindex).
[[nodiscard]] int discipline_interface(ByteSpan body);

}  // namespace netbench::facts
