#include <fmt/format.h>

#include <algorithm>

#include "bench/core/units.hpp"
#include "report/diagnose/signals.hpp"
#include "report/diagnose/verdicts.hpp"
#include "report/diagnose/window_judges.hpp"

namespace netbench::report {

namespace {

// Measured: a send buffer that limits leaves nothing unsent in it, blocks the writer more than 0.9
// of its time and gives 0.7 … 1.0 of 0.85 x buffer / smallest round trip, 0.3 on a busy host.
// sndbuf_limited shows it with BBR alone (0.36 … 0.84; CUBIC and Reno 0.00 … 0.02).
constexpr double kNear = 0.6;
constexpr double kNearWithProof = 0.3;
/// Small writes waste much of the memory that the buffer counts (measured: 1448 B a call, 0.52 …
/// 0.60 of a buffer at its ceiling).
constexpr double kNearOfSmallWrites = 0.45;
constexpr std::int64_t kSmallWrite = 16 << 10;
constexpr double kBroken = 1.5;
constexpr double kHeldBack = 0.3;
constexpr double kWriterBlocked = 0.8;
constexpr double kUnsent = 0.1;
constexpr double kUnsentWhenPaced = 0.6;
constexpr double kPayload = 0.85;
constexpr double kAtCeiling = 0.95;
/// Measured: a cap of 200 Mb/s gave 198.7.
constexpr double kPaced = 0.9;
/// What losses leave of it (measured at 0.6 % over 4 ms: 0.86 … 0.88).
constexpr double kNearlyPaced = 0.8;
constexpr double kPacedBroken = 1.3;

enum class Tuning { asked, at_ceiling, tuned, unknown };

struct Buffer {
  Tuning tuning = Tuning::unknown;
  std::optional<double> bytes;  // of all connections
  double nearness = 0;
  std::string text;
};

double streams_of(Look& look) {
  return std::max(1.0, look.setting(End::sender, "tcp.streams").value_or(1));
}

Buffer buffer_of(Look& look) {
  Buffer buffer;
  buffer.bytes = look.typical(End::sender, "sock.sndbuf_bytes");
  if (look.asked_for("tcp.sndbuf")) {
    buffer.tuning = Tuning::asked;
    if (const auto set = buffer.bytes ? std::nullopt : look.setting(End::sender, "tcp.sndbuf")) {
      buffer.bytes = *set * streams_of(look);
    }
    return buffer;
  }
  const auto ceiling = look.fact(End::sender, "sysctl.net.ipv4.tcp_wmem_max_bytes");
  if (buffer.bytes && ceiling) {
    buffer.tuning = *buffer.bytes >= kAtCeiling * *ceiling * streams_of(look) ? Tuning::at_ceiling
                                                                              : Tuning::tuned;
  }
  return buffer;
}

/// How full the pipe is with what the buffer holds, at the round trip that was: with a fixed buffer
/// all of which is in flight, that is the limit even where queues lengthen the round trip.
double share_in_flight(Look& look, const Buffer& buffer) {
  const auto goodput = look.goodput_bps();
  const auto trip = round_trip(look);
  if (buffer.tuning != Tuning::asked || !buffer.bytes || !goodput || !trip) {
    return 0;
  }
  return std::min(1.0, *goodput / 8 * trip->smoothed_us * 1e-6 / (kPayload * *buffer.bytes));
}

/// The last super-packet is let into the buffer as long as any room is left
/// (sk_stream_memory_free), which is much of a small buffer.
constexpr double kSuperPacket = 65'536;

/// How far the rate may be above the bound of the buffer.
double most_of(Look& look, const Buffer& buffer) {
  const double one = kPayload * buffer.bytes.value_or(0) / streams_of(look);
  return one > 0 ? std::max(kBroken, 1.2 * (1 + kSuperPacket / one)) : kBroken;
}

/// The kernel saw its buffer empty while it could have sent. BBR's pacing keeps some of it unsent
/// at other times.
bool ran_empty(Look& look) {
  const auto share = look.ratio(End::sender, "tcp_info.sndbuf_limited_us", "tcp_info.busy_time_us");
  return share.value_or(0) > kHeldBack;
}

std::optional<Verdict> speaks_against_buffer(Look& look, const Buffer& buffer) {
  if (const auto still = stalled(look)) {
    return silent(*still);
  }
  const auto window = window_share(look);
  if (window && *window >= kHeldBack) {
    return silent(
        fmt::format("the receiver's window held it back {} of the busy time", percent(*window)));
  }
  const auto blocked = blocked_share(look, End::sender);
  if (blocked && *blocked < kWriterBlocked) {
    return silent(fmt::format("the writer was blocked only {} of the time", percent(*blocked)));
  }
  const auto unsent = look.typical(End::sender, "tcp_info.notsent_bytes");
  const double bytes = buffer.bytes.value_or(1 << 18);
  const double room = ran_empty(look) ? kUnsentWhenPaced * (bytes + kSuperPacket * streams_of(look))
                                      : kUnsent * bytes;
  if (unsent && *unsent > room) {
    return silent(fmt::format("{:.0f} kB wait unsent in the buffer: the path is what is slow",
                              *unsent / 1e3));
  }
  return std::nullopt;
}

Verdict too_small(Look& look, const Buffer& buffer) {
  const double now = buffer.bytes.value_or(0) / streams_of(look);
  const std::int64_t wanted = fitting_buffer(look, now);
  const std::string size =
      buffer.bytes ? format_bytes(static_cast<std::int64_t>(now)) : std::string("its size");
  const bool asked = buffer.tuning == Tuning::asked;
  std::vector<std::string> remedy;
  if (asked || buffer.tuning == Tuning::unknown) {
    remedy.push_back(
        fmt::format("leave out --tcp.sndbuf (in an application: do not set SO_SNDBUF), "
                    "or --tcp.sndbuf {}",
                    wanted / 2));
    raise_asked_limit(look, End::sender, "wmem_max", wanted / 2, remedy);
  }
  if (!asked) {
    raise_tuned_limit(look, End::sender, "tcp_wmem", wanted, remedy);
  }
  return fires(buffer.tuning == Tuning::unknown ? Confidence::possible : Confidence::likely,
               std::min(1.0, buffer.nearness), buffer.text,
               fmt::format("the send buffer of {} ({}{}) holds less than this path needs in flight",
                           look.host_name(End::sender), asked ? "fixed at " : "", size),
               std::move(remedy));
}

}  // namespace

Verdict judge_send_buffer(Look& look) {
  Buffer buffer = buffer_of(look);
  if (auto against = speaks_against_buffer(look, buffer)) {
    return *against;
  }
  const Bound* bound = look.bound("send-buffer");
  if (bound == nullptr) {
    return unknown("the send buffer or the smallest round trip was not read");
  }
  buffer.nearness = std::max(bound->nearness, share_in_flight(look, buffer));
  buffer.text = fmt::format("{:.2f} of {}, {:.2f} of it in flight", bound->nearness,
                            bound->arithmetic, share_in_flight(look, buffer));
  if (bound->nearness > most_of(look, buffer)) {
    return unknown(buffer.text + ": more than it allows, so it was not the buffer in effect");
  }
  if (buffer.tuning == Tuning::tuned) {
    return silent(buffer.text + ", and the kernel tunes it and is below its ceiling");
  }
  const bool empty = look.typical(End::sender, "tcp_info.notsent_bytes") == 0.0;
  const bool proof = empty || ran_empty(look);
  const bool set = buffer.tuning == Tuning::asked;
  const double near = look.row()->size_bytes < kSmallWrite && empty ? kNearOfSmallWrites : kNear;
  if (buffer.nearness < (set && proof ? kNearWithProof : near)) {
    return silent(buffer.text);
  }
  return buffer.tuning == Tuning::unknown && !proof
             ? unknown(buffer.text + ", but nothing says that the buffer ran empty")
             : too_small(look, buffer);
}

Verdict judge_pacing(Look& look) {
  if (const auto still = stalled(look)) {
    return silent(*still);
  }
  const Bound* bound = look.bound("pacing");
  if (bound == nullptr) {
    const auto cap = look.typical(End::sender, "tcp_info.max_pacing_rate");
    return cap ? silent("no connection has a pacing cap") : unknown("no pacing cap was read");
  }
  const std::string why = fmt::format("{:.2f} of {}", bound->nearness, bound->arithmetic);
  if (bound->nearness > kPacedBroken) {
    return unknown(why + ": more than it allows, so it was not in effect");
  }
  if (bound->nearness < kNearlyPaced) {
    return silent(why);
  }
  return fires(
      bound->nearness < kPaced ? Confidence::possible : Confidence::likely,
      std::min(1.0, bound->nearness), why,
      fmt::format("{} paces its connections: {}", look.host_name(End::sender), bound->arithmetic),
      {look.asked_for("tcp.pacing") ? std::string("leave out --tcp.pacing")
                                    : std::string("remove SO_MAX_PACING_RATE from the application"),
       on(look, End::sender,
          fmt::format("tc -s qdisc show dev {0}  # fq with maxrate: tc qdisc replace dev "
                      "{0} root fq",
                      look.interface(End::sender)))});
}

}  // namespace netbench::report
