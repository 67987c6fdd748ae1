#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "bench/core/units.hpp"
#include "report/diagnose/cpu_judges.hpp"
#include "report/diagnose/signals.hpp"
#include "report/diagnose/verdicts.hpp"

namespace netbench::report {

namespace {

constexpr double kRunsAlways = 0.9;
/// Other bounds this near explain the row as well as the thread does.
constexpr double kOtherNear = 0.9;
constexpr double kLossNear = 0.67;
/// Writes this small make the thread busy by themselves.
constexpr double kSmallWrite = 1024;
/// A wire used less than this has room.
constexpr double kWireFull = 0.8;
/// Measured: 3 … 5 other programs on the thread's core 0.46 … 0.92; a quiet machine below 0.05.
constexpr double kWaits = 0.4;
/// Share of a CPU that other programs must have used to be what several threads waited for.
constexpr double kOthers = 0.2;
constexpr double kHadTheCore = 0.7;
/// Measured: a quota of 5 % throttled 46 of 50 periods.
constexpr double kThrottled = 0.1;
constexpr double kSlowClock = 0.7;
constexpr double kHardlyBlocked = 0.3;

/// What explains the row as well, or nothing.
std::optional<std::string> nearer_bound(Look& look) {
  for (const auto& [id, limit] : {std::pair("wire", kOtherNear), std::pair("pacing", kOtherNear),
                                  std::pair("loss", kLossNear), std::pair("pcie", kOtherNear)}) {
    const auto near = look.nearness(id);
    if (near && *near > limit) {
      return fmt::format("{:.2f} of the bound by {}", *near, id);
    }
  }
  return std::nullopt;
}

std::optional<double> bytes_a_call(Look& look) {
  return look.ratio(End::sender, "payload.sent_bytes", "calls.send");
}

std::string thread_text(const Look& look, End end, double share) {
  return fmt::format("the busiest {} thread on {} runs {} of the time",
                     end == End::sender ? "sending" : "receiving", look.host_name(end),
                     percent(share));
}

Verdict one_thread(Look& look, End end) {
  const auto share = busiest_share(look, end);
  if (!share) {
    return unknown(fmt::format("CPU time of the threads on {} was not read", look.host_name(end)));
  }
  const std::string why = thread_text(look, end, *share);
  if (*share <= kRunsAlways) {
    return silent(why);
  }
  if (const auto nearer = nearer_bound(look)) {
    return silent(why + ", but " + *nearer);
  }
  const auto bytes = end == End::sender ? bytes_a_call(look) : std::nullopt;
  if (bytes && *bytes <= kSmallWrite) {
    return silent(fmt::format("{}, writing {:.0f} B at a time", why, *bytes));
  }
  Verdict verdict = fires(
      Confidence::likely, std::min(1.0, *share), why, fmt::format("one core is the limit: {}", why),
      {"more connections, each with its own thread: --tcp.streams 4",
       end == End::sender ? "save the copy: --tcp.mode zerocopy or sendfile"
                          : "save the copy (MSG_ZEROCOPY receive, larger reads)",
       fmt::format("larger packets: ip link set dev {} mtu 9000 on every device of the path",
                   look.interface(end))});
  verdict.severity = severity_by_wire(look);
  return verdict;
}

std::optional<double> throttled_periods(Look& look, End end) {
  return look.ratio(end, "cgroup.nr_throttled", "cgroup.nr_periods");
}

/// Several threads of ours that had a core, or that nobody else wanted one beside, waited for each
/// other. Equal shares: 3 other programs leave 4 threads 0.57 of a core.
std::optional<std::string> waited_for_each_other(Look& look, End end) {
  const auto threads = look.typical(end, end == End::sender ? "send.threads" : "recv.threads");
  if (!threads || *threads <= 1) {
    return std::nullopt;
  }
  const double cores = running_share(look, end).value_or(0) * *threads;
  const double others = look.taken_cpu(end).by_other_programs;
  if (cores < kHadTheCore && others > kOthers) {
    return std::nullopt;
  }
  return fmt::format("{:.0f} threads used {} of a CPU, other programs {}", *threads, percent(cores),
                     percent(others));
}

Verdict contention(Look& look, End end) {
  const auto waiting = waiting_share(look, end);
  if (!waiting) {
    return unknown(
        fmt::format("time that threads on {} waited for a CPU was not read", look.host_name(end)));
  }
  const std::string why = fmt::format("threads on {} waited for a CPU {} of the time",
                                      look.host_name(end), percent(*waiting));
  if (*waiting <= kWaits) {
    return silent(why);
  }
  if (const auto each_other = waited_for_each_other(look, end)) {
    return silent(fmt::format("{}, for each other: {}", why, *each_other));
  }
  const auto throttled = throttled_periods(look, end);
  if (throttled && *throttled > kThrottled) {
    return silent(fmt::format("{}, by their quota ({} of its periods)", why, percent(*throttled)));
  }
  return fires(Confidence::likely, std::min(1.0, *waiting + running_share(look, end).value_or(0)),
               why, fmt::format("other programs hold the CPUs of {}: {}", look.host_name(end), why),
               {on(look, end, "top -H  # and stop the other work"),
                "pin to a quiet core: --tcp.cpu N:M; or run under chrt -f 10"});
}

Verdict quota(Look& look, End end) {
  const auto throttled = throttled_periods(look, end);
  if (!throttled) {
    const auto limit = look.fact_text(end, "cgroup.cpu_max");
    return limit && limit->starts_with("max")
               ? silent(fmt::format("{} has no CPU quota", look.host_name(end)))
               : unknown(fmt::format("throttling on {} was not counted", look.host_name(end)));
  }
  const std::string why = fmt::format("the CPU quota throttled {} in {} of its periods",
                                      look.host_name(end), percent(*throttled));
  if (*throttled <= kThrottled) {
    return silent(why);
  }
  return fires(
      Confidence::likely, std::min(1.0, *throttled), why,
      fmt::format("the control group of the test on {} may not use more CPU: {}",
                  look.host_name(end), why),
      {on(look, end, "echo max > /sys/fs/cgroup/GROUP/cpu.max  # GROUP: /proc/self/cgroup"),
       "in a container: raise or drop its CPU limit (docker --cpus, Kubernetes "
       "resources.limits.cpu)"});
}

bool is_slow_governor(const std::string& governor) {
  constexpr std::array<std::string_view, 3> kSlow = {"powersave", "conservative", "userspace"};
  return std::ranges::find(kSlow, governor) != kSlow.end();
}

// Drivers that choose the frequency in hardware (intel_pstate, amd-pstate) call their usual
// governor powersave too (kernel, admin-guide/pm/intel_pstate), so it counts where the clock is low
// alone.
Verdict clock_frequency(Look& look, End end) {
  const auto share = busiest_share(look, end);
  const auto now = look.fact(end, "cpu.frequency_cur_hz");
  const auto most = look.fact(end, "cpu.frequency_max_hz");
  const auto governor = look.fact_text(end, "cpu.governor");
  if (!share || !now || !most || *most <= 0 || !governor) {
    return unknown(
        fmt::format("governor, clock or threads of {} were not read", look.host_name(end)));
  }
  const std::string why =
      fmt::format("{}: governor {}, {:.2f} of {:.2f} GHz; {}", look.host_name(end), *governor,
                  *now / 1e9, *most / 1e9, thread_text(look, end, *share));
  if (*share <= kRunsAlways || *now >= kSlowClock * *most || !is_slow_governor(*governor)) {
    return silent(why);
  }
  Verdict verdict =
      fires(Confidence::possible, std::min(1.0, *share), why,
            fmt::format("the CPUs of {} are kept at a low clock while one core is the "
                        "limit",
                        look.host_name(end)),
            {on(look, end, "cpupower frequency-set -g performance")});
  verdict.severity = severity_by_wire(look);
  return verdict;
}

/// C-states of an end that are deep beside the round trip.
Verdict sleep_states(Look& look, End end) {
  constexpr double kNoticeable = 0.2;
  const auto deepest_us = look.fact(end, "cpu.cstate_deepest_latency_us");
  const auto p50_ns = look.row()->summary.rtt_p50_ns;
  if (!deepest_us || !p50_ns || *p50_ns <= 0) {
    return unknown(
        fmt::format("C-states of {} or the round trip were not read", look.host_name(end)));
  }
  const double share = *deepest_us * 1e3 / *p50_ns;
  const std::string why = fmt::format("{}: deepest C-state wakes in {:.0f} us, round trip {}",
                                      look.host_name(end), *deepest_us, format_ns(*p50_ns));
  if (share < kNoticeable) {
    return silent(why);
  }
  return fires(
      Confidence::possible, 0.5 * std::min(1.0, share), why,
      fmt::format("cores of {} may fall asleep between messages", look.host_name(end)),
      {on(look, end, "tuned-adm profile network-latency"),
       on(look, end, "cpupower idle-set -D 10  # no state that wakes more slowly than 10 us")});
}

}  // namespace

Severity severity_by_wire(Look& look) {
  const auto wire = look.nearness("wire");
  return wire && *wire < kWireFull ? Severity::warning : Severity::info;
}

Verdict judge_one_thread(Look& look) { return either_end(look, one_thread); }
Verdict judge_contention(Look& look) { return either_end(look, contention); }
Verdict judge_quota(Look& look) { return either_end(look, quota); }
Verdict judge_clock_frequency(Look& look) { return either_end(look, clock_frequency); }

// Both ends work all the time, and none of their threads has a core to itself: what they share is
// memory. Discarding what came instead of copying it saves two of its three passes.
Verdict judge_memory_bandwidth(Look& look) {
  constexpr double kFaster = 1.15;
  const auto sender = blocked_share(look, End::sender);
  const auto receiver = blocked_share(look, End::receiver);
  const auto running = busiest_share(look, End::receiver);
  if (!sender || !receiver || !running) {
    return unknown("the time that threads were blocked or ran was not read");
  }
  const Intervention* discard = look.moved("discard");
  const std::string why =
      fmt::format("blocked {} sending, {} receiving, receiver runs {}{}", percent(*sender),
                  percent(*receiver), percent(*running),
                  discard != nullptr ? fmt::format(", discarding x{:.2f}", discard->ratio) : "");
  if (*running > kRunsAlways || *sender >= kHardlyBlocked || *receiver >= kHardlyBlocked ||
      (discard != nullptr && discard->ratio < kFaster)) {
    return silent(why);
  }
  for (const End end : kEnds) {
    const double waits = waiting_share(look, end).value_or(0);
    const double sleeps = throttled_share(look, end).value_or(0);
    if (waits > kHardlyBlocked || sleeps > kHardlyBlocked) {
      return silent(why + ", but threads waited or slept");
    }
  }
  return fires(Confidence::possible, 0.6, why,
               "both ends copy as fast as memory and caches let them",
               {"save copies: --tcp.mode zerocopy, --tcp.receive discard to see the difference",
                "use the memory of the card's own node (numactl -N x -m x)"});
}

// Spinning spares the sleep of cores and the switch of threads alike: it proves sleep where a core
// has a state deep enough to explain what it saves.
Verdict judge_sleep_states(Look& look) {
  constexpr double kFaster = 0.8;
  const Intervention* awake = look.moved("busy-latency");
  if (awake == nullptr) {
    return look.setting_text(End::sender, "tcp.wait") == "spin"
               ? silent("both ends spin, so that their cores stay awake")
               : either_end(look, sleep_states);
  }
  const std::string why = fmt::format("round trip x{:.2f} where {}", awake->ratio, awake->change);
  const Verdict asleep = either_end(look, sleep_states);
  if (awake->ratio > kFaster || asleep.outcome == Outcome::silent) {
    return silent(awake->ratio > kFaster ? why : why + ", but " + asleep.why);
  }
  Verdict verdict = fires(Confidence::likely, 1 - awake->ratio, why + "; " + asleep.why,
                          "cores fall asleep between messages, and waking them is a part of the "
                          "round trip",
                          {"tuned-adm profile network-latency", "cpupower idle-set -D 10"});
  verdict.severity = Severity::warning;
  return verdict;
}

}  // namespace netbench::report
