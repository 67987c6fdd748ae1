#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "bench/core/units.hpp"
#include "report/diagnose/signals.hpp"
#include "report/diagnose/verdicts.hpp"
#include "report/diagnose/window_judges.hpp"

namespace netbench::report {

namespace {

// The two ends' blocked shares split first. Measured: slow reader 1.00 sending / 0.01 receiving,
// slow writer 0.00 / 1.00, 64-B writes 0.00 / 0.98, everything between the ends 0.95 … 1.00 at
// both.
constexpr double kHardlyBlocked = 0.3;
constexpr double kPushedBack = 0.6;
constexpr double kReaderRuns = 0.7;
constexpr double kReaderWaits = 0.4;
constexpr double kWriterWorks = 0.8;
constexpr double kSleeps = 0.3;
/// Share of the time that a connection has something in flight below which its writer is slow.
constexpr double kHardlyBusy = 0.5;
constexpr double kIdleAlone = 0.3;
/// Measured: 64 B a call 84 Mb/s, 4 KiB 3.2 Gb/s.
constexpr double kSmallWrite = 1024;
constexpr double kSmallishWrite = 8192;
constexpr double kGrowsWithSize = 1.5;
/// Delayed acknowledgements of Linux wait 40 ms (TCP_DELACK_MIN) to 200 ms (TCP_DELACK_MAX).
/// Measured: 44.1 ms for write-write-read, 0.028 ms with TCP_NODELAY.
constexpr double kDelayedAck_ns = 35e6;
constexpr double kDelayedAckMost_ns = 220e6;

Verdict slow_reader(Look& look, double nearness, const std::string& why, Confidence confidence) {
  const bool ours = look.asked_for("tcp.read_rate");
  return fires(
      confidence, nearness, why,
      fmt::format("the application on {} takes data more slowly than it arrives",
                  look.host_name(End::receiver)),
      {ours ? std::string("leave out --tcp.read_rate")
            : std::string("speed up what consumes the data (disk, GPU copy, parsing), or read with "
                          "more threads; a larger buffer does not help")});
}

/// Without the threads' times: windows that close although they were far from small.
Verdict slow_reader_by_windows(Look& look) {
  const auto share = window_share(look);
  const auto closed = look.total(End::receiver, "netstat.TCPToZeroWindowAdv");
  if (!share || !closed) {
    return unknown("the time that the reader was blocked was not read");
  }
  const auto near = look.nearness("receive-window");
  const std::string why = fmt::format(
      "held back by the window {} of the busy time, closed {:.0f} "
      "times",
      percent(*share), *closed);
  return *share > 0.8 && *closed > 10 && near.value_or(0) < kHardlyBlocked
             ? slow_reader(look, 0.9 * *share, why, Confidence::possible)
             : silent(why);
}

struct Shares {
  double blocked = 0;
  double running = 0;
  double waiting = 0;
  double sleeping = 0;

  [[nodiscard]] std::string text() const {
    return fmt::format("blocked {}, running {}, waiting for a CPU {}, asleep by itself {}",
                       percent(blocked), percent(running), percent(waiting), percent(sleeping));
  }
};

std::optional<Shares> shares_of(Look& look, End end) {
  const auto blocked = blocked_share(look, end);
  if (!blocked) {
    return std::nullopt;
  }
  return Shares{*blocked, running_share(look, end).value_or(0),
                waiting_share(look, end).value_or(0), throttled_share(look, end).value_or(0)};
}

Verdict slow_writer_by_counters(Look& look) {
  const auto busy = look.total(End::sender, "tcp_info.busy_time_us");
  const auto elapsed = look.elapsed_s(End::sender);
  const auto unsent = look.typical(End::sender, "tcp_info.notsent_bytes");
  if (!busy || !elapsed || !unsent) {
    return unknown("the time that the writer was blocked was not read");
  }
  const double share =
      *busy * 1e-6 / *elapsed / std::max(1.0, look.setting(End::sender, "tcp.streams").value_or(1));
  const std::string why =
      fmt::format("something in flight {} of the time, {:.0f} B unsent", percent(share), *unsent);
  if (share >= kIdleAlone || *unsent > 0) {
    return silent(why);
  }
  return fires(Confidence::possible, 1 - share, why,
               fmt::format("the application on {} has nothing to send most of the time",
                           look.host_name(End::sender)),
               {"feed the connection faster: prefetch, larger blocks, more threads"});
}

double bytes_a_call(Look& look) {
  const auto bytes = look.total(End::sender, "payload.sent_bytes");
  const auto calls = look.total(End::sender, "calls.send");
  return bytes && calls && *calls > 0 ? *bytes / *calls
                                      : static_cast<double>(look.row()->size_bytes);
}

/// Goodput with larger messages over the row's, by experiment or by the next rows of the sweep.
std::optional<double> ratio_with_larger_messages(Look& look) {
  if (const Intervention* moved = look.moved("larger-message")) {
    return moved->ratio;
  }
  std::set<std::int64_t> larger;
  for (const Measurement& row : look.document().measurements) {
    if (row.size_bytes >= 4 * look.row()->size_bytes) {
      larger.insert(row.size_bytes);
    }
  }
  std::optional<double> most;
  for (const std::int64_t size : larger) {
    if (const auto ratio = look.sibling_ratio("size", Value{size})) {
      most = std::max(most.value_or(0), *ratio);
    }
  }
  return most;
}

}  // namespace

Verdict judge_slow_reader(Look& look) {
  if (const auto still = stalled(look)) {
    return silent(*still);
  }
  const auto reader = shares_of(look, End::receiver);
  if (!reader) {
    return slow_reader_by_windows(look);
  }
  const std::string why = "reader " + reader->text();
  if (reader->blocked >= kHardlyBlocked) {
    return silent(why);
  }
  if (reader->running >= kReaderRuns || reader->waiting >= kReaderWaits) {
    return silent(why + ": its CPU, not itself, is what is slow");
  }
  const auto writer = blocked_share(look, End::sender);
  if (writer && *writer < kPushedBack) {
    return silent(
        fmt::format("{}, but the writer was blocked only {} of the time", why, percent(*writer)));
  }
  return slow_reader(look, 1 - reader->blocked, why, Confidence::likely);
}

Verdict judge_slow_writer(Look& look) {
  if (const auto still = stalled(look)) {
    return silent(*still);
  }
  const auto writer = shares_of(look, End::sender);
  if (!writer) {
    return slow_writer_by_counters(look);
  }
  const std::string why = "writer " + writer->text();
  if (writer->blocked >= kHardlyBlocked || writer->running + writer->waiting >= kWriterWorks) {
    return silent(why);
  }
  const auto busy = look.total(End::sender, "tcp_info.busy_time_us");
  const auto elapsed = look.elapsed_s(End::sender);
  if (writer->sleeping < kSleeps && busy && elapsed && *busy * 1e-6 / *elapsed >= kHardlyBusy) {
    return silent(why + ", and yet something was in flight most of the time");
  }
  const bool ours = look.asked_for("tcp.write_rate");
  return fires(Confidence::likely, 1 - writer->blocked, why,
               fmt::format("the application on {} offers less than the path would take",
                           look.host_name(End::sender)),
               {ours ? std::string("leave out --tcp.write_rate")
                     : std::string("feed the connection faster: prefetch, larger blocks, more "
                                   "threads")});
}

Verdict judge_small_writes(Look& look) {
  const auto writer = shares_of(look, End::sender);
  if (!writer) {
    return unknown("the sending threads' CPU time was not read");
  }
  const double bytes = bytes_a_call(look);
  const auto growth = ratio_with_larger_messages(look);
  const std::string why =
      fmt::format("{:.0f} B a call, writer {}{}", bytes, writer->text(),
                  growth ? fmt::format("; larger messages give x{:.2f}", *growth) : "");
  const double working = writer->running + writer->waiting;
  if (writer->blocked >= kHardlyBlocked || working <= kWriterWorks || bytes > kSmallishWrite) {
    return silent(why);
  }
  if (growth && *growth < kGrowsWithSize) {
    return silent(why + ": not the size of the writes");
  }
  const bool sure = growth || bytes <= kSmallWrite;
  return fires(sure ? Confidence::likely : Confidence::possible, std::min(1.0, working), why,
               fmt::format("{} hands the kernel {:.0f} B at a time: the system calls are the limit",
                           look.host_name(End::sender), bytes),
               {"write 64 KiB or more at once (writev, a buffer before the socket)",
                "from 32 KiB on MSG_ZEROCOPY saves the copy: --tcp.mode zerocopy"});
}

Verdict judge_nagle(Look& look) {
  const auto p50 = look.row()->summary.rtt_p50_ns;
  if (!p50) {
    return unknown("the row has no median round trip");
  }
  if (look.row()->transport != "tcp") {
    return silent("not TCP");
  }
  const auto nodelay = look.setting(End::sender, "tcp.nodelay");
  const auto path_us = look.typical(End::sender, "tcp_info.min_rtt_us");
  const double path_ns = path_us.value_or(0) * 1e3;
  const double added_ns = *p50 - path_ns;
  const std::string why =
      fmt::format("median round trip {}{}, TCP_NODELAY {}", format_ns(*p50),
                  path_us ? fmt::format(" over a path of {}", format_ns(path_ns)) : "",
                  !nodelay        ? "not known"
                  : *nodelay != 0 ? "on"
                                  : "off");
  if (nodelay.value_or(0) != 0 || added_ns < kDelayedAck_ns || added_ns > kDelayedAckMost_ns) {
    return silent(why);
  }
  const double delayed = look.total(End::receiver, "netstat.DelayedACKs").value_or(0);
  const bool proof = nodelay && path_us && (delayed > 0 || look.asked_for("tcp.nodelay"));
  look.cite(fmt::format("/measurements/{}/summary/rtt_ns/p50",
                        look.row() - look.document().measurements.data()));
  return fires(proof ? Confidence::likely : Confidence::possible, added_ns / *p50,
               fmt::format("{}, {:.0f} delayed acknowledgements", why, delayed),
               "Nagle's algorithm holds the rest of a message back until the peer's delayed "
               "acknowledgement comes, 40 ms later",
               {"set TCP_NODELAY (leave out --tcp.nodelay off), or write each message at once",
                on(look, End::receiver, "ip route change ROUTE quickack 1")});
}

}  // namespace netbench::report
