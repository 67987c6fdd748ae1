#include "bench/facts/lifeline.hpp"

#include <fmt/format.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

#include <algorithm>
#include <vector>

#include "bench/facts/device_stack.hpp"
#include "bench/facts/rtnetlink.hpp"
#include "bench/facts/text_files.hpp"

namespace netbench::facts {

namespace {

bool carries_default_route(RtNetlink& netlink, int index) {
  for (const int family : {AF_INET, AF_INET6}) {
    rtmsg header{};
    header.rtm_family = static_cast<unsigned char>(family);
    std::vector<std::uint8_t> request;
    append_header(request, header);
    const auto reply = netlink.talk(RTM_GETROUTE, NLM_F_DUMP, request);
    const bool found = std::ranges::any_of(reply.messages, [&](const NetlinkMessage& message) {
      const auto route = header_of<rtmsg>(message.body);
      const auto attributes = attributes_after(message.body, sizeof(rtmsg));
      return route.rtm_dst_len == 0 && route.rtm_type == RTN_UNICAST &&
             route.rtm_table == RT_TABLE_MAIN &&
             attribute_u32(attributes, RTA_OIF) == static_cast<std::uint32_t>(index);
    });
    if (found) {
      return true;
    }
  }
  return false;
}

// sshd(8): SSH_CONNECTION is "client address, client port, server address, server port".
bool carries_ssh(const std::string& ssh_connection, int index, NetworkReader& network) {
  const auto words = split_words(ssh_connection);
  if (words.size() < 3) {
    return false;
  }
  const auto route = network.route_to(std::string(words[0]), std::string(words[2]));
  return route && route->interface_index == index;
}

bool carries_peer(const std::string& address, int index, NetworkReader& network) {
  const auto route =
      address.empty() ? Result<RouteInfo>(RouteInfo{}) : network.route_to(address, {});
  return !address.empty() && route && route->interface_index == index;
}

/// The interface and those that lie on it: a bond, its VLANs.
std::vector<LinkInfo> links_upon(const LinkInfo& link, const std::vector<LinkInfo>& all) {
  std::vector<LinkInfo> upon;
  for (const LinkInfo& one : all) {
    const auto stack = device_stack(one, all);
    if (std::ranges::any_of(
            stack, [&](const StackedLink& below) { return below.link.index == link.index; })) {
      upon.push_back(one);
    }
  }
  return upon;
}

}  // namespace

Status check_lifeline(const LinkInfo& link, const Lifeline& lifeline, const std::string& left_alone,
                      NetworkReader& network) {
  constexpr const char* kRemedy = "Use another interface, or force it if you can lose the host.";
  auto netlink = RtNetlink::open();
  const auto all = network.links();
  if (!netlink || !all) {
    return tl::unexpected(!netlink ? netlink.error() : all.error());
  }
  for (const LinkInfo& one : links_upon(link, *all)) {
    const std::string where = one.index == link.index
                                  ? link.name
                                  : fmt::format("{}, which lies on {},", one.name, link.name);
    if (carries_default_route(*netlink, one.index)) {
      return fail("knob-default-route",
                  fmt::format("{} carries the default route: {}", where, left_alone), kRemedy);
    }
    if (carries_ssh(lifeline.ssh_connection, one.index, network)) {
      return fail("knob-ssh", fmt::format("{} carries this SSH session: {}", where, left_alone),
                  kRemedy);
    }
    if (carries_peer(lifeline.peer_address, one.index, network)) {
      return fail("knob-peer",
                  fmt::format("{} leads to {}: {}", where, lifeline.peer_address, left_alone),
                  kRemedy);
    }
  }
  return {};
}

}  // namespace netbench::facts
