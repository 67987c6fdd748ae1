#include "bench/facts/witness.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <optional>

#include "bench/facts/addresses.hpp"
#include "bench/facts/counter_text.hpp"
#include "bench/facts/text_files.hpp"

namespace netbench::facts {

namespace {

/// "0A" of the column "st": TCP_LISTEN of include/net/tcp_states.h.
constexpr std::string_view kListening = "0A";
constexpr std::size_t kWordDigits = 8;

template <class T>
std::optional<T> from_hex(std::string_view text) {
  T value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  return whole ? std::optional(value) : std::nullopt;
}

// The kernel prints each 32-bit word of an address as a number of this host's byte order.
std::string address_of(std::string_view digits) {
  std::array<std::uint8_t, 16> bytes{};
  const std::size_t words = digits.size() / kWordDigits;
  if (digits.size() % kWordDigits != 0 || (words != 1 && words != 4)) {
    return {};
  }
  for (std::size_t i = 0; i < words; ++i) {
    const auto word = from_hex<std::uint32_t>(digits.substr(i * kWordDigits, kWordDigits));
    if (!word) {
      return {};
    }
    std::memcpy(bytes.data() + i * sizeof(*word), &*word, sizeof(*word));
  }
  return ip_text(std::span(bytes).first(words * sizeof(std::uint32_t)));
}

void add_listeners(std::string_view text, std::uint16_t port, std::string& found) {
  constexpr std::size_t kLocal = 1;
  constexpr std::size_t kState = 3;
  for (const auto line : split_lines(text)) {
    const auto words = split_words(line);
    if (words.size() <= kState || words[kState] != kListening) {
      continue;
    }
    const auto colon = words[kLocal].find(':');
    const auto number = colon == std::string_view::npos
                            ? std::nullopt
                            : from_hex<std::uint16_t>(words[kLocal].substr(colon + 1));
    const std::string address = number ? address_of(words[kLocal].substr(0, colon)) : "";
    if (number == port && !address.empty()) {
      const bool six = address.find(':') != std::string::npos;
      found += fmt::format("{}{}{}{}:{}", found.empty() ? "" : " ", six ? "[" : "", address,
                           six ? "]" : "", port);
    }
  }
}

std::string text_below(const std::string& root, const char* name) {
  const std::string folder = root == "/" ? "/proc/thread-self/net/" : "/proc/net/";
  return read_text_file(root, folder + name).value_or("");
}

std::int64_t count_of(const NamedCounts& counts, std::string_view name) {
  const auto found = std::ranges::find(counts, name, &NamedCounts::value_type::first);
  return found == counts.end() ? 0 : static_cast<std::int64_t>(found->second);
}

bool owns(NetworkReader& network, const std::string& address) {
  const auto wanted = parse_ip(address);
  const auto own = network.addresses();
  return wanted && own && std::ranges::any_of(*own, [&](const InterfaceAddress& one) {
           const auto parsed = parse_ip(one.address);
           return parsed && parsed->family == wanted->family && parsed->bytes == wanted->bytes;
         });
}

}  // namespace

std::string listening_addresses(std::string_view tcp, std::string_view tcp6, std::uint16_t port) {
  std::string found;
  add_listeners(tcp, port, found);
  add_listeners(tcp6, port, found);
  return found;
}

Witness look_as_witness(const WitnessOptions& options, NetworkReader& network) {
  Witness seen;
  seen.listens_on = listening_addresses(text_below(options.root, "tcp"),
                                        text_below(options.root, "tcp6"), options.port);
  seen.has_address = owns(network, options.address);
  if (const auto route = network.route_to(options.client_address, options.address)) {
    seen.way_back = route->interface;
  }
  const auto snmp = parse_paired_lines(text_below(options.root, "snmp"), "snmp");
  const auto netstat = parse_paired_lines(text_below(options.root, "netstat"), "netstat");
  seen.out_rsts = count_of(snmp, "snmp.Tcp.OutRsts");
  seen.listen_overflows = count_of(netstat, "netstat.ListenOverflows");
  seen.reverse_path_drops = count_of(netstat, "netstat.IPReversePathFilter");
  return seen;
}

}  // namespace netbench::facts
