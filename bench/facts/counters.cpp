#include "bench/facts/counters.hpp"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "bench/core/clock.hpp"
#include "bench/facts/text_files.hpp"
#include "bench/facts/virtual_drivers.hpp"

namespace netbench::facts {

namespace {

struct CounterFile {
  const char* path;
  std::string Snapshot::*text;
};

// /proc/self/net is the namespace of the process's first thread; thread-self that of the caller.
constexpr std::array<CounterFile, 5> kCounterFiles{{
    {"/proc/thread-self/net/snmp", &Snapshot::snmp},
    {"/proc/thread-self/net/snmp6", &Snapshot::snmp6},
    {"/proc/thread-self/net/netstat", &Snapshot::netstat},
    {"/proc/thread-self/net/softnet_stat", &Snapshot::softnet},
    {"/proc/stat", &Snapshot::stat},
}};

std::string path_below(const std::string& root, std::string path) {
  if (root == "/") {
    return path;
  }
  constexpr std::string_view kSelf = "/thread-self";
  if (const auto found = path.find(kSelf); found != std::string::npos) {
    path.erase(found, kSelf.size());
  }
  return root + path;
}

// Into `text` from the start of an open file; 0 or errno.
int read_again(int file, std::string& text) {
  constexpr std::size_t kBlock = 16384;
  std::size_t used = 0;
  while (used <= kMostFileBytes) {
    text.resize(used + kBlock);
    const ssize_t got = ::pread(file, text.data() + used, kBlock, static_cast<off_t>(used));
    if (got <= 0) {
      text.resize(used);
      return got < 0 ? errno : 0;
    }
    used += static_cast<std::size_t>(got);
  }
  text.clear();
  return EFBIG;
}

double seconds(const timeval& time) {
  constexpr double kMicro = 1e-6;
  return static_cast<double>(time.tv_sec) + kMicro * static_cast<double>(time.tv_usec);
}

double own_cpu_seconds() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

// Fields 14 and 15 of /proc/<pid>/stat, counted from behind the command name (proc(5)).
Result<double> process_cpu_seconds(const std::string& root, int pid) {
  const auto path = fmt::format("/proc/{}/stat", pid);
  const auto text = read_text_file(root, path);
  if (!text) {
    return tl::unexpected(text.error());
  }
  const auto words = split_words(std::string_view(*text).substr(text->rfind(')') + 1));
  constexpr std::size_t kUserTime = 11;
  const auto user = words.size() > kUserTime + 1 ? to_integer(words[kUserTime]) : std::nullopt;
  const auto system = user ? to_integer(words[kUserTime + 1]) : std::nullopt;
  if (!system) {
    return fail("file-unreadable", path + " has no times");
  }
  return static_cast<double>(*user + *system) / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

bool wants_nic_statistics(NetworkReader& network, const std::string& interface) {
  const auto ethtool = network.ethtool_facts(interface);
  const auto driver = std::ranges::find(ethtool, "driver", &Fact::key);
  const auto* name = driver == ethtool.end() ? nullptr : std::get_if<std::string>(&driver->value);
  return name != nullptr && has_nic_statistics(*name);
}

}  // namespace

CounterSampler CounterSampler::open(SnapshotOptions options) {
  static_assert(kFiles == kCounterFiles.size());
  CounterSampler sampler(std::move(options));
  for (std::size_t i = 0; i < kFiles; ++i) {
    const auto path = path_below(sampler.options_.root, kCounterFiles.at(i).path);
    if (auto file = open_regular_file("/", path); file) {
      sampler.files_.at(i) = std::move(*file);
    } else {
      sampler.why_missing_.at(i) = file.error().message;
    }
  }
  sampler.network_ = sampler.options_.network;
  if (sampler.network_ == nullptr && sampler.options_.root == "/") {
    if (auto kernel = open_kernel_network(); kernel) {
      sampler.own_network_ = std::move(*kernel);
      sampler.network_ = sampler.own_network_.get();
    } else {
      sampler.network_missing_ = kernel.error().message;
    }
  }
  const auto& interface = sampler.options_.interface;
  sampler.nic_statistics_ = sampler.options_.nic_statistics && sampler.network_ != nullptr &&
                            !interface.empty() &&
                            wants_nic_statistics(*sampler.network_, interface);
  return sampler;
}

void CounterSampler::take_interface(Snapshot& snapshot) {
  if (options_.interface.empty()) {
    return;
  }
  if (network_ == nullptr) {
    snapshot.missing.push_back(
        fmt::format("counters of {}: {}", options_.interface,
                    network_missing_.empty() ? "no kernel to ask" : network_missing_));
    return;
  }
  auto link = network_->link(options_.interface);
  if (!link) {
    snapshot.missing.push_back(link.error().message);
    return;
  }
  snapshot.link = std::move(link->statistics);
  if (nic_statistics_) {
    snapshot.nic = network_->ethtool_statistics(options_.interface);
  }
}

void CounterSampler::take_processes(Snapshot& snapshot) const {
  snapshot.own_cpu_s = own_cpu_seconds();
  for (const int pid : options_.known_pids) {
    const auto cpu = process_cpu_seconds(options_.root, pid);
    if (cpu) {
      snapshot.known_processes.push_back({pid, *cpu});
    } else {
      snapshot.missing.push_back(cpu.error().message);
    }
  }
}

Snapshot CounterSampler::take() {
  Snapshot snapshot;
  snapshot.at_ns = monotonic_ns();
  snapshot.interface = options_.interface;
  for (std::size_t i = 0; i < kFiles; ++i) {
    if (!files_.at(i).valid()) {
      snapshot.missing.push_back(why_missing_.at(i));
      continue;
    }
    const auto& file = kCounterFiles.at(i);
    if (const int error = read_again(files_.at(i).get(), snapshot.*file.text); error != 0) {
      snapshot.missing.push_back(fmt::format("{}: {}", file.path, std::strerror(error)));
    }
  }
  take_processes(snapshot);
  take_interface(snapshot);
  return snapshot;
}

Snapshot take_snapshot(const SnapshotOptions& options) {
  return CounterSampler::open(options).take();
}

}  // namespace netbench::facts
