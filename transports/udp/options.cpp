#include "transports/udp/options.hpp"

#include <sys/resource.h>

#include <algorithm>

#include "transports/sdk/error.hpp"
#include "transports/sdk/sockets.hpp"
#include "transports/sdk/values.hpp"

namespace netbench::udp {
namespace {

constexpr std::int64_t kBufferBytes = std::int64_t{4} << 20;
constexpr std::int64_t kSpareDescriptors = 32;

}  // namespace

bool Options::sends() const {
  return is_stream() &&
         (direction == NB_BOTH || (direction == NB_FORWARD) == (role == NB_INITIATOR));
}

bool Options::receives() const { return is_stream() && (direction == NB_BOTH || !sends()); }

std::size_t Options::slots() const {
  return static_cast<std::size_t>(
      std::clamp<std::int64_t>(kBufferBytes / std::max<std::int64_t>(message_bytes, 1), 1, batch));
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
  options.deadline_ns = args.deadline_ns > 0 ? args.deadline_ns : sdk::kDefaultDeadlineNs;
  options.peer = sdk::copy_address(args.peer_address, args.peer_address_bytes);
  options.local = sdk::copy_address(args.local_address, args.local_address_bytes);
  options.rate_bps = values.integer("rate");
  options.sndbuf = values.integer("sndbuf");
  options.rcvbuf = values.integer("rcvbuf");
  options.bind = values.text_unless_auto("bind");
  options.streams = values.number("streams");
  options.batch = values.number("batch");
  options.dscp = values.number("dscp");
  options.gso = values.flag("gso");
  options.wait = values.choice<Wait>("wait");
  options.cpu_text = values.text("cpu");
  options.cpus = sdk::cpus_of_role(options.cpu_text, options.role);
  return options;
}

void check_options(const Options& options) {
  sdk::require_usable(options.cpus);
  rlimit limit{};
  const auto needed = static_cast<std::int64_t>(options.sockets()) + kSpareDescriptors;
  if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
      needed > static_cast<std::int64_t>(limit.rlim_cur)) {
    throw sdk::Error(
        NB_INVALID, "too-many-streams",
        "streams: " + std::to_string(options.sockets()) +
            " sockets are too many for this process's limit of " + std::to_string(limit.rlim_cur) +
            " file descriptors",
        "raise the limit (`ulimit -n " + std::to_string(needed * 2) + "`) or use fewer streams");
  }
}

}  // namespace netbench::udp
