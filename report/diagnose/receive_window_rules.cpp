#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <variant>

#include "bench/core/units.hpp"
#include "report/diagnose/signals.hpp"
#include "report/diagnose/verdicts.hpp"
#include "report/diagnose/window_judges.hpp"

namespace netbench::report {

namespace {

// Measured over 10-ms paths and LANs: a window that limits gives 0.6 … 1.1 of window / round trip,
// holds the sender back 0.38 (BBR, whose pacing hides it) … 1.0 of its busy time, and leaves the
// reader blocked more than 0.9 of its time. Contention for CPUs alone reaches 0.41 of busy time,
// 30 times below the bound.
constexpr double kNear = 0.6;
constexpr double kNearWhenPaced = 0.4;
constexpr double kBroken = 1.3;
constexpr double kHeldBack = 0.3;
constexpr double kHeldBackMostly = 0.8;
constexpr double kReaderBlocked = 0.8;
/// Linux lets autotuning end a page short of tcp_rmem[2] (ip-sysctl, tcp_rmem).
constexpr double kAtCeiling = 0.95;
/// SO_RCVLOWAT raises the buffer to twice the mark (net/ipv4/tcp.c, tcp_set_rcvlowat). A mark of
/// about that window or more stalls autotuning there: rcv_space, what tcp_rcv_space_adjust() saw
/// read in a round trip, hardly leaves its first value. Measured at a ceiling of 231 KiB: marks of
/// 1 B and 8 KiB reach it, 58 KiB stays at 116 KiB. The automatic mark is a quarter of the ceiling,
/// so the buffer stays at half of it.
constexpr double kAtCeilingOfMark = 0.45;
/// Largest window without the scale option (RFC 7323, section 2.2).
constexpr double kUnscaled = 65'535;
constexpr double kScaleOption = 4;  // TCPI_OPT_WSCALE of linux/tcp.h
/// A ceiling above this is no misconfiguration where the round trip is mostly queue: a larger
/// window would only lengthen the queue.
constexpr double kSmallCeilingBytes = 2 << 20;
constexpr double kMostlyQueue = 3;

/// Why the window is what it is.
enum class Tuning { asked, unscaled, off, at_ceiling, tuned, unknown };

struct Window {
  double nearness = 0;
  Tuning tuning = Tuning::unknown;
  std::optional<double> share;  // of the busy time
  double bytes = 0;             // of one connection
  std::optional<double> buffer_bytes;
  std::optional<double> ceiling_bytes;
  std::string text;
};

double streams_of(Look& look) {
  return std::max(1.0, look.setting(End::sender, "tcp.streams").value_or(1));
}

double window_of_one(Look& look) {
  const auto largest = look.typical(End::sender, "tcp_info_max.snd_wnd");
  const auto typical = largest ? largest : look.typical(End::sender, "tcp_info.snd_wnd");
  return typical.value_or(0) / streams_of(look);
}

bool scaling_is_off(Look& look, double window_bytes) {
  if (window_bytes <= 0 || window_bytes > kUnscaled) {
    return false;
  }
  if (const auto options = look.typical(End::sender, "tcp_info.options")) {
    return (static_cast<unsigned>(*options) & static_cast<unsigned>(kScaleOption)) == 0;
  }
  for (const End end : kEnds) {
    if (look.fact(end, "sysctl.net.ipv4.tcp_window_scaling") == 0.0) {
      return true;
    }
  }
  constexpr double kStuck = 0.9;
  return look.typical(End::sender, "tcp_info.snd_wscale") == 0.0 &&
         window_bytes >= kStuck * kUnscaled;
}

Tuning tuning_of(Look& look, Window& window) {
  if (scaling_is_off(look, window.bytes)) {
    return Tuning::unscaled;
  }
  if (look.asked_for("tcp.rcvbuf")) {
    window.buffer_bytes = look.setting(End::receiver, "tcp.rcvbuf");
    return Tuning::asked;
  }
  if (look.fact(End::receiver, "sysctl.net.ipv4.tcp_moderate_rcvbuf") == 0.0) {
    return Tuning::off;
  }
  window.ceiling_bytes = look.fact(End::receiver, "sysctl.net.ipv4.tcp_rmem_max_bytes");
  window.buffer_bytes = look.typical(End::receiver, "sock.rcvbuf_bytes");
  if (!window.ceiling_bytes || !window.buffer_bytes) {
    return Tuning::unknown;
  }
  window.buffer_bytes = *window.buffer_bytes / streams_of(look);
  const bool marked = look.setting(End::receiver, "tcp.lowat").value_or(1) > 1;
  const double share = marked ? kAtCeilingOfMark : kAtCeiling;
  return *window.buffer_bytes >= share * *window.ceiling_bytes ? Tuning::at_ceiling : Tuning::tuned;
}

std::string evidence_text(const Bound& bound, const Window& window) {
  return fmt::format(
      "{:.2f} of {}{}", window.nearness, bound.arithmetic,
      window.share ? fmt::format(", held back by it {} of the busy time", percent(*window.share))
                   : "");
}

/// The window where it limits the row; else what speaks against it or is missing.
std::variant<Window, Verdict> limiting_window(Look& look) {
  if (const auto still = stalled(look)) {
    return silent(*still + "; a window says nothing then");
  }
  const Bound* bound = look.bound("receive-window");
  if (bound == nullptr) {
    return unknown("the receive window or the round trip was not read");
  }
  Window window;
  window.nearness = bound->nearness;
  window.share = window_share(look);
  window.text = evidence_text(*bound, window);
  if (window.nearness > kBroken) {
    return unknown(window.text + ": more than it allows, so it was not the window in effect");
  }
  const std::string congestion = congestion_of(look);
  const double near = congestion.empty() || is_loss_based(congestion) ? kNear : kNearWhenPaced;
  if (window.nearness < near || window.share.value_or(1) < kHeldBack) {
    return silent(window.text);
  }
  const auto blocked = blocked_share(look, End::receiver);
  if (blocked && *blocked < kReaderBlocked) {
    return silent(fmt::format("{}, but the reader waited for data only {} of the time", window.text,
                              percent(*blocked)));
  }
  window.bytes = window_of_one(look);
  window.tuning = tuning_of(look, window);
  return window;
}

/// One verdict for each way a window can come about: fires for `wanted`.
Verdict judge_tuning(Look& look, Tuning wanted, Verdict (*fire)(Look&, const Window&)) {
  const auto found = limiting_window(look);
  if (const auto* verdict = std::get_if<Verdict>(&found)) {
    return *verdict;
  }
  const Window& window = std::get<Window>(found);
  if (window.tuning == wanted) {
    return fire(look, window);
  }
  if (window.tuning == Tuning::unknown) {
    return unknown(window.text + ", but how the buffer came about was not read");
  }
  constexpr std::array<std::string_view, 5> kWhy = {
      "the buffer was asked for", "window scaling is off", "autotuning is off",
      "the buffer is at its ceiling", "the kernel tunes the buffer and is below its ceiling"};
  return silent(
      fmt::format("{}, and {}", window.text, kWhy[static_cast<std::size_t>(window.tuning)]));
}

double shown(const Window& window) { return std::min(1.0, window.nearness); }

std::string buffer_text(const Window& window) {
  return window.buffer_bytes
             ? format_bytes(static_cast<std::int64_t>(*window.buffer_bytes))
             : fmt::format("about {}", format_bytes(static_cast<std::int64_t>(window.bytes)));
}

Verdict fixed_buffer(Look& look, const Window& window) {
  const std::int64_t wanted = fitting_buffer(look, window.buffer_bytes.value_or(window.bytes));
  std::vector<std::string> remedy = {
      "leave out --tcp.rcvbuf (in an application: do not set SO_RCVBUF), so that the kernel tunes "
      "it",
      fmt::format("or --tcp.rcvbuf {}", wanted / 2)};
  raise_asked_limit(look, End::receiver, "rmem_max", wanted / 2, remedy);
  return fires(Confidence::likely, shown(window), window.text,
               fmt::format("the receive buffer of {} is fixed at {}: too small for this path",
                           look.host_name(End::receiver), buffer_text(window)),
               std::move(remedy));
}

Verdict at_ceiling(Look& look, const Window& window) {
  const auto trip = round_trip(look);
  if (trip && window.ceiling_bytes.value_or(0) > kSmallCeilingBytes &&
      trip->smoothed_us > kMostlyQueue * trip->smallest_us) {
    return silent(
        fmt::format("{}, but the round trip is mostly queue ({} of {}): a larger window "
                    "would lengthen it",
                    window.text, milliseconds(trip->queued_us()), milliseconds(trip->smoothed_us)));
  }
  const double ceiling_bytes = window.ceiling_bytes.value_or(window.buffer_bytes.value_or(0));
  const std::string ceiling = format_bytes(static_cast<std::int64_t>(ceiling_bytes));
  std::vector<std::string> remedy;
  raise_tuned_limit(look, End::receiver, "tcp_rmem", fitting_buffer(look, ceiling_bytes), remedy);
  return fires(
      Confidence::likely, shown(window),
      fmt::format("{}; buffer {} of {} allowed", window.text, buffer_text(window), ceiling),
      fmt::format("receive autotuning of {} may not go beyond tcp_rmem[2] ({}): the window cannot "
                  "grow to what this path needs",
                  look.host_name(End::receiver), ceiling),
      std::move(remedy));
}

Verdict tuning_off(Look& look, const Window& window) {
  return fires(Confidence::likely, shown(window), window.text + "; tcp_moderate_rcvbuf 0",
               fmt::format("receive autotuning is off on {}: the window stays at {}",
                           look.host_name(End::receiver), buffer_text(window)),
               {on(look, End::receiver, "sysctl -w net.ipv4.tcp_moderate_rcvbuf=1")});
}

Verdict unscaled(Look& look, const Window& window) {
  std::vector<std::string> remedy;
  for (const End end : kEnds) {
    remedy.push_back(on(look, end, "sysctl -w net.ipv4.tcp_window_scaling=1"));
  }
  remedy.emplace_back(
      "if it is on at both ends: a middlebox strips the option from the SYN; "
      "compare tcpdump of the SYN at both ends");
  return fires(Confidence::likely, shown(window), window.text + "; window of at most 65535 B",
               "TCP window scaling is off: a connection has at most 64 KiB in flight",
               std::move(remedy));
}

}  // namespace

// The rule of the rest where a document does not say how the buffer came about: a window that holds
// the sender back nearly always is too small, whoever made it so.
Verdict judge_receive_buffer(Look& look) {
  const auto found = limiting_window(look);
  const auto* window = std::get_if<Window>(&found);
  if (window == nullptr || window->tuning != Tuning::unknown) {
    return judge_tuning(look, Tuning::asked, fixed_buffer);
  }
  if (window->share.value_or(0) < kHeldBackMostly) {
    return unknown(window->text + ", but how the buffer came about was not read");
  }
  Verdict verdict = fixed_buffer(look, *window);
  verdict.confidence = Confidence::possible;
  verdict.cause = fmt::format("the receive window of {} is too small for this path ({})",
                              look.host_name(End::receiver), buffer_text(*window));
  raise_tuned_limit(look, End::receiver, "tcp_rmem", fitting_buffer(look, window->bytes),
                    verdict.remedy);
  return verdict;
}

Verdict judge_receive_ceiling(Look& look) {
  return judge_tuning(look, Tuning::at_ceiling, at_ceiling);
}

Verdict judge_receive_tuning_off(Look& look) { return judge_tuning(look, Tuning::off, tuning_off); }

Verdict judge_window_scaling(Look& look) { return judge_tuning(look, Tuning::unscaled, unscaled); }

// ip-sysctl, tcp_mem: above its second number the kernel takes memory back from sockets.
Verdict judge_memory_pressure(Look& look) {
  return either_end(look, [](Look& at, End end) {
    const auto entered = at.total(end, "netstat.TCPMemoryPressures");
    const auto pages = at.largest(end, "sockstat.tcp_mem_pages");
    const auto pressure = at.fact(end, "sysctl.net.ipv4.tcp_mem_default_pages");
    if (!entered && !(pages && pressure)) {
      return unknown(fmt::format("TCP's memory on {} was not read", at.host_name(end)));
    }
    const bool above = pages && pressure && *pages > *pressure;
    const std::string why = fmt::format(
        "{}: entered memory pressure {:.0f} times{}", at.host_name(end), entered.value_or(0),
        pages && pressure ? fmt::format(", {:.0f} of {:.0f} pages in use", *pages, *pressure) : "");
    if (entered.value_or(0) <= 0 && !above) {
      return silent(why);
    }
    return fires(
        Confidence::likely, 0.6, why,
        fmt::format("all of TCP on {} is short of memory, so windows shrink", at.host_name(end)),
        {on(at, end,
            "sysctl -w net.ipv4.tcp_mem=\"$(awk '/MemTotal/ {p=$2/4; printf \"%d "
            "%d %d\", p/16, p/8, p/4}' /proc/meminfo)\""),
         on(at, end, "ss -tm  # which sockets hold it")});
  });
}

}  // namespace netbench::report
