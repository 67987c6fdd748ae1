#include "bench/facts/recorded_network.hpp"

#include <fmt/format.h>
#include <linux/pkt_sched.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <functional>
#include <span>

#include "bench/facts/text_files.hpp"

namespace netbench::facts {

namespace {

const std::string kFolder = "/kernel/";

Value parse_value(std::string_view text) {
  if (text == "true" || text == "false") {
    return text == "true";
  }
  if (const auto whole = to_integer(text); whole) {
    return *whole;
  }
  double number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  return error == std::errc{} && stop == end ? Value(number) : Value(std::string(text));
}

std::string text_of(std::string_view word) { return word == "-" ? "" : std::string(word); }

std::vector<std::uint8_t> parse_hex(std::string_view text) {
  std::vector<std::uint8_t> bytes;
  for (const auto word : split_words(text)) {
    for (std::size_t i = 0; i + 1 < word.size(); i += 2) {
      std::uint8_t byte = 0;
      std::from_chars(word.data() + i, word.data() + i + 2, byte, 16);
      bytes.push_back(byte);
    }
  }
  return bytes;
}

template <auto Field>
void set_field(LinkInfo& link, std::string_view text) {
  auto& field = link.*Field;
  using Type = std::remove_reference_t<decltype(field)>;
  if constexpr (std::is_same_v<Type, std::string>) {
    field = text;
  } else if constexpr (std::is_same_v<Type, bool> || std::is_same_v<Type, std::optional<bool>>) {
    field = text == "true";
  } else {
    field = static_cast<int>(to_integer(text).value_or(0));
  }
}

struct LinkField {
  std::string_view key;
  void (*set)(LinkInfo&, std::string_view);
};
constexpr std::array kLinkFields{
    LinkField{"index", set_field<&LinkInfo::index>},
    LinkField{"mtu_bytes", set_field<&LinkInfo::mtu_bytes>},
    LinkField{"min_mtu_bytes", set_field<&LinkInfo::min_mtu_bytes>},
    LinkField{"max_mtu_bytes", set_field<&LinkInfo::max_mtu_bytes>},
    LinkField{"admin_up", set_field<&LinkInfo::admin_up>},
    LinkField{"loopback", set_field<&LinkInfo::loopback>},
    LinkField{"carrier", set_field<&LinkInfo::carrier>},
    LinkField{"kind", set_field<&LinkInfo::kind>},
    LinkField{"qdisc", set_field<&LinkInfo::qdisc>},
    LinkField{"hardware_address", set_field<&LinkInfo::hardware_address>},
    LinkField{"lower_index", set_field<&LinkInfo::lower_index>},
    LinkField{"master_index", set_field<&LinkInfo::master_index>},
    LinkField{"queue_packets", set_field<&LinkInfo::queue_packets>},
    LinkField{"carrier_changes", set_field<&LinkInfo::carrier_changes>},
    LinkField{"bus_address", set_field<&LinkInfo::bus_address>},
    LinkField{"xdp", set_field<&LinkInfo::xdp>},
};

using Line = std::pair<std::string_view, std::string_view>;  // key, value

std::vector<Line> key_values(std::string_view text) {
  std::vector<Line> lines;
  for (const auto line : split_lines(text)) {
    if (const auto tab = line.find('\t'); tab != std::string_view::npos) {
      lines.emplace_back(trimmed(line.substr(0, tab)), trimmed(line.substr(tab + 1)));
    }
  }
  return lines;
}

LinkInfo parse_link_file(const std::string& name, std::string_view text) {
  constexpr std::string_view kDetail = "detail.";
  constexpr std::string_view kMember = "member.";
  LinkInfo link;
  link.name = name;
  for (const auto& [key, value] : key_values(text)) {
    if (const auto field = std::ranges::find(kLinkFields, key, &LinkField::key);
        field != kLinkFields.end()) {
      field->set(link, value);
    } else if (key.starts_with(kDetail)) {
      link.details.emplace_back(key.substr(kDetail.size()), parse_value(value));
    } else if (key.starts_with(kMember)) {
      link.member_details.emplace_back(key.substr(kMember.size()), parse_value(value));
    }
  }
  return link;
}

DisciplineInfo parse_discipline_line(std::span<const std::string_view> words) {
  DisciplineInfo discipline;
  discipline.kind = words[0];
  discipline.parent = words[1] == "root" ? TC_H_ROOT : words[1] == "ingress" ? TC_H_INGRESS : 1;
  for (const auto word : words.subspan(2)) {
    const auto equals = std::min(word.find('='), word.size() - 1);
    discipline.parameters.emplace_back(word.substr(0, equals),
                                       parse_value(word.substr(equals + 1)));
  }
  return discipline;
}

class RecordedNetwork final : public NetworkReader {
 public:
  explicit RecordedNetwork(std::string root) : root_(std::move(root)) {}

  Result<RouteInfo> route_to(const std::string& peer, const std::string& local) override;
  Result<std::vector<LinkInfo>> links() override;
  Result<LinkInfo> link(const std::string& name) override;
  Result<std::vector<InterfaceAddress>> addresses() override;
  std::vector<Fact> ethtool_facts(const std::string& name) override;
  NamedCounts ethtool_statistics(const std::string& /*name*/) override { return {}; }
  Result<std::vector<DisciplineInfo>> disciplines(const LinkInfo& link) override;
  Result<std::vector<NeighbourInfo>> neighbours() override;
  Result<std::vector<FirewallChain>> firewall() override;
  Result<ModuleMemory> module_memory(const std::string& name) override;
  Result<std::vector<LldpFrame>> lldp_frames(const std::vector<std::string>& names,
                                             Nanoseconds limit) override;

 private:
  [[nodiscard]] Result<std::string> answer(const std::string& file) const;
  /// Words of every line with at least that many; nothing where the file is not there.
  [[nodiscard]] Status for_each_line(
      const std::string& file, std::size_t words,
      const std::function<void(std::span<const std::string_view>)>& take) const;
  [[nodiscard]] int index_of(std::string_view name) const;

  std::string root_;
};

Result<std::string> RecordedNetwork::answer(const std::string& file) const {
  auto text = read_text_file(root_, kFolder + file);
  return text ? std::move(text)
              : fail("not-recorded", fmt::format("this recording has no {}{}", kFolder, file));
}

Status RecordedNetwork::for_each_line(
    const std::string& file, std::size_t words,
    const std::function<void(std::span<const std::string_view>)>& take) const {
  const auto text = answer(file);
  if (!text) {
    return tl::unexpected(text.error());
  }
  for (const auto line : split_lines(*text)) {
    if (const auto parts = split_words(line); parts.size() >= words) {
      take(parts);
    }
  }
  return {};
}

int RecordedNetwork::index_of(std::string_view name) const {
  const auto text = answer(fmt::format("link/{}", name));
  return text ? parse_link_file({}, *text).index : 0;
}

Result<RouteInfo> RecordedNetwork::route_to(const std::string& peer, const std::string& /*local*/) {
  std::optional<RouteInfo> found;
  const auto read = for_each_line("route", 4, [&](auto words) {
    if (!found && (words[0] == "*" || words[0] == peer)) {
      found = {.interface_index = index_of(words[1]),
               .interface = std::string(words[1]),
               .source_address = text_of(words[2]),
               .gateway = text_of(words[3]),
               .mtu_bytes = words.size() > 4 ? to_integer(words[4]).value_or(0) : 0};
    }
  });
  if (!read) {
    return tl::unexpected(read.error());
  }
  return found ? Result<RouteInfo>(*found)
               : fail("route-lookup", fmt::format("no route to {} in this recording", peer));
}

Result<std::vector<LinkInfo>> RecordedNetwork::links() {
  std::vector<LinkInfo> all;
  for (const auto& name : list_directory(root_, kFolder + "link")) {
    if (auto one = link(name); one) {
      all.push_back(std::move(*one));
    }
  }
  std::ranges::sort(all, {}, &LinkInfo::index);
  return all;
}

Result<LinkInfo> RecordedNetwork::link(const std::string& name) {
  const auto text = answer("link/" + name);
  return text ? Result<LinkInfo>(parse_link_file(name, *text))
              : fail("interface-unknown", fmt::format("no interface {} in this recording", name));
}

Result<std::vector<InterfaceAddress>> RecordedNetwork::addresses() {
  std::vector<InterfaceAddress> all;
  const auto read = for_each_line("address", 2, [&](auto words) {
    const auto slash = std::min(words[1].find('/'), words[1].size() - 1);
    const std::string_view address = words[1].substr(0, slash);
    const auto prefix = to_integer(words[1].substr(slash + 1)).value_or(0);
    all.push_back({index_of(words[0]), std::string(address), static_cast<int>(prefix),
                   address.find(':') != std::string_view::npos});
  });
  return read ? Result<std::vector<InterfaceAddress>>(std::move(all))
              : tl::unexpected(read.error());
}

std::vector<Fact> RecordedNetwork::ethtool_facts(const std::string& name) {
  const std::string file = "ethtool/" + name;
  const auto text = answer(file);
  std::vector<Fact> facts;
  for (const auto& [key, value] : key_values(text ? *text : std::string_view{})) {
    const bool unknown = value.starts_with('?');
    facts.push_back({std::string(key), unknown ? Value{} : parse_value(value), kFolder + file,
                     unknown ? std::string(value.substr(1)) : std::string{}});
  }
  return facts;
}

Result<std::vector<DisciplineInfo>> RecordedNetwork::disciplines(const LinkInfo& link) {
  std::vector<DisciplineInfo> all;
  const auto read = for_each_line("qdisc/" + link.name, 2,
                                  [&](auto words) { all.push_back(parse_discipline_line(words)); });
  return read ? Result<std::vector<DisciplineInfo>>(std::move(all)) : tl::unexpected(read.error());
}

Result<std::vector<NeighbourInfo>> RecordedNetwork::neighbours() {
  std::vector<NeighbourInfo> all;
  const auto read = for_each_line("neighbour", 4, [&](auto words) {
    all.push_back(
        {index_of(words[0]), std::string(words[1]), std::string(words[2]), text_of(words[3])});
  });
  return read ? Result<std::vector<NeighbourInfo>>(std::move(all)) : tl::unexpected(read.error());
}

Result<std::vector<FirewallChain>> RecordedNetwork::firewall() {
  std::vector<FirewallChain> all;
  const auto read = for_each_line("firewall", 6, [&](auto words) {
    all.push_back({std::string(words[0]), std::string(words[1]), std::string(words[2]),
                   std::string(words[3]), to_integer(words[4]).value_or(0), words[5] == "refuses"});
  });
  return read ? Result<std::vector<FirewallChain>>(std::move(all)) : tl::unexpected(read.error());
}

Result<ModuleMemory> RecordedNetwork::module_memory(const std::string& name) {
  const auto text = answer("module/" + name);
  if (!text) {
    return tl::unexpected(text.error());
  }
  ModuleMemory memory;
  for (const auto& [key, value] : key_values(*text)) {
    auto& page = key == "lower" ? memory.lower : key == "limits" ? memory.limits : memory.monitors;
    page = parse_hex(value);
  }
  return memory;
}

Result<std::vector<LldpFrame>> RecordedNetwork::lldp_frames(const std::vector<std::string>& names,
                                                            Nanoseconds /*limit*/) {
  std::vector<LldpFrame> frames;
  for (const auto& name : names) {
    if (const auto text = answer("lldp/" + name); text) {
      frames.push_back({name, parse_hex(*text)});
    }
  }
  return frames;
}

}  // namespace

std::unique_ptr<NetworkReader> open_recorded_network(const std::string& root) {
  return list_directory(root, kFolder + "link").empty() ? nullptr
                                                        : std::make_unique<RecordedNetwork>(root);
}

}  // namespace netbench::facts
