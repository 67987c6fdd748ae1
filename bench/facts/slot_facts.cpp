#include <fmt/format.h>

#include <charconv>

#include "bench/facts/collectors.hpp"
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

}  // namespace

void collect_slot(FactList& facts, const LinkInfo& link) {
  const std::string device = fmt::format("/sys/class/net/{}", link.name);
  const std::string key = fmt::format("if.{}.pcie", link.name);
  const auto index = read_line_file(facts.root(), device + "/ifindex");
  if (index && to_integer(*index) != link.index) {
    facts.add_unknown(key, device, "/sys shows another network namespace than this process has");
    return;
  }
  if (!index) {
    facts.add_unknown(key, device, index.error().message);
    return;
  }
  if (list_directory(facts.root(), device + "/device").empty()) {
    facts.add_unknown(key, device + "/device", "no hardware behind this interface");
    return;
  }
  const std::string slot = device + "/device/";
  add_node(facts, fmt::format("if.{}.numa_node", link.name), slot + "numa_node");
  add_speed(facts, key + ".speed_gtps", slot + "current_link_speed");
  add_speed(facts, key + ".max_speed_gtps", slot + "max_link_speed");
  facts.add_integer_file(key + ".width_lanes", slot + "current_link_width");
  facts.add_integer_file(key + ".max_width_lanes", slot + "max_link_width");
}

}  // namespace netbench::facts
