#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "bench/facts/collectors.hpp"
#include "bench/facts/rdma_flow.hpp"
#include "bench/facts/rdma_rails.hpp"
#include "bench/facts/rdma_text.hpp"
#include "bench/facts/text_files.hpp"

namespace netbench::facts {

namespace {

constexpr unsigned kIpcLock = 14;  // CAP_IPC_LOCK of linux/capability.h

/// Writes what a parser makes of one line of a file, or why there is nothing.
template <class Parse>
void add_parsed(FactList& facts, const std::string& key, const std::string& path, Parse parse) {
  const auto text = read_line_file(facts.root(), path);
  if (!text) {
    facts.add_unknown(key, path, text.error().message);
  } else if (const auto value = parse(*text)) {
    facts.add(key, *value, path);
  } else {
    facts.add_unknown(key, path, fmt::format("{} says \"{}\"", path, *text));
  }
}

void add_process_limits(FactList& facts) {
  const std::string limits = "/proc/self/limits";
  const std::string status = "/proc/self/status";
  const auto limit_text = read_text_file(facts.root(), limits);
  const auto status_text = read_text_file(facts.root(), status);
  const auto bytes = limit_text ? parse_locked_memory(*limit_text) : std::nullopt;
  const auto lock = status_text ? parse_capability(*status_text, kIpcLock) : std::nullopt;
  if (bytes) {
    facts.add("rdma.memlock_bytes", *bytes, limits);
  } else {
    facts.add_unknown("rdma.memlock_bytes", limits, "the limit is not in " + limits);
  }
  if (lock) {
    facts.add("rdma.cap_ipc_lock", *lock, status);
  } else {
    facts.add_unknown("rdma.cap_ipc_lock", status, "CapEff is not in " + status);
  }
}

/// The node of a device for programs, and whether this process may use it.
void add_device_node(FactList& facts, const std::string& prefix, const RdmaRail& rail) {
  constexpr const char* kNodes = "/sys/class/infiniband_verbs";
  const std::string key = prefix + "device_node";
  const std::string access = prefix + "access";
  for (const auto& name : list_directory(facts.root(), kNodes)) {
    const std::string source = fmt::format("{}/{}/ibdev", kNodes, name);
    if (const auto device = read_line_file(facts.root(), source);
        !device || *device != rail.device) {
      continue;
    }
    const std::string node = "/dev/infiniband/" + name;
    const std::string place = (facts.root() == "/" ? "" : facts.root()) + node;
    if (::access(place.c_str(), R_OK | W_OK) == 0) {
      facts.add(key, node, source);
      facts.add(access, std::string("allowed"), node);
      return;
    }
    const bool refused = errno == EACCES || errno == EPERM;
    facts.add_unknown(key, node, fmt::format("{}: {}", node, std::strerror(errno)));
    facts.add(access, std::string(refused ? "not permitted" : "no device node"), node);
    return;
  }
  facts.add_unknown(key, kNodes, "the kernel offers it to no program (is ib_uverbs loaded?)");
  facts.add(access, std::string("not offered"), kNodes);
}

void add_identity(FactList& facts, const std::string& prefix, const RdmaRail& rail) {
  const std::string folder = rail.device_folder();
  const RdmaDriver driver = rdma_driver(facts.root(), rail);
  if (driver.name.empty()) {
    facts.add_unknown(prefix + "driver", driver.source, "no driver is named");
  } else {
    facts.add(prefix + "driver", driver.name, driver.source);
  }
  facts.add(prefix + "software", driver.software, driver.source);
  facts.add_text_file(prefix + "firmware", folder + "/fw_ver");
  facts.add_text_file(prefix + "board", folder + "/board_id");
  facts.add_text_file(prefix + "node_guid", folder + "/node_guid");
}

void add_port(FactList& facts, const std::string& prefix, const RdmaRail& rail) {
  const std::string folder = rail.port_folder();
  const auto state = [](std::string_view text) { return std::optional(parse_rdma_state(text)); };
  add_parsed(facts, prefix + "state", folder + "/state", state);
  add_parsed(facts, prefix + "phys_state", folder + "/phys_state", state);
  facts.add_text_file(prefix + "link_layer", folder + "/link_layer");
  add_parsed(facts, prefix + "rate_bps", folder + "/rate", [](std::string_view text) {
    const auto rate = parse_rdma_rate(text);
    return rate ? std::optional(rate->bps) : std::nullopt;
  });
  add_parsed(facts, prefix + "lanes", folder + "/rate", [](std::string_view text) {
    const auto rate = parse_rdma_rate(text);
    return rate && !rate->lanes.empty() ? std::optional(rate->lanes) : std::nullopt;
  });
  for (const char* name : {"lid", "sm_lid"}) {
    add_parsed(facts, prefix + name, fmt::format("{}/{}", folder, name), parse_rdma_number);
  }
  add_parsed(facts, prefix + "pkey", folder + "/pkeys/0", parse_rdma_number);
}

/// iWARP has GIDs without a type of their own; an entry that is not in use gives EINVAL as its
/// type.
void add_gids(FactList& facts, const std::string& prefix, const RdmaRail& rail) {
  const std::string folder = rail.port_folder();
  for (const auto& index : list_directory(facts.root(), folder + "/gids")) {
    const std::string source = fmt::format("{}/gids/{}", folder, index);
    const auto text = read_line_file(facts.root(), source);
    const auto gid = text ? parse_gid(*text) : std::nullopt;
    if (!gid) {
      continue;
    }
    const std::string key = fmt::format("{}gid.{}.", prefix, index);
    facts.add(key + "address", *gid, source);
    facts.add_text_file(key + "type", fmt::format("{}/gid_attrs/types/{}", folder, index));
    facts.add_text_file(key + "interface", fmt::format("{}/gid_attrs/ndevs/{}", folder, index));
  }
}

/// What the connection manager and the vendor's files say about classes of traffic.
void add_traffic_files(FactList& facts, const std::string& prefix, const RdmaRail& rail,
                       const std::string& interface) {
  const std::string manager =
      fmt::format("/sys/kernel/config/rdma_cm/{}/ports/{}", rail.device, rail.port);
  facts.add_text_file(prefix + "roce_mode", manager + "/default_roce_mode");
  facts.add_integer_file(prefix + "cm_tos", manager + "/default_roce_tos");
  add_parsed(facts, prefix + "traffic_class",
             fmt::format("{}/tc/{}/traffic_class", rail.device_folder(), rail.port),
             parse_traffic_class);
  facts.add_text_file(prefix + "trust", fmt::format("/sys/class/net/{}/qos/trust", interface));
}

void add_flow_control(FactList& facts, const std::string& prefix, const std::string& interface) {
  constexpr const char* kSource = "netlink DCB_CMD_IEEE_GET";
  const auto flow = facts.root() == "/"
                        ? read_flow_control(interface)
                        : fail("not-recorded", "a recorded tree has no kernel to ask");
  if (!flow || !flow->pfc_mask) {
    facts.add_unknown(prefix + "pfc_mask", kSource,
                      flow ? "the driver tells no priority flow control" : flow.error().message);
  } else {
    facts.add(prefix + "pfc_mask", std::int64_t{*flow->pfc_mask}, kSource);
  }
  if (flow && !flow->priority_of_dscp.empty()) {
    facts.add(prefix + "dscp_priorities", dscp_text(*flow), kSource);
  }
}

/// Which counters there are: one that did not move is left out of a row's.
void add_counter_names(FactList& facts, const std::string& prefix, const RdmaRail& rail) {
  std::string names;
  for (const char* group : {"counters", "hw_counters"}) {
    for (const auto& name :
         list_directory(facts.root(), fmt::format("{}/{}", rail.port_folder(), group))) {
      names += name == "lifespan" ? "" : fmt::format("{}{}", names.empty() ? "" : " ", name);
    }
  }
  const std::string source = rail.port_folder() + "/hw_counters";
  if (names.empty()) {
    facts.add_unknown(prefix + "counter_names", source, "the driver counts nothing");
  } else {
    facts.add(prefix + "counter_names", names, source);
  }
}

void collect_rail(FactList& facts, const RdmaRail& rail) {
  const std::string prefix = fmt::format("rdma.{}.", rail.name);
  add_identity(facts, prefix, rail);
  add_port(facts, prefix, rail);
  add_device_node(facts, prefix, rail);
  const std::string interface = rdma_interface(facts.root(), rail);
  if (interface.empty()) {
    facts.add_unknown(prefix + "interface", rail.port_folder() + "/gid_attrs/ndevs",
                      "no network interface belongs to it");
  } else {
    facts.add(prefix + "interface", interface, rail.port_folder() + "/gid_attrs/ndevs");
    facts.add_integer_file(prefix + "interface_mtu_bytes",
                           fmt::format("/sys/class/net/{}/mtu", interface));
    add_traffic_files(facts, prefix, rail, interface);
    add_flow_control(facts, prefix, interface);
  }
  add_gids(facts, prefix, rail);
  add_counter_names(facts, prefix, rail);
  const std::string device = rail.device_folder() + "/device";
  if (!list_directory(facts.root(), device).empty()) {
    add_slot(facts, fmt::format("rdma.{}", rail.name), prefix + "bridge", device);
  }
}

}  // namespace

void collect_rdma(FactList& facts) {
  const auto rails = rdma_rails(facts.root());
  facts.add("rdma.devices", static_cast<std::int64_t>(rails.size()), "/sys/class/infiniband");
  if (rails.empty()) {
    return;
  }
  add_process_limits(facts);
  for (const auto& rail : rails) {
    collect_rail(facts, rail);
  }
}

}  // namespace netbench::facts
