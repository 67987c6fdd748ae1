#include "bench/facts/pci_config.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace netbench::facts {
namespace {

using Bytes = std::vector<std::uint8_t>;

void put(Bytes& config, std::size_t at, std::initializer_list<std::uint8_t> bytes) {
  std::ranges::copy(bytes, config.begin() + static_cast<std::ptrdiff_t>(at));
}

Bytes downstream_port() {
  Bytes config(4096);
  put(config, 0x34, {0x50});
  put(config, 0x50, {0x05, 0x60});                                   // MSI, then
  put(config, 0x60, {0x10, 0, 0x62, 0, 0x01, 0, 0, 0, 0x30, 0x20});  // PCI Express
  put(config, 0x70, {0x03, 0x00});                                   // ASPM L0s and L1
  put(config, 0x100, {0x01, 0, 0x02, 0x20});                         // AER, then
  put(config, 0x200, {0x0D, 0, 0x01, 0, 0, 0, 0x04, 0});             // ACS: requests
  return config;
}

TEST(PciConfig, IsReadThroughBothListsOfCapabilities) {
  const auto parsed = parse_pci_config(downstream_port());
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->port_kind, "downstream port");
  EXPECT_EQ(parsed->max_payload_supported_bytes, 256);
  EXPECT_EQ(parsed->max_payload_bytes, 256);
  EXPECT_EQ(parsed->max_read_request_bytes, 512);
  EXPECT_TRUE(parsed->relaxed_ordering);
  EXPECT_EQ(parsed->aspm, "L0s+L1");
  EXPECT_TRUE(parsed->has_error_reporting);
  EXPECT_EQ(parsed->acs_redirects, true);
}

TEST(PciConfig, CutAtSixtyFourBytesTellsNothing) {
  const auto config = downstream_port();
  EXPECT_FALSE(parse_pci_config(std::span(config).first(64)));
  EXPECT_FALSE(parse_pci_config({}));
}

TEST(PciConfig, CutAt256BytesLeavesAccessControlOpen) {
  const auto config = downstream_port();
  const auto parsed = parse_pci_config(std::span(config).first(256));
  ASSERT_TRUE(parsed);
  EXPECT_FALSE(parsed->acs_redirects.has_value());
  EXPECT_FALSE(parsed->has_error_reporting);
}

TEST(PciConfig, EndsWhereCapabilitiesGoInCircles) {
  auto config = downstream_port();
  config[0x51] = 0x50;
  EXPECT_FALSE(parse_pci_config(config));
  config = downstream_port();
  put(config, 0x100, {0x02, 0, 0x02, 0x10});
  EXPECT_FALSE(parse_pci_config(config)->acs_redirects.has_value());
}

TEST(PciConfig, MayHoldAnything) {
  std::mt19937 random(5);
  for (int i = 0; i < 5000; ++i) {
    Bytes config(random() % 4097);
    std::ranges::generate(config, [&] { return static_cast<std::uint8_t>(random()); });
    const auto parsed = parse_pci_config(config);
    EXPECT_TRUE(!parsed || parsed->max_payload_bytes >= 128);
  }
}

}  // namespace
}  // namespace netbench::facts
