#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "transports/rdma/device.hpp"
#include "transports/rdma/preflight.hpp"

namespace netbench::rdma {
namespace {

Rail broken(const std::string& device, std::uint8_t port, const sdk::Error& error) {
  Rail rail;
  rail.port.device = device;
  rail.port.port = port;
  rail.problem = error.message();
  return rail;
}

Rail read_rail(const Context& context, const DeviceLimits& limits, std::uint8_t port,
               const std::string& root) {
  Result<PortDescription> described = describe_port(context, port, root);
  return described ? Rail{.port = std::move(*described), .limits = limits, .problem = {}}
                   : broken(context.device(), port, described.error());
}

void add_rails(const VerbsTable& verbs, const std::string& device, const std::string& root,
               std::vector<Rail>& rails) {
  const Result<Context> context = Context::open(verbs, device);
  if (!context) {
    rails.push_back(broken(device, 1, why_not_opened(device, context.error().sys_errno(), root)));
    return;
  }
  const Result<DeviceLimits> limits = describe_limits(*context);
  if (!limits) {
    rails.push_back(broken(device, 1, limits.error()));
    return;
  }
  rails.push_back(read_rail(*context, *limits, 1, root));
  for (unsigned int port = 2; port <= rails.back().port.port_count; ++port) {
    rails.push_back(read_rail(*context, *limits, static_cast<std::uint8_t>(port), root));
  }
}

bool has_interface(const PortDescription& port, const std::string& interface) {
  return std::ranges::any_of(
      port.gids, [&interface](const GidEntry& gid) { return gid.interface == interface; });
}

bool is_named(const PortDescription& port, const std::string& name) {
  return name == rail_name(port) || name == port.device + ":" + std::to_string(port.port) ||
         (name == port.device && port.port == 1);
}

/// Why this rail is not used; empty where it can be.
std::string refusal(const Rail& rail, const RailWish& wish) {
  if (!wish.rail.empty() && !is_named(rail.port, wish.rail)) {
    return wish.rail + " is asked for";
  }
  if (!rail.problem.empty()) {
    return rail.problem;
  }
  if (!wish.interface.empty() && !has_interface(rail.port, wish.interface)) {
    return "it is not on " + wish.interface;
  }
  const Check state = check_port_state(rail.port);
  if (state.verdict == Verdict::failed) {
    return state.message;
  }
  return rail.port.gids.empty() ? "it has no GID, or no address" : "";
}

}  // namespace

std::string rail_name(const PortDescription& port) {
  return port.port_count > 1 || port.port > 1 ? port.device + ":" + std::to_string(port.port)
                                              : port.device;
}

const char* name_of(GidType type) {
  static constexpr std::array kNames = {"InfiniBand", "RoCE v1", "RoCE v2", "iWARP"};
  return kNames[static_cast<std::size_t>(type)];
}

const char* name_of(GidFamily family) {
  static constexpr std::array kNames = {"IPv4", "IPv6", "link-local"};
  return kNames[static_cast<std::size_t>(family)];
}

const char* name_of(LinkLayer layer) {
  static constexpr std::array kNames = {"unknown", "InfiniBand", "Ethernet", "iWARP"};
  return kNames[static_cast<std::size_t>(layer)];
}

const char* name_of(PortState state) {
  static constexpr std::array kNames = {"unknown", "DOWN", "INIT", "ARMED", "ACTIVE"};
  return kNames[static_cast<std::size_t>(state)];
}

Result<std::vector<Rail>> list_rails(const VerbsTable& verbs, const std::string& root) {
  const Result<std::vector<std::string>> names = device_names(verbs);
  if (!names) {
    return Failure(names.error());
  }
  std::vector<Rail> rails;
  for (const std::string& name : *names) {
    add_rails(verbs, name, root, rails);
  }
  return rails;
}

Result<const Rail*> choose_rail(std::span<const Rail> rails, const RailWish& wish) {
  const Rail* chosen = nullptr;
  std::string refused;
  for (const Rail& rail : rails) {
    const std::string why = refusal(rail, wish);
    if (!why.empty()) {
      refused += (refused.empty() ? "" : "; ") + rail_name(rail.port) + ": " + why;
    } else if (chosen == nullptr || (!has_interface(chosen->port, wish.preferred_interface) &&
                                     has_interface(rail.port, wish.preferred_interface))) {
      chosen = &rail;
    }
  }
  if (chosen == nullptr) {
    return fail(NB_UNAVAILABLE, "rdma-no-port",
                "no usable RDMA port: " + (refused.empty() ? "there is no device" : refused),
                "see `rdma link` and `ibv_devinfo`");
  }
  return chosen;
}

}  // namespace netbench::rdma
