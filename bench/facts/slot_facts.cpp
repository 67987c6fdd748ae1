#include <fmt/format.h>

#include <charconv>

#include "bench/facts/collectors.hpp"
#include "bench/facts/pci_config.hpp"
#include "bench/facts/slot_siblings.hpp"
#include "bench/facts/sysfs.hpp"
#include "bench/facts/text_files.hpp"

namespace netbench::facts {

namespace {

// "16.0 GT/s PCIe" → 16; Documentation/ABI/testing/sysfs-bus-pci.
void add_speed(FactList& facts, const std::string& key, const std::string& path) {
  const auto text = read_line_file(facts.root(), path);
  if (!text) {
    facts.add_unknown(key, path, text.error().message);
    return;
  }
  double gigatransfers = 0;
  const auto parsed = std::from_chars(text->data(), text->data() + text->size(), gigatransfers);
  if (parsed.ec != std::errc{}) {
    facts.add_unknown(key, path, fmt::format("{} says \"{}\"", path, *text));
  } else {
    facts.add(key, gigatransfers, path);
  }
}

// A port without a link says 0 or 255 lanes (PCI Express 5.0, 7.5.3.8).
void add_width(FactList& facts, const std::string& key, const std::string& path) {
  const auto text = read_line_file(facts.root(), path);
  const auto lanes = text ? to_integer(*text) : std::nullopt;
  if (!lanes) {
    facts.add_unknown(key, path, text ? path + " holds no number" : text.error().message);
  } else if (*lanes <= 0 || *lanes == 255) {
    facts.add_unknown(key, path, "the port has no link");
  } else {
    facts.add(key, *lanes, path);
  }
}

void add_node(FactList& facts, const std::string& key, const std::string& path) {
  const auto text = read_line_file(facts.root(), path);
  const auto node = text ? to_integer(*text) : std::nullopt;
  if (!node) {
    facts.add_unknown(key, path, text ? path + " holds no number" : text.error().message);
  } else if (*node < 0) {
    facts.add_unknown(key, path, "the firmware names no node (-1)");
  } else {
    facts.add(key, *node, path);
  }
}

// Errors: why it cannot be had.
Result<PciConfig> read_config(const FactList& facts, const std::string& source) {
  constexpr std::size_t kForEveryone = 64;  // bytes that a user without CAP_SYS_ADMIN reads
  const auto bytes = read_text_file(facts.root(), source);
  if (!bytes) {
    return tl::unexpected(bytes.error());
  }
  const auto config =
      parse_pci_config({reinterpret_cast<const std::uint8_t*>(bytes->data()), bytes->size()});
  if (config) {
    return *config;
  }
  return bytes->size() <= kForEveryone
             ? fail("not-permitted", "only root reads it beyond 64 bytes")
             : fail("no-capability", "it has no PCI Express capability: an emulated device");
}

// What both the device and the bridges above it have.
void add_config(FactList& facts, const std::string& prefix, const std::string& folder) {
  const std::string source = folder + "/config";
  const auto config = read_config(facts, source);
  if (!config) {
    for (const char* key : {"max_payload_bytes", "max_read_request_bytes", "relaxed_ordering",
                            "aspm", "acs_redirects"}) {
      facts.add_unknown(prefix + key, source, config.error().message);
    }
    return;
  }
  facts.add(prefix + "port_kind", config->port_kind, source);
  facts.add(prefix + "max_payload_bytes", std::int64_t{config->max_payload_bytes}, source);
  facts.add(prefix + "max_payload_supported_bytes",
            std::int64_t{config->max_payload_supported_bytes}, source);
  facts.add(prefix + "max_read_request_bytes", std::int64_t{config->max_read_request_bytes},
            source);
  facts.add(prefix + "relaxed_ordering", config->relaxed_ordering, source);
  facts.add(prefix + "aspm", config->aspm, source);
  facts.add(prefix + "error_reporting", config->has_error_reporting, source);
  if (config->acs_redirects) {
    facts.add(prefix + "acs_redirects", *config->acs_redirects, source);
  } else {
    facts.add_unknown(prefix + "acs_redirects", source, "it has no access control services");
  }
}

/// What else wants to pass the bridge: `others` by name, and their links' line rates together.
void add_others(FactList& facts, const std::string& prefix, const std::string& folder,
                const std::string& own) {
  std::string text;
  double raw_bps = 0;
  for (const Sibling& one : siblings_below(facts.root(), folder, own)) {
    text += fmt::format("{}{} ({}, {:g} GT/s x{:.0f})", text.empty() ? "" : ", ", one.address,
                        one.kind, one.gigatransfers, one.lanes);
    raw_bps += 1e9 * one.gigatransfers * one.lanes;
  }
  facts.add(prefix + "others", text.empty() ? std::string("none") : text, folder);
  facts.add(prefix + "others_raw_bps", raw_bps, folder);
}

void add_bridge(FactList& facts, const std::string& bridges, const PciFunction& bridge,
                const std::string& own) {
  const std::string prefix = fmt::format("{}.{}.", bridges, bridge.address);
  if (facts.find(prefix + "speed_gts") != nullptr) {
    return;  // above another interface too
  }
  add_speed(facts, prefix + "speed_gts", bridge.folder + "/current_link_speed");
  add_speed(facts, prefix + "max_speed_gts", bridge.folder + "/max_link_speed");
  add_width(facts, prefix + "width", bridge.folder + "/current_link_width");
  add_width(facts, prefix + "max_width", bridge.folder + "/max_link_width");
  add_config(facts, prefix, bridge.folder);
  add_others(facts, prefix, bridge.folder, own);
}

void add_iommu(FactList& facts, const std::string& key, const std::string& slot) {
  const std::string path = slot + "/iommu_group/type";
  if (const auto type = read_line_file(facts.root(), path); type) {
    facts.add(key, *type, path);
  } else if (list_directory(facts.root(), slot + "/iommu_group").empty()) {
    facts.add_unknown(key, path, "no IOMMU group: no IOMMU translates for it");
  } else {
    facts.add_unknown(key, path, type.error().message);
  }
}

void add_device(FactList& facts, const std::string& device, const std::string& slot) {
  const std::string prefix = device + ".pcie.";
  add_node(facts, device + ".numa_node", slot + "/numa_node");
  facts.add_text_file(device + ".local_cpus", slot + "/local_cpulist");
  add_iommu(facts, device + ".iommu_group_type", slot);
  add_speed(facts, prefix + "speed_gtps", slot + "/current_link_speed");
  add_speed(facts, prefix + "max_speed_gtps", slot + "/max_link_speed");
  add_width(facts, prefix + "width_lanes", slot + "/current_link_width");
  add_width(facts, prefix + "max_width_lanes", slot + "/max_link_width");
  add_config(facts, prefix, slot);
  const bool virtual_function = !list_directory(facts.root(), slot + "/physfn").empty();
  facts.add(prefix + "virtual_function", virtual_function, slot + "/physfn");
}

void add_wireless(FactList& facts, const LinkInfo& link) {
  const std::string path = fmt::format("/sys/class/net/{}/phy80211", link.name);
  facts.add(fmt::format("if.{}.wireless", link.name), !list_directory(facts.root(), path).empty(),
            path);
}

void collect_slot(FactList& facts, const LinkInfo& link) {
  const std::string device = fmt::format("/sys/class/net/{}", link.name);
  const std::string key = fmt::format("if.{}.pcie", link.name);
  if (const auto shown = sysfs_shows(facts.root(), link); !shown) {
    facts.add_unknown(key, device, shown.error().message);
    return;
  }
  add_wireless(facts, link);
  if (list_directory(facts.root(), device + "/device").empty()) {
    facts.add_unknown(key, device + "/device", "no hardware behind this interface");
    return;
  }
  add_slot(facts, fmt::format("if.{}", link.name), "pcie", device + "/device");
}

}  // namespace

void add_slot(FactList& facts, const std::string& prefix, const std::string& bridges,
              const std::string& device) {
  auto functions = pci_functions(real_path(facts.root(), device));
  // Of virtio and the like, the device is below its PCI function.
  const std::string slot = functions.empty() ? device : functions.back().folder;
  const std::string own = functions.empty() ? std::string() : functions.back().address;
  if (!functions.empty()) {
    std::string path;
    for (const auto& function : functions) {
      path += (path.empty() ? "" : " > ") + function.address;
    }
    facts.add(prefix + ".pcie.address", functions.back().address, device);
    facts.add(prefix + ".pcie.path", path, device);
    functions.pop_back();
  }
  add_device(facts, prefix, slot);
  for (const auto& bridge : functions) {
    add_bridge(facts, bridges, bridge, own);
  }
}

void collect_slots(Place& place) {
  for (const auto& device : place.stack) {
    collect_slot(place.facts, device.link);
  }
}

}  // namespace netbench::facts
