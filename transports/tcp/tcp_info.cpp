#include "transports/tcp/tcp_info.hpp"

#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstring>
#include <vector>

namespace netbench::tcp {
namespace {

enum class Over { sum, max, min, first };

struct Field {
  const char* name;
  std::size_t offset;
  std::size_t width;
  Over over;
};

#define NB_FIELD(name, member, over) \
  Field { "tcp_info." name, offsetof(tcp_info, member), sizeof(tcp_info::member), Over::over }

// Kernel names with the unit appended where they have one; rates are bytes per second. The last
// rows are newer than the oldest kernel headers this builds with: offsets of linux/tcp.h of
// Linux 6.2 (rcv_wnd, rehash) and 6.7 (total_rto…).
constexpr Field kFields[] = {
    NB_FIELD("state", tcpi_state, first),
    NB_FIELD("ca_state", tcpi_ca_state, max),
    NB_FIELD("retransmits", tcpi_retransmits, max),
    NB_FIELD("probes", tcpi_probes, max),
    NB_FIELD("backoff", tcpi_backoff, max),
    NB_FIELD("options", tcpi_options, first),
    NB_FIELD("rto_us", tcpi_rto, max),
    NB_FIELD("ato_us", tcpi_ato, max),
    NB_FIELD("snd_mss", tcpi_snd_mss, min),
    NB_FIELD("rcv_mss", tcpi_rcv_mss, min),
    NB_FIELD("unacked", tcpi_unacked, sum),
    NB_FIELD("sacked", tcpi_sacked, sum),
    NB_FIELD("lost", tcpi_lost, sum),
    NB_FIELD("retrans", tcpi_retrans, sum),
    NB_FIELD("fackets", tcpi_fackets, sum),
    NB_FIELD("last_data_sent_ms", tcpi_last_data_sent, min),
    NB_FIELD("last_data_recv_ms", tcpi_last_data_recv, min),
    NB_FIELD("last_ack_recv_ms", tcpi_last_ack_recv, min),
    NB_FIELD("pmtu", tcpi_pmtu, min),
    NB_FIELD("rcv_ssthresh", tcpi_rcv_ssthresh, min),
    NB_FIELD("rtt_us", tcpi_rtt, max),
    NB_FIELD("rttvar_us", tcpi_rttvar, max),
    NB_FIELD("snd_ssthresh", tcpi_snd_ssthresh, min),
    NB_FIELD("snd_cwnd", tcpi_snd_cwnd, sum),
    NB_FIELD("advmss", tcpi_advmss, min),
    NB_FIELD("reordering", tcpi_reordering, max),
    NB_FIELD("rcv_rtt_us", tcpi_rcv_rtt, max),
    NB_FIELD("rcv_space", tcpi_rcv_space, sum),
    NB_FIELD("total_retrans", tcpi_total_retrans, sum),
    NB_FIELD("pacing_rate", tcpi_pacing_rate, first),
    NB_FIELD("max_pacing_rate", tcpi_max_pacing_rate, first),
    NB_FIELD("bytes_acked", tcpi_bytes_acked, sum),
    NB_FIELD("bytes_received", tcpi_bytes_received, sum),
    NB_FIELD("segs_out", tcpi_segs_out, sum),
    NB_FIELD("segs_in", tcpi_segs_in, sum),
    NB_FIELD("notsent_bytes", tcpi_notsent_bytes, sum),
    NB_FIELD("min_rtt_us", tcpi_min_rtt, min),
    NB_FIELD("data_segs_in", tcpi_data_segs_in, sum),
    NB_FIELD("data_segs_out", tcpi_data_segs_out, sum),
    NB_FIELD("delivery_rate", tcpi_delivery_rate, sum),
    NB_FIELD("busy_time_us", tcpi_busy_time, sum),
    NB_FIELD("rwnd_limited_us", tcpi_rwnd_limited, sum),
    NB_FIELD("sndbuf_limited_us", tcpi_sndbuf_limited, sum),
    NB_FIELD("delivered", tcpi_delivered, sum),
    NB_FIELD("delivered_ce", tcpi_delivered_ce, sum),
    NB_FIELD("bytes_sent", tcpi_bytes_sent, sum),
    NB_FIELD("bytes_retrans", tcpi_bytes_retrans, sum),
    NB_FIELD("dsack_dups", tcpi_dsack_dups, sum),
    NB_FIELD("reord_seen", tcpi_reord_seen, sum),
    NB_FIELD("rcv_ooopack", tcpi_rcv_ooopack, sum),
    NB_FIELD("snd_wnd", tcpi_snd_wnd, sum),
    {"tcp_info.rcv_wnd", 232, 4, Over::sum},
    {"tcp_info.rehash", 236, 4, Over::sum},
    {"tcp_info.total_rto", 240, 2, Over::sum},
    {"tcp_info.total_rto_recoveries", 242, 2, Over::sum},
    {"tcp_info.total_rto_time_ms", 244, 4, Over::sum},
};
#undef NB_FIELD
static_assert(offsetof(tcp_info, tcpi_snd_wnd) == 228);

// The two bytes of bit fields after tcpi_options, which offsetof cannot name.
constexpr std::size_t kScalesOffset = offsetof(tcp_info, tcpi_options) + 1;

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

void emit_field(const Field& field, std::span<const TcpInfo> infos, const sdk::Sink& sink) {
  std::optional<double> total;
  for (const TcpInfo& info : infos) {
    if (const auto value = info.field(field.offset, field.width)) {
      const auto number = static_cast<double>(*value);
      total = total ? combine(field.over, *total, number) : number;
    }
  }
  if (total) {
    sink.number(field.name, *total);
  }
}

void emit_bits(const TcpInfo& info, const sdk::Sink& sink) {
  const auto scales = info.field(kScalesOffset, 1);
  const auto bits = info.field(kScalesOffset + 1, 1);
  if (scales && bits) {
    sink.number("tcp_info.snd_wscale", static_cast<double>(*scales & 0xf));
    sink.number("tcp_info.rcv_wscale", static_cast<double>(*scales >> 4));
    sink.number("tcp_info.delivery_rate_app_limited", static_cast<double>(*bits & 1));
  }
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

void emit_tcp_info(std::span<const int> fds, const sdk::Sink& sink) {
  std::vector<TcpInfo> infos;
  infos.reserve(fds.size());
  for (const int fd : fds) {
    infos.push_back(TcpInfo::read(fd));
  }
  for (const Field& field : kFields) {
    emit_field(field, infos, sink);
  }
  if (!infos.empty()) {
    emit_bits(infos.front(), sink);
  }
}

}  // namespace netbench::tcp
