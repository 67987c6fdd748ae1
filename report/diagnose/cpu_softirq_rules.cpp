#include <fmt/format.h>

#include <algorithm>

#include "bench/core/units.hpp"
#include "report/diagnose/cpu_judges.hpp"
#include "report/diagnose/signals.hpp"
#include "report/diagnose/verdicts.hpp"

namespace netbench::report {

namespace {

constexpr double kBusy = 0.9;
constexpr double kInSoftirq = 0.5;
constexpr double kOthersFree = 0.5;
/// Share of the lost segments that local drops have to explain.
constexpr double kExplains = 0.3;
/// Drops of packets handled that cost TCP something.
constexpr double kDropShare = 1e-3;
/// Early ends of a softirq of packets handled (kernel, netdev_budget).
constexpr double kSqueezed = 0.01;
/// Guests with more CPUs than this gain from a second queue.
constexpr double kFewCpus = 4;
constexpr double kMuchLoss = 0.05;
constexpr double kSomeLoss = 1e-3;
constexpr double kQuiet = 0.05;

std::string softirq_text(const Look& look, End end, const SoftirqCpu& cpu) {
  return fmt::format("CPU {} of {} is busy {} of the time, in softirq {}; the others {}", cpu.cpu,
                     look.host_name(end), percent(cpu.busy), percent(cpu.softirq),
                     percent(cpu.others));
}

std::vector<std::string> spread_queues(Look& look, End end) {
  const std::string device = look.interface(end);
  const double queues = look.fact(end, "if.*.channels.max_combined").value_or(0);
  std::vector<std::string> remedy;
  if (queues > 1) {
    remedy.push_back(on(look, end, fmt::format("ethtool -L {} combined {:.0f}", device, queues)));
    remedy.push_back(on(look, end, fmt::format("ethtool -X {} equal {:.0f}", device, queues)));
  }
  remedy.push_back(
      on(look, end, fmt::format("echo ff > /sys/class/net/{}/queues/rx-0/rps_cpus", device)));
  remedy.emplace_back("more connections: one flow stays in one queue (--tcp.streams 4)");
  return remedy;
}

Verdict one_softirq_cpu(Look& look, End end) {
  const auto cpu = softirq_cpu(look, end);
  if (!cpu) {
    return unknown(fmt::format("time of each CPU of {} was not read", look.host_name(end)));
  }
  const std::string why = softirq_text(look, end, *cpu);
  if (!is_overloaded(*cpu)) {
    return silent(why);
  }
  Verdict verdict = fires(Confidence::likely, std::min(1.0, cpu->busy), why,
                          fmt::format("packets are handled on one core alone: {}", why),
                          spread_queues(look, end));
  verdict.severity = severity_by_wire(look);
  return verdict;
}

Verdict interrupt_affinity(Look& look, End end) {
  const auto interrupts = look.fact(end, "if.*.irq.count");
  const auto cpus = look.fact(end, "if.*.irq.cpu_count");
  const auto online = look.fact(end, "cpu.online_count");
  if (!interrupts || !cpus || !online) {
    return unknown(fmt::format("interrupts of {} were not read", device_of(look, end)));
  }
  const auto list = look.fact_text(end, "if.*.irq.cpus");
  const auto far = look.fact_text(end, "if.*.irq.far_cpus");
  const bool all_far = list && far && !far->empty() && *list == *far;
  const bool on_one = *cpus <= 1 && *interrupts > 1 && *online > 1;
  const std::string why =
      fmt::format("{}: {:.0f} interrupts on CPUs {}{}", device_of(look, end), *interrupts,
                  list.value_or("not known"), all_far ? ", all of another NUMA node" : "");
  if (!on_one && !all_far) {
    return silent(why);
  }
  return fires(Confidence::likely, 0.3, why,
               fmt::format("all interrupts of {} go to {}", device_of(look, end),
                           on_one ? "one core" : "cores of another NUMA node than the card's"),
               {on(look, end, "systemctl stop irqbalance  # or configure it"),
                on(look, end,
                   fmt::format("set_irq_affinity_bynode.sh $(cat /sys/class/net/{0}/device/"
                               "numa_node) {0}",
                               look.interface(end)))});
}

std::optional<double> lost_in_row(Look& look) {
  if (look.row()->transport == "udp") {
    return look.total(End::receiver, "udp.lost");
  }
  const auto found = losses(look);
  return found ? std::optional(found->lost) : std::nullopt;
}

struct Overflow {
  double drops = 0;
  std::optional<double> lost;
  std::optional<double> expected;

  [[nodiscard]] double share() const { return expected && *expected > 0 ? drops / *expected : 1; }
  [[nodiscard]] std::string text() const {
    return fmt::format("{:.0f} datagrams dropped at the receiver's socket{}{}", drops,
                       lost ? fmt::format(" of {:.0f} lost", *lost) : "",
                       expected ? fmt::format(", {:.0f} sent", *expected) : "");
  }
};

std::optional<Overflow> overflow_of(Look& look) {
  const auto by_socket = look.total(End::receiver, "udp.socket_drops");
  const auto by_host = look.total(End::receiver, "snmp.Udp.RcvbufErrors");
  if (!by_socket && !by_host) {
    return std::nullopt;
  }
  Overflow overflow;
  overflow.drops = std::max(by_socket.value_or(0), by_host.value_or(0));
  overflow.lost = look.total(End::receiver, "udp.lost");
  overflow.expected = look.total(End::receiver, "udp.expected");
  return overflow;
}

/// A flood overruns any receiver, a busy machine any small buffer, and the rate that netbench sends
/// at by itself a small host: only what someone set, or a rate asked for that is lost in bulk, is a
/// fault.
Severity severity_of_overflow(Look& look, const Overflow& overflow) {
  const bool asked = look.asked_for("udp.rcvbuf");
  const auto rate = look.setting(End::sender, "udp.rate");
  const bool flood = look.setting_text(End::sender, "udp.rate") == "auto" || (rate && *rate <= 0);
  const bool waited = waiting_share(look, End::receiver).value_or(0) > kQuiet;
  const bool own_rate = !flood && !look.asked_for("udp.rate");
  if (asked || (!flood && !own_rate && overflow.share() > kMuchLoss && !waited)) {
    return Severity::problem;
  }
  return flood || waited || own_rate ? Severity::info : Severity::warning;
}

}  // namespace

std::optional<SoftirqCpu> softirq_cpu(Look& look, End end) {
  const auto elapsed = look.elapsed_s(end);
  const auto busy_all = look.total(end, "cpu.busy_s");
  std::optional<SoftirqCpu> most;
  double shown = 0;
  for (const auto& [key, seconds] : look.totals_below(end, "cpu.")) {
    constexpr std::string_view kPrefix = "cpu.";
    constexpr std::string_view kSuffix = ".softirq_s";
    if (!elapsed || !key.ends_with(kSuffix) || key.size() <= kPrefix.size() + kSuffix.size()) {
      continue;
    }
    shown += 1;
    const std::string cpu =
        key.substr(kPrefix.size(), key.size() - kPrefix.size() - kSuffix.size());
    if (!most || seconds / *elapsed > most->softirq) {
      most = SoftirqCpu{cpu, 0, seconds / *elapsed, 0};
    }
  }
  if (!most) {
    return std::nullopt;
  }
  static_cast<void>(look.total(end, fmt::format("cpu.{}.softirq_s", most->cpu)));  // cites it
  const double busy_s = look.total(end, fmt::format("cpu.{}.busy_s", most->cpu)).value_or(0);
  most->busy = busy_s / *elapsed;
  const double cpus = look.fact(end, "cpu.logical_count").value_or(shown);
  if (busy_all && cpus > 1) {
    most->others = std::max(0.0, *busy_all - busy_s) / *elapsed / (cpus - 1);
  }
  return most;
}

bool is_overloaded(const SoftirqCpu& cpu) {
  return cpu.busy > kBusy && cpu.softirq > kInSoftirq && cpu.others < kOthersFree;
}

Verdict judge_one_softirq_cpu(Look& look) { return either_end(look, one_softirq_cpu); }
Verdict judge_interrupt_affinity(Look& look) { return either_end(look, interrupt_affinity); }

Verdict judge_backlog_drops(Look& look) {
  const auto dropped = look.total(End::receiver, "softnet.dropped");
  if (!dropped) {
    return unknown("drops of the backlog were not counted");
  }
  const auto lost = lost_in_row(look);
  const auto share = look.ratio(End::receiver, "softnet.dropped", "softnet.processed");
  const std::string why = fmt::format(
      "{:.0f} packets dropped from the backlog of {}{}{}", *dropped, look.host_name(End::receiver),
      share ? fmt::format(" ({} of those handled)", percent(*share)) : "",
      lost ? fmt::format(", {:.0f} of the row lost", *lost) : "");
  if (*dropped < 1 || (lost && (*lost < 1 || *dropped < kExplains * *lost))) {
    return silent(why);
  }
  Verdict verdict = fires(lost ? Confidence::likely : Confidence::possible,
                          lost ? std::min(1.0, *dropped / *lost) : 0.5, why,
                          fmt::format("a CPU of {} cannot keep up, and its backlog overflows: {}",
                                      look.host_name(End::receiver), why),
                          {on(look, End::receiver, "sysctl -w net.core.netdev_max_backlog=10000"),
                           on(look, End::receiver,
                              fmt::format("echo ff > /sys/class/net/{}/queues/rx-0/rps_cpus",
                                          look.interface(End::receiver)))});
  if (share.value_or(1) < kDropShare) {
    verdict.severity = Severity::info;
  }
  return verdict;
}

Verdict judge_softirq_budget(Look& look) {
  return either_end(look, [](Look& at, End end) {
    const auto share = at.ratio(end, "softnet.time_squeeze", "softnet.processed");
    if (!share) {
      return unknown(fmt::format("softnet of {} was not read", at.host_name(end)));
    }
    const std::string why = fmt::format("{}: softirq ended early for {} of the packets",
                                        at.host_name(end), percent(*share));
    return *share <= kSqueezed
               ? silent(why)
               : fires(Confidence::possible, 0.2, why,
                       fmt::format("the packet budget of a softirq is too small on {}: {}",
                                   at.host_name(end), why),
                       {on(at, end,
                           "sysctl -w net.core.netdev_budget=600 "
                           "net.core.netdev_budget_usecs=8000")});
  });
}

Verdict judge_single_queue(Look& look) {
  return either_end(look, [](Look& at, End end) {
    const auto driver = at.fact_text(end, "if.*.driver");
    const auto queues = at.fact(end, "if.*.channels.combined");
    const auto cpus = at.fact(end, "cpu.logical_count");
    const auto cpu = softirq_cpu(at, end);
    if (!driver || !queues || !cpus || !cpu) {
      return unknown(fmt::format("driver, queues or CPUs of {} were not read", device_of(at, end)));
    }
    const std::string why =
        fmt::format("{}: {} with {:.0f} queues, {:.0f} CPUs; {}", device_of(at, end), *driver,
                    *queues, *cpus, softirq_text(at, end, *cpu));
    if (*driver != "virtio_net" || *queues != 1 || *cpus <= kFewCpus || !is_overloaded(*cpu)) {
      return silent(why);
    }
    return fires(
        Confidence::likely, std::min(1.0, cpu->busy), why,
        fmt::format("the virtual card {} has one queue, and one CPU handles all packets",
                    device_of(at, end)),
        {"give the guest's card queues (libvirt: <driver name='vhost' queues='8'/>; QEMU: "
         "mq=on,vectors=18), or use SR-IOV",
         on(at, end, fmt::format("ethtool -L {} combined {:.0f}", at.interface(end), *cpus))});
  });
}

Verdict judge_socket_overflow(Look& look) {
  const auto overflow = overflow_of(look);
  if (!overflow) {
    return unknown("drops at the receiver's socket were not counted");
  }
  if (overflow->drops < 1 || overflow->share() < kSomeLoss ||
      (overflow->lost && overflow->drops < *overflow->lost / 2)) {
    return silent(overflow->text());
  }
  const auto buffer = look.setting(End::receiver, "udp.rcvbuf");
  const auto most = static_cast<double>(1 << 22);
  const auto wanted = static_cast<std::int64_t>(std::max(most, 8 * buffer.value_or(0)));
  Verdict verdict = fires(
      Confidence::likely,
      overflow->lost && *overflow->lost > 0 ? std::min(1.0, overflow->drops / *overflow->lost)
                                            : 0.9,
      overflow->text(),
      fmt::format("the receive buffer of {}{} overflows: the loss is the receiver's own, not the "
                  "network's",
                  look.host_name(End::receiver),
                  buffer ? " (" + format_bytes(static_cast<std::int64_t>(*buffer)) + ")" : ""),
      {fmt::format("--udp.rcvbuf {} (in an application: SO_RCVBUF)", wanted)});
  raise_asked_limit(look, End::receiver, "rmem_max", wanted, verdict.remedy);
  verdict.remedy.emplace_back("read with more threads, or in batches (recvmmsg)");
  verdict.severity = severity_of_overflow(look, *overflow);
  return verdict;
}

}  // namespace netbench::report
