#include <fmt/format.h>

#include <map>

#include "bench/facts/collectors.hpp"
#include "bench/facts/lldp.hpp"
#include "bench/facts/text_files.hpp"

namespace netbench::facts {

namespace {

void add_neighbour(FactList& facts, const std::string& device, const LldpNeighbour& neighbour,
                   const std::string& source) {
  const std::string prefix = fmt::format("if.{}.lldp.", device);
  facts.add(prefix + "system", neighbour.system, source);
  facts.add(prefix + "port", neighbour.port, source);
  if (!neighbour.port_description.empty()) {
    facts.add(prefix + "port_description", neighbour.port_description, source);
  }
  if (neighbour.max_frame_bytes) {
    facts.add(prefix + "max_frame_bytes", std::int64_t{*neighbour.max_frame_bytes}, source);
  }
}

// What systemd-networkd heard last.
bool add_from_networkd(FactList& facts, const LinkInfo& link) {
  const std::string path = fmt::format("/run/systemd/netif/lldp/{}", link.index);
  const auto file = read_text_file(facts.root(), path);
  if (!file) {
    return false;
  }
  const std::span bytes(reinterpret_cast<const std::uint8_t*>(file->data()), file->size());
  for (const auto frame : split_lldp_file(bytes)) {
    if (const auto neighbour = parse_lldp(frame); neighbour) {
      add_neighbour(facts, link.name, *neighbour, path);
      return true;
    }
  }
  return false;
}

}  // namespace

void collect_lldp(Place& place) {
  constexpr const char* kSource = "packet socket, ethertype 0x88CC";
  std::vector<std::string> waiting;
  for (const auto& [link, level] : place.stack) {
    // A veth stands in for a cable in a testbed.
    const bool port = has_hardware(link) || link.kind == "veth";
    if (port && link.admin_up && !add_from_networkd(place.facts, link)) {
      waiting.push_back(link.name);
    }
  }
  if (waiting.empty()) {
    return;
  }
  std::string why = "not listened for: switches send it every 30 s";
  std::map<std::string, LldpNeighbour> heard;
  const bool listens = place.options.lldp_wait.count() > 0 || place.options.root != "/";
  if (listens) {
    const auto frames = place.network.lldp_frames(waiting, place.options.lldp_wait);
    why = frames ? "no LLDP came in: the switch sends none, or the NIC's firmware keeps it"
                 : frames.error().message;
    for (const auto& frame : frames ? *frames : std::vector<LldpFrame>{}) {
      if (auto neighbour = parse_lldp(frame.bytes); neighbour) {
        heard.emplace(frame.interface, std::move(*neighbour));
      }
    }
  }
  for (const auto& name : waiting) {
    if (const auto found = heard.find(name); found != heard.end()) {
      add_neighbour(place.facts, name, found->second, kSource);
    } else {
      place.facts.add_unknown(fmt::format("if.{}.lldp.system", name), kSource, why);
    }
  }
}

}  // namespace netbench::facts
