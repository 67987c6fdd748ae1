#include "bench/measure/path_probe.hpp"

#include <netinet/in.h>

#include <algorithm>
#include <chrono>

#include "bench/core/clock.hpp"
#include "bench/facts/path_mtu.hpp"
#include "bench/session/messages.hpp"

namespace netbench::measure {

namespace {

using std::chrono::seconds;

facts::ProbeTarget target_of(session::SocketAddress agent, std::uint16_t udp_port) {
  facts::ProbeTarget target;
  target.address = agent.storage;
  target.address_bytes = agent.size;
  auto* port = agent.family() == AF_INET6
                   ? &reinterpret_cast<sockaddr_in6*>(&target.address)->sin6_port
                   : &reinterpret_cast<sockaddr_in*>(&target.address)->sin_port;
  *port = htons(udp_port);
  return target;
}

PathMtu not_probed(std::string why) {
  PathMtu path;
  path.method = "not probed";
  path.note = std::move(why);
  return path;
}

}  // namespace

Result<PathMtu> probe_path(session::Channel& channel, const PathQuestion& question) {
  const auto reply =
      session::ask<session::PathProbeReply>(channel, session::PathProbeRequest{}, seconds(5));
  if (!reply) {
    return tl::unexpected(reply.error());
  }
  facts::ProbeToken token{};
  if (reply->udp_port == 0 || reply->token.size() != token.size()) {
    return not_probed(reply->note);
  }
  std::ranges::copy(reply->token, token.begin());
  auto found = facts::probe_path(target_of(question.agent, reply->udp_port), token,
                                 Deadline::after(seconds(7)));
  return found ? found : not_probed(found.error().message);
}

}  // namespace netbench::measure
