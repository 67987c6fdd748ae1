#pragma once

#include <optional>
#include <string>

#include "report/bounds/row_reader.hpp"

/// One function a bound. Private to limits_of.
namespace netbench::report::limits {

/// Goodput that cannot be passed, with its arithmetic; or no value and "unknown, because …".
struct Limit {
  std::optional<double> bps;
  std::string arithmetic;
  std::string end{};  // "h0" or "h1" where the bound could be of either
};

[[nodiscard]] Limit not_known(const std::string& why);

[[nodiscard]] Limit wire(RowReader& row);
/// The narrowest slot or bridge of both ends' chains: transfers × lanes × encoding (8b/10b up to
/// 5 GT/s, 128b/130b from 8, 242 of 256 bytes of a FLIT at 64: PCI Express Base Specification 6.0)
/// × payload over payload and header of a packet.
[[nodiscard]] Limit pcie(RowReader& row);
/// One flow stays on one member (IEEE 802.1AX, clause 5.2.4: frames of a conversation keep their
/// order), n flows on at most n.
[[nodiscard]] Limit bond_member(RowReader& row);

/// RFC 9293, section 3.8.6: at most a window a round trip.
[[nodiscard]] Limit receive_window(RowReader& row);
/// What fits into the send buffer until it is acknowledged. 0.85 of it is payload: 0.72 … 0.88
/// measured on Linux 6.18; the rest is the kernel's own (socket(7), SO_SNDBUF).
[[nodiscard]] Limit send_buffer(RowReader& row);
[[nodiscard]] Limit congestion_window(RowReader& row);
/// Mathis, Semke, Mahdavi, Ott: The Macroscopic Behavior of the TCP Congestion Avoidance Algorithm
/// (1997), C = sqrt(3/2), for Reno; for CUBIC, where larger, RFC 9438, section 5.1. No other.
[[nodiscard]] Limit loss(RowReader& row);
/// SO_MAX_PACING_RATE (socket(7)), the maxrate of tc-fq(8), or the rate of a UDP row.
[[nodiscard]] Limit pacing(RowReader& row);

/// A thread that runs or waits for its CPU all the time cannot do more.
[[nodiscard]] Limit sender_thread(RowReader& row);
[[nodiscard]] Limit receiver_thread(RowReader& row);
[[nodiscard]] Limit softirq(RowReader& row);
/// An end that the kernel never made wait cannot do more.
[[nodiscard]] Limit sender_application(RowReader& row);
[[nodiscard]] Limit receiver_application(RowReader& row);

/// Reads and atomics are answered by the peer's card, which takes so many at once
/// (max_dest_rd_atomic of ibv_modify_qp(3)): depth × queue pairs × size / round trip.
[[nodiscard]] Limit read_depth(RowReader& row);
/// A request stays in the send queue until it is acknowledged: depth × queue pairs × size / round
/// trip.
[[nodiscard]] Limit work_queue(RowReader& row);
/// What a row with one queue pair reached, times the number of them.
[[nodiscard]] Limit one_queue_pair(RowReader& row);

/// Segments of the row that the path lost.
struct Loss {
  double lost = 0;
  double sent = 0;
  std::string arithmetic;
};

/// Retransmitted segments less those reported as duplicates (RFC 2883), and never more than the
/// segments that left one end and did not arrive at the other, where both ends counted them.
[[nodiscard]] std::optional<Loss> loss_of(RowReader& row);

}  // namespace netbench::report::limits
