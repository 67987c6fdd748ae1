#include "transports/tcp/tcp_info.hpp"

#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstring>

namespace netbench::tcp {
namespace {

// The two bytes of bit fields after tcpi_options, which offsetof cannot name.
constexpr std::size_t kScalesOffset = offsetof(tcp_info, tcpi_options) + 1;

#define NB_FIELD(name, member, over, kept)                                             \
  TcpInfoField {                                                                       \
    name, offsetof(tcp_info, member), sizeof(tcp_info::member), Over::over, Kept::kept \
  }

// Kernel names with the unit appended where they have one; rates are bytes per second. The last
// rows are newer than the oldest kernel headers this builds with: offsets of linux/tcp.h of
// Linux 6.2 (rcv_wnd, rehash) and 6.7 (total_rto…). What counts up, and the smallest round trip,
// is kept as it is at the end.
constexpr TcpInfoField kFields[] = {
    NB_FIELD("state", tcpi_state, first, median),
    NB_FIELD("ca_state", tcpi_ca_state, max, median),
    NB_FIELD("retransmits", tcpi_retransmits, max, median),
    NB_FIELD("probes", tcpi_probes, max, median),
    NB_FIELD("backoff", tcpi_backoff, max, range),
    NB_FIELD("options", tcpi_options, first, median),
    NB_FIELD("rto_us", tcpi_rto, max, median),
    NB_FIELD("ato_us", tcpi_ato, max, median),
    NB_FIELD("snd_mss", tcpi_snd_mss, min, median),
    NB_FIELD("rcv_mss", tcpi_rcv_mss, min, median),
    NB_FIELD("unacked", tcpi_unacked, sum, median),
    NB_FIELD("sacked", tcpi_sacked, sum, median),
    NB_FIELD("lost", tcpi_lost, sum, median),
    NB_FIELD("retrans", tcpi_retrans, sum, median),
    NB_FIELD("fackets", tcpi_fackets, sum, median),
    NB_FIELD("last_data_sent_ms", tcpi_last_data_sent, min, median),
    NB_FIELD("last_data_recv_ms", tcpi_last_data_recv, min, median),
    NB_FIELD("last_ack_recv_ms", tcpi_last_ack_recv, min, median),
    NB_FIELD("pmtu", tcpi_pmtu, min, median),
    NB_FIELD("rcv_ssthresh", tcpi_rcv_ssthresh, min, median),
    NB_FIELD("rtt_us", tcpi_rtt, max, range),
    NB_FIELD("rttvar_us", tcpi_rttvar, max, median),
    NB_FIELD("snd_ssthresh", tcpi_snd_ssthresh, min, median),
    NB_FIELD("snd_cwnd", tcpi_snd_cwnd, sum, range),
    NB_FIELD("advmss", tcpi_advmss, min, median),
    NB_FIELD("reordering", tcpi_reordering, max, median),
    NB_FIELD("rcv_rtt_us", tcpi_rcv_rtt, max, median),
    NB_FIELD("rcv_space", tcpi_rcv_space, sum, median),
    NB_FIELD("total_retrans", tcpi_total_retrans, sum, last),
    NB_FIELD("pacing_rate", tcpi_pacing_rate, first, median),
    NB_FIELD("max_pacing_rate", tcpi_max_pacing_rate, first, median),
    NB_FIELD("bytes_acked", tcpi_bytes_acked, sum, last),
    NB_FIELD("bytes_received", tcpi_bytes_received, sum, last),
    NB_FIELD("segs_out", tcpi_segs_out, sum, last),
    NB_FIELD("segs_in", tcpi_segs_in, sum, last),
    NB_FIELD("notsent_bytes", tcpi_notsent_bytes, sum, range),
    NB_FIELD("min_rtt_us", tcpi_min_rtt, min, last),
    NB_FIELD("data_segs_in", tcpi_data_segs_in, sum, last),
    NB_FIELD("data_segs_out", tcpi_data_segs_out, sum, last),
    NB_FIELD("delivery_rate", tcpi_delivery_rate, sum, median),
    NB_FIELD("busy_time_us", tcpi_busy_time, sum, last),
    NB_FIELD("rwnd_limited_us", tcpi_rwnd_limited, sum, last),
    NB_FIELD("sndbuf_limited_us", tcpi_sndbuf_limited, sum, last),
    NB_FIELD("delivered", tcpi_delivered, sum, last),
    NB_FIELD("delivered_ce", tcpi_delivered_ce, sum, last),
    NB_FIELD("bytes_sent", tcpi_bytes_sent, sum, last),
    NB_FIELD("bytes_retrans", tcpi_bytes_retrans, sum, last),
    NB_FIELD("dsack_dups", tcpi_dsack_dups, sum, last),
    NB_FIELD("reord_seen", tcpi_reord_seen, sum, last),
    NB_FIELD("rcv_ooopack", tcpi_rcv_ooopack, sum, last),
    NB_FIELD("snd_wnd", tcpi_snd_wnd, sum, range),
    {"rcv_wnd", 232, 4, Over::sum, Kept::range},
    {"rehash", 236, 4, Over::sum, Kept::last},
    {"total_rto", 240, 2, Over::sum, Kept::last},
    {"total_rto_recoveries", 242, 2, Over::sum, Kept::last},
    {"total_rto_time_ms", 244, 4, Over::sum, Kept::last},
    {"snd_wscale", kScalesOffset, 1, Over::first, Kept::median, 0, 0xf},
    {"rcv_wscale", kScalesOffset, 1, Over::first, Kept::median, 4, 0xf},
    {"delivery_rate_app_limited", kScalesOffset + 1, 1, Over::first, Kept::median, 0, 1},
};
#undef NB_FIELD
static_assert(offsetof(tcp_info, tcpi_snd_wnd) == 228);

double combine(Over over, double so_far, double next) {
  switch (over) {
    case Over::sum:
      return so_far + next;
    case Over::max:
      return std::max(so_far, next);
    case Over::min:
      return std::min(so_far, next);
    case Over::first:
      return so_far;
  }
  return so_far;
}

}  // namespace

TcpInfo TcpInfo::read(int fd) noexcept {
  TcpInfo info;
  socklen_t length = sizeof info.bytes_;
  if (::getsockopt(fd, IPPROTO_TCP, TCP_INFO, info.bytes_.data(), &length) == 0) {
    info.length_ = length;
  }
  return info;
}

std::optional<std::uint64_t> TcpInfo::field(std::size_t offset, std::size_t width) const noexcept {
  if (offset + width > length_) {
    return std::nullopt;
  }
  const auto load = [this, offset]<class T>(T value) -> std::uint64_t {
    std::memcpy(&value, bytes_.data() + offset, sizeof value);
    return value;
  };
  switch (width) {
    case 1:
      return load(std::uint8_t{});
    case 2:
      return load(std::uint16_t{});
    case 4:
      return load(std::uint32_t{});
    default:
      return load(std::uint64_t{});
  }
}

std::optional<std::uint64_t> TcpInfo::bytes_received() const noexcept {
  return field(offsetof(tcp_info, tcpi_bytes_received), sizeof(std::uint64_t));
}

std::optional<std::uint64_t> TcpInfo::bytes_acked() const noexcept {
  return field(offsetof(tcp_info, tcpi_bytes_acked), sizeof(std::uint64_t));
}

std::optional<std::uint64_t> TcpInfo::snd_mss() const noexcept {
  return field(offsetof(tcp_info, tcpi_snd_mss), sizeof(std::uint32_t));
}

bool TcpInfo::has_timestamps() const noexcept {
  return (field(offsetof(tcp_info, tcpi_options), 1).value_or(0) & TCPI_OPT_TIMESTAMPS) != 0;
}

std::optional<double> TcpInfoField::over_all(std::span<const TcpInfo> infos) const {
  std::optional<double> total;
  for (const TcpInfo& info : infos) {
    if (const auto value = info.field(offset, width)) {
      const auto number = static_cast<double>((*value >> shift) & mask);
      total = total ? combine(over, *total, number) : number;
    }
  }
  return total;
}

std::span<const TcpInfoField> tcp_info_fields() { return kFields; }

}  // namespace netbench::tcp
