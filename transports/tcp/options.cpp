#include "transports/tcp/options.hpp"

#include <dirent.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <memory>

#include "transports/sdk/error.hpp"
#include "transports/sdk/values.hpp"
#include "transports/tcp/socket.hpp"

namespace netbench::tcp {
namespace {

nb_direction load_direction(LoadDirection direction) {
  static constexpr std::array kDirections = {NB_FORWARD, NB_REVERSE, NB_BOTH};
  return kDirections[static_cast<std::size_t>(direction)];
}

/// Only where the workload has the tunable.
std::optional<std::int64_t> share_of_stream(const Options& options,
                                            const std::optional<std::int64_t>& rate_bps) {
  const bool applies = rate_bps && (bit(options.workload) & kStreams) != 0;
  return applies ? std::optional(std::max<std::int64_t>(*rate_bps / options.streams, 1))
                 : std::nullopt;
}

std::int64_t open_descriptors() {
  const std::unique_ptr<DIR, int (*)(DIR*)> directory(opendir("/proc/self/fd"), &closedir);
  std::int64_t count = 0;
  while (directory != nullptr && readdir(directory.get()) != nullptr) {
    ++count;
  }
  return count;
}

/// Sockets, and a pipe or a memory file for each sending thread of some modes.
std::int64_t descriptors_needed(const Options& options) {
  const bool sends = options.sends_bulk();
  const std::int64_t per_stream = sends && options.mode == Mode::vmsplice   ? 3
                                  : sends && options.mode == Mode::sendfile ? 2
                                                                            : 1;
  return options.connections() * per_stream;
}

void check_descriptors(const Options& options) {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) {
    return;
  }
  const std::int64_t needed = descriptors_needed(options) + open_descriptors();
  if (needed > static_cast<std::int64_t>(limit.rlim_cur)) {
    throw too_many_streams(options.connections(), needed,
                           static_cast<std::int64_t>(limit.rlim_cur));
  }
}

std::int64_t available_memory_bytes() {
  std::ifstream file("/proc/meminfo");
  std::string key;
  std::int64_t kib = 0;
  std::string unit;
  while (file >> key >> kib && std::getline(file, unit)) {
    if (key == "MemAvailable:") {
      return kib * kKiB;
    }
  }
  return INT64_MAX;
}

void check_memory(const Options& options) {
  const std::int64_t needed =
      options.message_bytes * std::max<std::int64_t>(options.connections(), 1);
  const std::int64_t available = available_memory_bytes();
  if (needed > available) {
    throw sdk::Error(NB_INVALID, "message-too-large",
                     "buffers of " + std::to_string(options.message_bytes) + " B for " +
                         std::to_string(options.connections()) + " connections exceed the " +
                         std::to_string(available) + " B of memory available",
                     "use smaller messages or fewer streams");
  }
}

void check_congestion(const std::string& name) {
  const Fd probe(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (probe.valid()) {
    set_congestion(probe.get(), name);
  }
}

}  // namespace

std::int64_t Options::connections() const {
  switch (workload) {
    case WorkloadId::latency:
      return 1;
    case WorkloadId::bandwidth:
    case WorkloadId::message_rate:
      return streams;
    case WorkloadId::loaded_latency:
      return 1 + load;
    case WorkloadId::connect:
      return 0;
  }
  return 0;
}

bool Options::sends_bulk() const {
  const nb_direction way =
      workload == WorkloadId::loaded_latency ? tcp::load_direction(load_direction) : direction;
  return way == NB_BOTH || (way == NB_FORWARD) == (role == NB_INITIATOR);
}

bool Options::receives_bulk() const {
  const nb_direction way =
      workload == WorkloadId::loaded_latency ? tcp::load_direction(load_direction) : direction;
  return way == NB_BOTH || !sends_bulk();
}

std::optional<std::int64_t> Options::read_rate_of_stream() const {
  return share_of_stream(*this, read_rate_bps);
}

std::optional<std::int64_t> Options::write_rate_of_stream() const {
  return share_of_stream(*this, write_rate_bps);
}

std::optional<int> Options::cpu_of(std::size_t thread) const {
  return cpus.empty() ? std::nullopt : std::optional(cpus[thread % cpus.size()]);
}

Options parse_options(const nb_open_args& args) {
  const sdk::Values values(kTunableRows, args);
  Options options;
  options.role = args.role;
  options.workload = static_cast<WorkloadId>(args.workload);
  options.direction = args.direction;
  options.message_bytes = args.message_bytes;
  options.deadline_ns = args.deadline_ns > 0 ? args.deadline_ns : kDefaultDeadlineNs;
  options.peer = sdk::copy_address(args.peer_address, args.peer_address_bytes);
  options.sndbuf = values.integer("sndbuf");
  options.rcvbuf = values.integer("rcvbuf");
  options.mss = values.integer("mss");
  options.lowat = values.integer("lowat");
  options.pacing_bps = values.integer("pacing");
  options.read_rate_bps = values.integer("read_rate");
  options.write_rate_bps = values.integer("write_rate");
  options.busy_poll_ns = values.integer("busy_poll");
  options.congestion = values.text_unless_auto("congestion");
  options.bind = values.text_unless_auto("bind");
  options.nodelay = values.flag("nodelay");
  options.streams = values.number("streams");
  options.load = values.number("load");
  options.rate_hz = values.number("rate");
  options.writes = values.number("writes");
  options.dscp = values.number("dscp");
  options.wait = values.choice<Wait>("wait");
  options.mode = values.choice<Mode>("mode");
  options.receive = values.choice<Receive>("receive");
  options.load_direction = values.choice<LoadDirection>("load_direction");
  options.cpu_text = values.text("cpu");
  options.cpus = sdk::cpus_of_role(options.cpu_text, options.role);
  return options;
}

void check_options(const Options& options) {
  sdk::require_usable(options.cpus);
  check_descriptors(options);
  check_memory(options);
  if (options.congestion) {
    check_congestion(*options.congestion);
  }
}

}  // namespace netbench::tcp
