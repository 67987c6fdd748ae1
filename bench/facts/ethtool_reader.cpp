#include "bench/facts/ethtool_reader.hpp"

#include <fmt/format.h>
#include <linux/ethtool.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>

#include "bench/facts/ethtool_ioctl.hpp"
#include "bench/facts/ethtool_link.hpp"

namespace netbench::facts {

namespace {

void add_driver(int socket, const std::string& interface, std::vector<Fact>& facts) {
  ethtool_drvinfo info{};
  info.cmd = ETHTOOL_GDRVINFO;
  const std::string source = "ioctl ETHTOOL_GDRVINFO";
  if (const int error = ethtool_ioctl(socket, interface, &info); error != 0) {
    facts.push_back(unknown_fact("driver", source, ethtool_refusal(error)));
    return;
  }
  facts.push_back(known_fact("driver", std::string(info.driver), source));
  const std::array<std::pair<const char*, const char*>, 3> texts{
      {{"driver_version", info.version}, {"firmware", info.fw_version}, {"bus", info.bus_info}}};
  for (const auto& [key, text] : texts) {
    const bool said = *text != '\0' && std::string_view(text) != "N/A";
    facts.push_back(said ? known_fact(key, std::string(text), source)
                         : unknown_fact(key, source, "the driver leaves it empty"));
  }
}

struct Switch {
  const char* key;
  std::uint32_t command;
  std::uint32_t mask;
};

constexpr std::array kOffloads{
    Switch{"offload.tso", ETHTOOL_GTSO, ~0U},
    Switch{"offload.gso", ETHTOOL_GGSO, ~0U},
    Switch{"offload.gro", ETHTOOL_GGRO, ~0U},
    Switch{"offload.lro", ETHTOOL_GFLAGS, ETH_FLAG_LRO},
    Switch{"offload.rx_checksum", ETHTOOL_GRXCSUM, ~0U},
    Switch{"offload.tx_checksum", ETHTOOL_GTXCSUM, ~0U},
};

void add_offloads(int socket, const std::string& interface, std::vector<Fact>& facts) {
  for (const auto& offload : kOffloads) {
    ethtool_value value{offload.command, 0};
    const int error = ethtool_ioctl(socket, interface, &value);
    const std::string source = "ioctl ethtool features";
    facts.push_back(error == 0 ? known_fact(offload.key, (value.data & offload.mask) != 0, source)
                               : unknown_fact(offload.key, source, ethtool_refusal(error)));
  }
}

// A 32-bit field of one of the fixed-size structures of linux/ethtool.h.
struct Field {
  const char* key;
  std::size_t offset_bytes;
};

struct Query {
  std::uint32_t command;
  const char* name;
  std::array<Field, 4> fields;
};

constexpr std::array kQueries{
    Query{ETHTOOL_GRINGPARAM,
          "ETHTOOL_GRINGPARAM",
          {{{"ring.rx_descriptors", offsetof(ethtool_ringparam, rx_pending)},
            {"ring.rx_max_descriptors", offsetof(ethtool_ringparam, rx_max_pending)},
            {"ring.tx_descriptors", offsetof(ethtool_ringparam, tx_pending)},
            {"ring.tx_max_descriptors", offsetof(ethtool_ringparam, tx_max_pending)}}}},
    Query{ETHTOOL_GCOALESCE,
          "ETHTOOL_GCOALESCE",
          {{{"coalesce.rx_us", offsetof(ethtool_coalesce, rx_coalesce_usecs)},
            {"coalesce.rx_frames", offsetof(ethtool_coalesce, rx_max_coalesced_frames)},
            {"coalesce.tx_us", offsetof(ethtool_coalesce, tx_coalesce_usecs)},
            {"coalesce.adaptive_rx", offsetof(ethtool_coalesce, use_adaptive_rx_coalesce)}}}},
    Query{ETHTOOL_GPAUSEPARAM,
          "ETHTOOL_GPAUSEPARAM",
          {{{"pause.autonegotiation", offsetof(ethtool_pauseparam, autoneg)},
            {"pause.rx", offsetof(ethtool_pauseparam, rx_pause)},
            {"pause.tx", offsetof(ethtool_pauseparam, tx_pause)},
            {nullptr, 0}}}},
    Query{ETHTOOL_GCHANNELS,
          "ETHTOOL_GCHANNELS",
          {{{"channels.combined", offsetof(ethtool_channels, combined_count)},
            {"channels.max_combined", offsetof(ethtool_channels, max_combined)},
            {"channels.rx", offsetof(ethtool_channels, rx_count)},
            {"channels.tx", offsetof(ethtool_channels, tx_count)}}}},
};

void add_query(int socket, const std::string& interface, const Query& query,
               std::vector<Fact>& facts) {
  std::array<std::uint32_t, 64> words{};
  static_assert(sizeof(ethtool_coalesce) <= sizeof(words));
  words[0] = query.command;
  const int error = ethtool_ioctl(socket, interface, words.data());
  const std::string source = fmt::format("ioctl {}", query.name);
  for (const auto& field : query.fields) {
    if (field.key != nullptr) {
      facts.push_back(
          error == 0
              ? known_fact(field.key, std::int64_t{words.at(field.offset_bytes / sizeof(words[0]))},
                           source)
              : unknown_fact(field.key, source, ethtool_refusal(error)));
    }
  }
}

std::uint32_t statistics_count(int socket, const std::string& interface) {
  std::array<std::uint64_t, sizeof(ethtool_sset_info) / sizeof(std::uint64_t) + 1> buffer{};
  auto* info = reinterpret_cast<ethtool_sset_info*>(buffer.data());
  info->cmd = ETHTOOL_GSSET_INFO;
  info->sset_mask = 1ULL << ETH_SS_STATS;
  if (ethtool_ioctl(socket, interface, info) != 0 || info->sset_mask == 0) {
    return 0;
  }
  return info->data[0];
}

}  // namespace

std::vector<Fact> read_ethtool_facts(int socket, const std::string& interface) {
  std::vector<Fact> facts;
  add_driver(socket, interface, facts);
  add_link_settings(socket, interface, facts);
  add_offloads(socket, interface, facts);
  for (const auto& query : kQueries) {
    add_query(socket, interface, query, facts);
  }
  return facts;
}

NamedCounts read_ethtool_statistics(int socket, const std::string& interface) {
  // The kernel writes as many as the driver has at that moment: leave room for a few more.
  constexpr std::size_t kSpare = 1024;
  const std::uint32_t count = statistics_count(socket, interface);
  std::vector<std::uint64_t> names((count + kSpare) * ETH_GSTRING_LEN / sizeof(std::uint64_t));
  std::vector<std::uint64_t> values(count + kSpare);
  auto* strings = reinterpret_cast<ethtool_gstrings*>(names.data());
  auto* stats = reinterpret_cast<ethtool_stats*>(values.data());
  strings->cmd = ETHTOOL_GSTRINGS;
  strings->string_set = ETH_SS_STATS;
  strings->len = count;
  stats->cmd = ETHTOOL_GSTATS;
  stats->n_stats = count;
  if (count == 0 || ethtool_ioctl(socket, interface, strings) != 0 ||
      ethtool_ioctl(socket, interface, stats) != 0) {
    return {};
  }
  NamedCounts counts;
  for (std::uint32_t i = 0; i < std::min(stats->n_stats, count); ++i) {
    const auto* name = reinterpret_cast<const char*>(strings->data) + i * ETH_GSTRING_LEN;
    counts.emplace_back(std::string(name, ::strnlen(name, ETH_GSTRING_LEN)), stats->data[i]);
  }
  return counts;
}

}  // namespace netbench::facts
