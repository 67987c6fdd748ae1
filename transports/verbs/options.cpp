#include "transports/verbs/options.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <string_view>

#include "transports/sdk/error.hpp"
#include "transports/sdk/sockets.hpp"
#include "transports/sdk/values.hpp"

namespace netbench::verbs {
namespace {

/// This end's part of "I" (both ends) or "I<separator>R".
std::string part_of_role(const std::string& text, char separator, nb_role role) {
  const std::size_t at = text.find(separator);
  if (at == std::string::npos) {
    return text;
  }
  return role == NB_INITIATOR ? text.substr(0, at) : text.substr(at + 1);
}

std::optional<std::uint32_t> parse_gid_index(const std::string& text, nb_role role) {
  const std::string mine = part_of_role(text, ':', role);
  if (mine == "auto") {
    return std::nullopt;
  }
  std::uint32_t index = 0;
  const auto [end, error] = std::from_chars(mine.data(), mine.data() + mine.size(), index);
  if (error != std::errc{} || end != mine.data() + mine.size() || index > 255) {
    throw sdk::invalid("gid_index", "\"" + text + "\" is no index of a GID table",
                       "write one index of 0..255, or initiator:responder as 1:3");
  }
  return index;
}

std::optional<std::string> parse_device(const std::string& text, nb_role role) {
  std::string mine = part_of_role(text, '/', role);
  if (mine.empty()) {
    throw sdk::invalid("device", "\"" + text + "\" names no rail", "see `netbench transports`");
  }
  return mine == "auto" ? std::nullopt : std::optional(std::move(mine));
}

/// What each transport type carries (IBTA 1.4, table 38).
struct Carried {
  Qp qp;
  const char* name;
  std::array<bool, kOpChoices.size()> ops;  // in the order of Op
  const char* those;
};
constexpr std::array kCarried = {
    Carried{Qp::rc, "rc", {true, true, true, true, true, true}, "all"},
    Carried{Qp::uc, "uc", {true, true, true, false, false, false}, "write, write_imm and send"},
    Carried{Qp::ud, "ud", {false, false, true, false, false, false}, "send"},
};

void check_operation(const Options& options) {
  const Carried& type = kCarried[static_cast<std::size_t>(options.qp)];
  const auto op = static_cast<std::size_t>(options.op);
  if (!type.ops[op]) {
    throw sdk::invalid("op",
                       std::string(kOpChoices[op].name) + " is not an operation of qp " +
                           type.name + ", which carries " + type.those,
                       "use qp rc, or another op");
  }
  if (options.atomic() && options.message_bytes != kAtomicBytes) {
    throw sdk::invalid("op",
                       std::string(kOpChoices[op].name) + " is of 8 bytes, not of " +
                           std::to_string(options.message_bytes),
                       "give --size 8");
  }
}

void check_path_mtu(const Options& options) {
  const std::int64_t mtu = options.path_mtu.value_or(4096);
  if (!std::has_single_bit(static_cast<std::uint64_t>(mtu))) {
    throw sdk::invalid("path_mtu", std::to_string(mtu) + " B is no path MTU",
                       "use 256, 512, 1024, 2048 or 4096");
  }
  if (options.qp == Qp::ud && options.message_bytes > mtu) {
    throw sdk::invalid("qp",
                       "a datagram of qp ud holds at most the path MTU, " + std::to_string(mtu) +
                           " B here, not " + std::to_string(options.message_bytes),
                       "use smaller messages, or qp rc");
  }
}

void check_depths(const Options& options) {
  const auto exceeds = [](const auto& part, const auto& whole) {
    return part && whole && *part > *whole;
  };
  if (exceeds(options.post_list, options.tx_depth)) {
    throw sdk::invalid("post_list", "a chain is longer than tx_depth", "raise tx_depth");
  }
  if (exceeds(options.cq_moderation, options.tx_depth)) {
    throw sdk::invalid("cq_moderation", "a completion would come after more than tx_depth",
                       "raise tx_depth");
  }
  if (options.threads && *options.threads > options.qps) {
    throw sdk::invalid("threads", "there are fewer queue pairs than threads", "raise qps");
  }
}

void check_ordering(const Options& options) {
  if (options.inline_bytes.value_or(0) > 0 && (options.op == Op::read || options.atomic())) {
    throw sdk::invalid("inline", "reads and atomics carry no payload in the work request",
                       "leave inline at auto");
  }
  if (options.read_depth && options.op != Op::read && !options.atomic()) {
    throw sdk::invalid("read_depth", "applies to op read, fetch_add and compare_swap");
  }
}

}  // namespace

bool Options::sends_payload() const {
  return is_stream() &&
         (direction == NB_BOTH || (direction == NB_FORWARD) == (role == NB_INITIATOR));
}

bool Options::receives_payload() const {
  return is_stream() && (direction == NB_BOTH || !sends_payload());
}

bool Options::posts() const {
  if (is_stream()) {
    return op == Op::read ? receives_payload() : sends_payload();
  }
  return role == NB_INITIATOR || (op != Op::read && !atomic());
}

bool Options::is_target() const {
  if (is_stream()) {
    return op == Op::read ? sends_payload() : receives_payload();
  }
  return role == NB_RESPONDER || (op != Op::read && !atomic());
}

rdma::QpKind Options::kind() const {
  static constexpr std::array kKinds = {rdma::QpKind::rc, rdma::QpKind::uc, rdma::QpKind::ud};
  return kKinds[static_cast<std::size_t>(qp)];
}

std::size_t Options::lanes() const { return is_stream() ? static_cast<std::size_t>(qps) : 1; }

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
  options.seed = args.seed;
  options.peer = sdk::copy_address(args.peer_address, args.peer_address_bytes);
  options.local = sdk::copy_address(args.local_address, args.local_address_bytes);
  options.op = values.choice<Op>("op");
  options.qp = values.choice<Qp>("qp");
  options.wait = values.choice<Wait>("wait");
  options.qps = values.number("qps");
  options.threads = values.integer("threads");
  options.tx_depth = values.integer("tx_depth");
  options.rx_depth = values.integer("rx_depth");
  options.post_list = values.integer("post_list");
  options.cq_moderation = values.integer("cq_moderation");
  options.inline_bytes = values.integer("inline");
  options.path_mtu = values.integer("path_mtu");
  options.read_depth = values.integer("read_depth");
  options.device = parse_device(values.text("device"), options.role);
  options.gid_index = parse_gid_index(values.text("gid_index"), options.role);
  options.traffic_class = static_cast<std::uint8_t>(values.number("traffic_class"));
  options.service_level = static_cast<std::uint8_t>(values.number("sl"));
  options.flow_label = static_cast<std::uint32_t>(values.number("flow_label"));
  options.ack_timeout = static_cast<std::uint8_t>(values.number("ack_timeout"));
  options.retries = static_cast<std::uint8_t>(values.number("retries"));
  options.rnr_retries = static_cast<std::uint8_t>(values.number("rnr_retries"));
  options.huge_pages = values.flag("huge_pages");
  options.relaxed_ordering = values.flag("relaxed_ordering");
  options.cpu_text = values.text("cpu");
  options.cpus = sdk::cpus_of_role(options.cpu_text, options.role);
  if (const auto node = values.integer("numa")) {
    options.numa = static_cast<int>(*node);
  }
  return options;
}

void check_options(const Options& options) {
  check_operation(options);
  check_path_mtu(options);
  check_depths(options);
  check_ordering(options);
  sdk::require_usable(options.cpus);
}

}  // namespace netbench::verbs
