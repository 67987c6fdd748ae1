#include "bench/facts/ethtool_netlink.hpp"

#include <fmt/format.h>
#include <linux/ethtool_netlink.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>

#include <array>
#include <cerrno>

#include "bench/facts/module_memory.hpp"

namespace netbench::facts {

namespace {

constexpr const char* kStateSource = "ethtool netlink LINKSTATE_GET";
constexpr std::uint16_t kNested = NLA_F_NESTED;

// ETHTOOL_A_LINKSTATE_EXT_DOWN_CNT, Linux 6.4: newer than the headers this is built with.
constexpr std::uint16_t kDownCount = 7;

// enum ethtool_link_ext_state of linux/ethtool.h.
constexpr std::array<std::string_view, 12> kExtendedStates{"autonegotiation failed",
                                                           "link training failed",
                                                           "logical mismatch of the two ends",
                                                           "bad signal integrity",
                                                           "no cable",
                                                           "cable issue",
                                                           "module memory issue",
                                                           "calibration failed",
                                                           "power budget exceeded",
                                                           "overheated",
                                                           "module not ready",
                                                           "other"};

std::vector<std::uint8_t> message_header(std::uint8_t command) {
  return {command, ETHTOOL_GENL_VERSION, 0, 0};  // genlmsghdr
}

void append_byte(std::vector<std::uint8_t>& body, std::uint16_t type, std::uint8_t value) {
  append_attribute(body, type, ByteSpan(&value, 1));
}

tl::unexpected<Error> refused_cable_test(const std::string& interface, int error) {
  if (error == EPERM || error == EACCES) {
    return fail("not-permitted", "testing a cable needs CAP_NET_ADMIN", "Run it as root.");
  }
  if (error == EOPNOTSUPP || error == EINVAL || error == ENODEV) {
    return fail("no-cable-test",
                fmt::format("the driver of {} offers no cable test (twisted pair alone has one)",
                            interface));
  }
  return fail_errno("cable-test", fmt::format("cannot test the cable of {}", interface), error);
}

}  // namespace

Result<EthtoolNetlink> EthtoolNetlink::open() {
  auto socket = RtNetlink::open(NETLINK_GENERIC);
  if (!socket) {
    return tl::unexpected(socket.error());
  }
  auto body = message_header(CTRL_CMD_GETFAMILY);
  append_attribute(body, CTRL_ATTR_FAMILY_NAME, std::string(ETHTOOL_GENL_NAME));
  const auto reply = socket->talk(GENL_ID_CTRL, 0, body);
  if (reply.error_number != 0 || reply.messages.empty()) {
    return fail_errno("netlink", "this kernel has no ethtool netlink",
                      reply.error_number == 0 ? EPROTO : reply.error_number);
  }
  const ByteSpan attributes = attributes_after(reply.messages.front().body, sizeof(genlmsghdr));
  const auto family = attribute_number<std::uint16_t>(attributes, CTRL_ATTR_FAMILY_ID);
  if (!family) {
    return fail("netlink", "the kernel names no number for ethtool netlink");
  }
  return EthtoolNetlink(std::move(*socket), *family,
                        multicast_group(attributes, ETHTOOL_MCGRP_MONITOR_NAME));
}

NetlinkReply EthtoolNetlink::ask(std::uint8_t command, std::uint16_t header_type,
                                 const std::string& interface, ByteSpan more, std::uint16_t flags) {
  std::vector<std::uint8_t> device;
  append_attribute(device, ETHTOOL_A_HEADER_DEV_NAME, interface);
  auto body = message_header(command);
  append_attribute(body, static_cast<std::uint16_t>(header_type | kNested), ByteSpan(device));
  body.insert(body.end(), more.begin(), more.end());
  return socket_.talk(family_, flags, body);
}

std::vector<Fact> EthtoolNetlink::link_state(const std::string& interface) {
  const auto reply = ask(ETHTOOL_MSG_LINKSTATE_GET, ETHTOOL_A_LINKSTATE_HEADER, interface, {});
  if (reply.error_number != 0 || reply.messages.empty()) {
    return {};
  }
  return link_state_facts(attributes_after(reply.messages.front().body, sizeof(genlmsghdr)));
}

Result<std::vector<std::uint8_t>> EthtoolNetlink::read_page(const std::string& interface,
                                                            const Page& page) {
  std::vector<std::uint8_t> more;
  append_attribute(more, ETHTOOL_A_MODULE_EEPROM_OFFSET, page.offset_bytes);
  append_attribute(more, ETHTOOL_A_MODULE_EEPROM_LENGTH, page.length_bytes);
  append_byte(more, ETHTOOL_A_MODULE_EEPROM_PAGE, page.page);
  append_byte(more, ETHTOOL_A_MODULE_EEPROM_BANK, 0);
  append_byte(more, ETHTOOL_A_MODULE_EEPROM_I2C_ADDRESS, page.i2c_address);
  const auto reply =
      ask(ETHTOOL_MSG_MODULE_EEPROM_GET, ETHTOOL_A_MODULE_EEPROM_HEADER, interface, more);
  if (reply.error_number == EPERM || reply.error_number == EACCES) {
    return fail("not-permitted", "reading a module's memory needs CAP_NET_ADMIN");
  }
  if (reply.error_number != 0 || reply.messages.empty()) {
    return fail_errno("no-module", fmt::format("{} gives no module memory", interface),
                      reply.error_number == 0 ? EPROTO : reply.error_number);
  }
  const ByteSpan data =
      find_attribute(attributes_after(reply.messages.front().body, sizeof(genlmsghdr)),
                     ETHTOOL_A_MODULE_EEPROM_DATA);
  return std::vector<std::uint8_t>(data.begin(), data.end());
}

// What a kind of module keeps beyond its first page; what it does not give stays empty.
void EthtoolNetlink::read_monitors(const std::string& interface, ModuleMemory& memory) {
  const auto read = [&](std::vector<std::uint8_t>& into, const Page& page) {
    if (auto bytes = read_page(interface, page); bytes) {
      into = std::move(*bytes);
    }
  };
  switch (module_family(memory)) {
    case ModuleFamily::sff8472:
      read(memory.monitors, {0x51, 0, 0, 128});
      break;
    case ModuleFamily::sff8636:
      read(memory.limits, {0x50, 3, 128, 128});
      break;
    case ModuleFamily::cmis:
      read(memory.limits, {0x50, 2, 128, 128});
      read(memory.monitors, {0x50, 0x11, 128, 128});
      break;
    case ModuleFamily::unknown:
      break;
  }
}

Result<ModuleMemory> EthtoolNetlink::module_memory(const std::string& interface) {
  // A request may not cross the border of the pages at byte 128.
  auto lower = read_page(interface, {0x50, 0, 0, 128});
  if (!lower) {
    return tl::unexpected(lower.error());
  }
  ModuleMemory memory;
  memory.lower = std::move(*lower);
  if (const auto upper = read_page(interface, {0x50, 0, 128, 128}); upper) {
    memory.lower.insert(memory.lower.end(), upper->begin(), upper->end());
  }
  read_monitors(interface, memory);
  return memory;
}

Result<std::vector<CablePair>> EthtoolNetlink::test_cable(const std::string& interface,
                                                          Nanoseconds limit) {
  auto notices = RtNetlink::open(NETLINK_GENERIC);
  if (!notices) {
    return tl::unexpected(notices.error());
  }
  if (const auto joined = notices->join(monitor_); !joined) {
    return tl::unexpected(joined.error());
  }
  const auto begun =
      ask(ETHTOOL_MSG_CABLE_TEST_ACT, ETHTOOL_A_CABLE_TEST_HEADER, interface, {}, NLM_F_ACK);
  if (begun.error_number != 0) {
    return refused_cable_test(interface, begun.error_number);
  }
  const Deadline deadline = Deadline::after(limit);
  while (!deadline.passed()) {
    for (const auto& message : notices->wait_for_notices(deadline)) {
      const ByteSpan attributes = attributes_after(message.body, sizeof(genlmsghdr));
      if (message.type != family_ ||
          header_of<genlmsghdr>(message.body).cmd != ETHTOOL_MSG_CABLE_TEST_NTF ||
          cable_test_interface(attributes) != interface) {
        continue;
      }
      if (auto pairs = parse_cable_test(attributes)) {
        return std::move(*pairs);
      }
    }
  }
  return fail("cable-test", fmt::format("{} gave no result of its cable test in time", interface));
}

std::uint32_t multicast_group(ByteSpan attributes, std::string_view name) {
  const ByteSpan groups = find_attribute(attributes, CTRL_ATTR_MCAST_GROUPS);
  constexpr std::uint16_t kMostGroups = 16;
  for (std::uint16_t i = 1; i <= kMostGroups; ++i) {  // a list whose types count up
    const ByteSpan group = find_attribute(groups, i);
    if (!group.empty() && attribute_string(group, CTRL_ATTR_MCAST_GRP_NAME) == name) {
      return attribute_u32(group, CTRL_ATTR_MCAST_GRP_ID).value_or(0);
    }
  }
  return 0;
}

std::vector<Fact> link_state_facts(ByteSpan attributes) {
  std::vector<Fact> facts;
  const auto add = [&](const char* key, Value value) {
    facts.push_back({key, std::move(value), kStateSource, {}});
  };
  if (const auto quality = attribute_u32(attributes, ETHTOOL_A_LINKSTATE_SQI); quality) {
    add("signal_quality", std::int64_t{*quality});
    add("signal_quality_max",
        std::int64_t{attribute_u32(attributes, ETHTOOL_A_LINKSTATE_SQI_MAX).value_or(0)});
  }
  if (const auto state = attribute_number<std::uint8_t>(attributes, ETHTOOL_A_LINKSTATE_EXT_STATE);
      state) {
    add("down_because", *state < kExtendedStates.size()
                            ? std::string(kExtendedStates.at(*state))
                            : fmt::format("state {} of linux/ethtool.h", *state));
  }
  if (const auto count = attribute_u32(attributes, kDownCount); count) {
    add("link_down_count", std::int64_t{*count});
  }
  return facts;
}

}  // namespace netbench::facts
