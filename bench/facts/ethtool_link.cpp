#include "bench/facts/ethtool_link.hpp"

#include <fmt/format.h>
#include <linux/ethtool.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <functional>
#include <iterator>

#include "bench/facts/ethtool_ioctl.hpp"

namespace netbench::facts {

namespace {

constexpr const char* kSource = "ioctl ETHTOOL_GLINKSETTINGS";
constexpr std::int64_t kMega = 1'000'000;

/// How many 32-bit words a mask of link modes has at most (a signed byte counts them).
constexpr std::size_t kMaskWords = 127;

int read_settings(int socket, const std::string& interface, LinkSettings& settings) {
  std::array<std::uint32_t, sizeof(ethtool_link_settings) / sizeof(std::uint32_t) + 3 * kMaskWords>
      buffer{};
  auto* raw = reinterpret_cast<ethtool_link_settings*>(buffer.data());
  // Asked twice: first for the length of the masks behind it (linux/ethtool.h).
  raw->cmd = ETHTOOL_GLINKSETTINGS;
  int error = ethtool_ioctl(socket, interface, raw);
  if (error == 0) {
    raw->cmd = ETHTOOL_GLINKSETTINGS;
    raw->link_mode_masks_nwords = static_cast<std::int8_t>(-raw->link_mode_masks_nwords);
    error = ethtool_ioctl(socket, interface, raw);
  }
  if (error != 0) {
    return error;
  }
  settings.speed_mbps = raw->speed;
  settings.duplex = raw->duplex;
  settings.autonegotiation = raw->autoneg == AUTONEG_ENABLE;
  settings.mdix = raw->eth_tp_mdix;
  const auto words = static_cast<std::size_t>(std::max<int>(raw->link_mode_masks_nwords, 0));
  const std::uint32_t* mask = buffer.data() + sizeof(ethtool_link_settings) / sizeof(std::uint32_t);
  for (auto* into : {&settings.supported, &settings.advertised, &settings.partner_advertised}) {
    into->assign(mask, mask + words);
    mask += words;
  }
  return 0;
}

// The kernel's names of the link modes: it may know more than the headers this is built with.
std::vector<std::string> mode_names(int socket, const std::string& interface) {
  constexpr std::uint32_t kMostNames = kMaskWords * 32;
  std::array<std::uint64_t, sizeof(ethtool_sset_info) / sizeof(std::uint64_t) + 1> counted{};
  auto* info = reinterpret_cast<ethtool_sset_info*>(counted.data());
  info->cmd = ETHTOOL_GSSET_INFO;
  info->sset_mask = 1ULL << ETH_SS_LINK_MODES;
  if (ethtool_ioctl(socket, interface, info) != 0 || info->sset_mask == 0 ||
      info->data[0] > kMostNames) {
    return {};
  }
  constexpr std::size_t kSpare = 8;  // for the structure in front, and a few more names
  std::vector<std::uint32_t> buffer((info->data[0] + kSpare) * ETH_GSTRING_LEN /
                                    sizeof(std::uint32_t));
  auto* strings = reinterpret_cast<ethtool_gstrings*>(buffer.data());
  strings->cmd = ETHTOOL_GSTRINGS;
  strings->string_set = ETH_SS_LINK_MODES;
  strings->len = info->data[0];
  if (ethtool_ioctl(socket, interface, strings) != 0) {
    return {};
  }
  std::vector<std::string> names;
  for (std::uint32_t i = 0; i < std::min(strings->len, info->data[0]); ++i) {
    const auto* name = reinterpret_cast<const char*>(strings->data) + i * ETH_GSTRING_LEN;
    names.emplace_back(name, ::strnlen(name, ETH_GSTRING_LEN));
  }
  return names;
}

bool told(std::uint32_t speed_mbps) {
  return speed_mbps != 0 && speed_mbps != static_cast<std::uint32_t>(SPEED_UNKNOWN);
}

void add_speeds(const LinkSettings& settings, std::span<const std::string> names,
                std::vector<Fact>& facts) {
  facts.push_back(told(settings.speed_mbps)
                      ? known_fact("speed_bps", settings.speed_mbps * kMega, kSource)
                      : unknown_fact("speed_bps", kSource, "the driver reports no speed"));
  const auto fastest = fastest_mode_mbps(settings.supported, names);
  facts.push_back(fastest > 0
                      ? known_fact("speed_max_bps", fastest * kMega, kSource)
                      : unknown_fact("speed_max_bps", kSource, "the driver names no link modes"));
  std::vector<std::uint32_t> common;
  std::ranges::transform(settings.advertised, settings.partner_advertised,
                         std::back_inserter(common), std::bit_and<>());
  const auto agreed = fastest_mode_mbps(common, names);
  if (agreed == 0 || !settings.autonegotiation) {
    const std::string why =
        settings.autonegotiation ? "the partner's link modes are not known" : "no auto-negotiation";
    facts.push_back(unknown_fact("speed_negotiable_bps", kSource, why));
    facts.push_back(unknown_fact("downshift", kSource, why));
    return;
  }
  facts.push_back(known_fact("speed_negotiable_bps", agreed * kMega, kSource));
  facts.push_back(told(settings.speed_mbps)
                      ? known_fact("downshift", settings.speed_mbps < agreed, kSource)
                      : unknown_fact("downshift", kSource, "the driver reports no speed"));
}

void add_mdix(const LinkSettings& settings, std::vector<Fact>& facts) {
  constexpr std::array<const char*, 4> kNames{nullptr, "mdi", "mdi-x", "auto"};
  const auto* name = settings.mdix < kNames.size() ? kNames.at(settings.mdix) : nullptr;
  facts.push_back(name != nullptr
                      ? known_fact("mdix", std::string(name), kSource)
                      : unknown_fact("mdix", kSource, "no twisted pair, or the driver is silent"));
}

void add_eee(int socket, const std::string& interface, std::vector<Fact>& facts) {
  ethtool_eee eee{};
  eee.cmd = ETHTOOL_GEEE;
  const int error = ethtool_ioctl(socket, interface, &eee);
  const std::array<std::pair<const char*, std::uint32_t>, 2> rows{
      {{"eee.enabled", eee.eee_enabled}, {"eee.active", eee.eee_active}}};
  for (const auto& [key, value] : rows) {
    facts.push_back(error == 0 ? known_fact(key, value != 0, "ioctl ETHTOOL_GEEE")
                               : unknown_fact(key, "ioctl ETHTOOL_GEEE", ethtool_refusal(error)));
  }
}

void add_fec(int socket, const std::string& interface, std::vector<Fact>& facts) {
  ethtool_fecparam fec{};
  fec.cmd = ETHTOOL_GFECPARAM;
  const int error = ethtool_ioctl(socket, interface, &fec);
  const std::array<std::pair<const char*, std::uint32_t>, 2> rows{
      {{"fec.active", fec.active_fec}, {"fec.configured", fec.fec}}};
  for (const auto& [key, value] : rows) {
    facts.push_back(error == 0
                        ? known_fact(key, fec_text(value), "ioctl ETHTOOL_GFECPARAM")
                        : unknown_fact(key, "ioctl ETHTOOL_GFECPARAM", ethtool_refusal(error)));
  }
}

}  // namespace

std::int64_t fastest_mode_mbps(std::span<const std::uint32_t> mask,
                               std::span<const std::string> names) {
  std::int64_t fastest = 0;
  for (std::size_t bit = 0; bit < std::min(mask.size() * 32, names.size()); ++bit) {
    if (((mask[bit / 32] >> (bit % 32)) & 1U) == 0) {
      continue;
    }
    std::int64_t mbps = 0;  // "Autoneg", "FIBRE" and the like begin with no number
    const auto& name = names[bit];
    std::from_chars(name.data(), name.data() + name.size(), mbps);
    fastest = std::max(fastest, mbps);
  }
  return fastest;
}

std::vector<Fact> link_settings_facts(const LinkSettings& settings,
                                      std::span<const std::string> names) {
  std::vector<Fact> facts;
  add_speeds(settings, names, facts);
  const bool full = settings.duplex == DUPLEX_FULL;
  facts.push_back(full || settings.duplex == DUPLEX_HALF
                      ? known_fact("duplex", std::string(full ? "full" : "half"), kSource)
                      : unknown_fact("duplex", kSource, "the driver reports no duplex mode"));
  facts.push_back(known_fact("autonegotiation", settings.autonegotiation, kSource));
  add_mdix(settings, facts);
  return facts;
}

void add_link_settings(int socket, const std::string& interface, std::vector<Fact>& facts) {
  LinkSettings settings;
  if (const int error = read_settings(socket, interface, settings); error != 0) {
    for (const char* key : {"speed_bps", "speed_max_bps", "duplex"}) {
      facts.push_back(unknown_fact(key, kSource, ethtool_refusal(error)));
    }
  } else {
    std::ranges::move(link_settings_facts(settings, mode_names(socket, interface)),
                      std::back_inserter(facts));
  }
  add_eee(socket, interface, facts);
  add_fec(socket, interface, facts);
}

std::string fec_text(std::uint32_t bits) {
  constexpr std::array<std::string_view, 6> kNames{"none", "auto", "off", "rs", "baser", "llrs"};
  std::string text;
  for (std::size_t bit = 0; bit < kNames.size(); ++bit) {
    if (((bits >> bit) & 1U) != 0) {
      text += fmt::format("{}{}", text.empty() ? "" : ",", kNames.at(bit));
    }
  }
  return text.empty() ? "none" : text;
}

}  // namespace netbench::facts
