#include "bench/facts/rdma_flow.hpp"

#include <fmt/format.h>
#include <linux/dcbnl.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

#include <cstddef>
#include <cstring>
#include <vector>

#include "bench/facts/rtnetlink.hpp"

namespace netbench::facts {

namespace {

constexpr int kPriorities = 8;
constexpr int kDscps = 64;

void add_application(ByteSpan value, FlowControl& flow) {
  const auto app = header_of<dcb_app>(value);
  if (value.size() >= sizeof(dcb_app) && app.selector == IEEE_8021QAZ_APP_SEL_DSCP &&
      app.protocol < kDscps && app.priority < kPriorities) {
    flow.priority_of_dscp[app.protocol] = app.priority;
  }
}

}  // namespace

FlowControl parse_flow_control(std::span<const std::uint8_t> attributes) {
  FlowControl flow;
  const ByteSpan ieee = find_attribute(attributes, DCB_ATTR_IEEE);
  if (const ByteSpan pfc = find_attribute(ieee, DCB_ATTR_IEEE_PFC);
      pfc.size() > offsetof(ieee_pfc, pfc_en)) {
    flow.pfc_mask = pfc[offsetof(ieee_pfc, pfc_en)];
  }
  const ByteSpan table = find_attribute(ieee, DCB_ATTR_IEEE_APP_TABLE);
  for (const ByteSpan app : all_attributes(table, DCB_ATTR_IEEE_APP)) {
    add_application(app, flow);
  }
  return flow;
}

Result<FlowControl> read_flow_control(const std::string& interface) {
  auto netlink = RtNetlink::open();
  if (!netlink) {
    return tl::unexpected(netlink.error());
  }
  const dcbmsg header{AF_UNSPEC, DCB_CMD_IEEE_GET, 0};
  std::vector<std::uint8_t> body(sizeof(header));
  std::memcpy(body.data(), &header, sizeof(header));
  append_attribute(body, DCB_ATTR_IFNAME, interface);
  const NetlinkReply reply = netlink->talk(RTM_GETDCB, 0, body);
  if (reply.error_number != 0 || reply.messages.empty()) {
    return fail(
        "dcb-unsupported",
        fmt::format("{}: no data centre bridging: {}", interface,
                    reply.error_number == 0 ? "no answer" : std::strerror(reply.error_number)));
  }
  return parse_flow_control(attributes_after(reply.messages.front().body, sizeof(dcbmsg)));
}

std::string dscp_text(const FlowControl& flow) {
  std::string text;
  for (const auto& [dscp, priority] : flow.priority_of_dscp) {
    text += fmt::format("{}{}:{}", text.empty() ? "" : ",", dscp, priority);
  }
  return text;
}

}  // namespace netbench::facts
