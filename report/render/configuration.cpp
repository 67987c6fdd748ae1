#include "report/render/configuration.hpp"

#include <fmt/format.h>

#include <array>
#include <map>
#include <optional>

#include "report/render/format.hpp"

namespace netbench::report {

namespace {

std::string host_text(const Document& document, const std::string& id) {
  const auto found = document.hosts.find(id);
  if (found == document.hosts.end()) {
    return "?";
  }
  const HostInfo& host = found->second;
  return host.addresses.empty() || host.name.empty()
             ? address_of(document, id)
             : fmt::format("{} ({})", host.name, host.addresses.front());
}

std::string interface_text(const HostInfo& host) {
  const auto fact = [&](std::string_view name) {
    return find_fact(host, fmt::format("if.{}.{}", host.interface, name));
  };
  const auto text = [](const Fact* found) {
    return found == nullptr ? std::string("unknown") : value_text(found->value);
  };
  const Fact* speed = fact("speed_bps");
  const std::string rate = speed == nullptr || std::holds_alternative<std::monostate>(speed->value)
                               ? std::string("speed unknown")
                               : tunable_text("if.pacing", speed->value);
  return fmt::format("{} {}, MTU {} B, {}", host.name, host.interface, text(fact("mtu_bytes")),
                     rate);
}

/// Values that every measured row of a transport has alike; names as in the document.
std::map<std::string, Value> common_values(const Document& document, const std::string& transport) {
  std::map<std::string, std::optional<Value>> seen;
  for (const Measurement& row : document.measurements) {
    if (row.transport != transport || row.rounds.empty()) {
      continue;
    }
    for (const ValueMap* map :
         {&row.tunables.effective_initiator, &row.tunables.effective_responder}) {
      for (const auto& [name, value] : *map) {
        const auto [place, is_new] = seen.try_emplace(name, value);
        if (!is_new && place->second != value) {
          place->second.reset();
        }
      }
    }
  }
  std::map<std::string, Value> common;
  for (const auto& [name, value] : seen) {
    if (value) {
      common.emplace(name, *value);
    }
  }
  return common;
}

/// "budget_ns" as "budget": the value is shown with its unit.
std::string_view without_unit(std::string_view name) {
  for (const std::string_view unit : {"_ns", "_bps", "_bytes"}) {
    if (name.ends_with(unit)) {
      name.remove_suffix(unit.size());
    }
  }
  return name;
}

std::string pairs_text(const std::map<std::string, Value>& values) {
  std::string text;
  for (const auto& [name, value] : values) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", without_unit(name),
                        tunable_text(name, value));
  }
  return text;
}

}  // namespace

std::string headline(const Document& document) {
  constexpr std::array<std::string_view, 3> kStatus{"ok", "partial", "failed"};
  const std::string hosts =
      document.hosts.empty()
          ? std::string()
          : fmt::format("{} -> {}, ", host_text(document, "h0"), host_text(document, "h1"));
  return fmt::format("netbench {}: {}{}, {}", document.run.netbench_version, hosts,
                     document.run.started_utc,
                     kStatus.at(static_cast<std::size_t>(document.status)));
}

std::vector<std::string> configuration_lines(const Document& document, bool verbose) {
  std::vector<std::string> lines;
  if (!document.config.empty()) {
    lines.push_back(pairs_text(document.config));
  }
  for (const auto& [id, host] : document.hosts) {
    if (!host.interface.empty()) {
      lines.push_back(interface_text(host));
    }
  }
  std::map<std::string, bool> transports;
  for (const Measurement& row : document.measurements) {
    transports[row.transport] = true;
  }
  for (const auto& [transport, unused] : transports) {
    const std::string values = pairs_text(common_values(document, transport));
    if (!values.empty()) {
      lines.push_back(fmt::format("in effect in all rows: {}", values));
    }
  }
  if (verbose && !document.run.command_line.empty()) {
    lines.push_back(fmt::format("command: {}", fmt::join(document.run.command_line, " ")));
  }
  return lines;
}

}  // namespace netbench::report
