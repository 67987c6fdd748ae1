#include "bench/measure/path_probe.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bench/core/clock.hpp"
#include "bench/core/unique_fd.hpp"
#include "bench/facts/path_mtu.hpp"
#include "bench/session/messages.hpp"
#include "transports/abi/nb_transport.h"

namespace netbench::measure {

namespace {

using std::chrono::seconds;

facts::ProbeTarget target_of(const PathQuestion& question, std::uint16_t udp_port) {
  facts::ProbeTarget target;
  target.address = question.agent.storage;
  target.address_bytes = question.agent.size;
  auto* port = question.agent.family() == AF_INET6
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

/// A connection to the agent's echo, with the MSS clamped before it connects.
Result<UniqueFd> connect_echo(const session::SocketAddress& agent,
                              const std::vector<std::uint8_t>& token, std::int64_t mss_bytes) {
  UniqueFd fd(::socket(agent.family(), SOCK_STREAM | SOCK_CLOEXEC, 0));
  const int mss = static_cast<int>(mss_bytes);
  const timeval limit{2, 0};
  ::setsockopt(fd.get(), IPPROTO_TCP, TCP_MAXSEG, &mss, sizeof mss);
  ::setsockopt(fd.get(), SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
  if (::connect(fd.get(), agent.get(), agent.size) != 0) {
    return fail_errno("probe-socket", "a probing connection to " + agent.text(), errno);
  }
  std::string greeting(NB_DATA_MAGIC);
  greeting.append(token.begin(), token.end());
  if (::send(fd.get(), greeting.data(), greeting.size(), MSG_NOSIGNAL) !=
      static_cast<ssize_t>(greeting.size())) {
    return fail_errno("probe-socket", "a probing connection to " + agent.text(), errno);
  }
  return fd;
}

Result<PathMtu> probe_over_tcp(const PathQuestion& question, const session::PathProbeReply& reply,
                               Deadline deadline) {
  std::size_t next = 0;
  const auto connect = [&](std::int64_t mss_bytes) -> Result<UniqueFd> {
    if (next >= reply.echo_tokens.size()) {
      return fail("probe-socket", "the agent offers no further probing connection");
    }
    return connect_echo(question.agent, reply.echo_tokens[next++], mss_bytes);
  };
  return facts::tcp_mss_probe(connect, question.agent.family(), question.interface_mtu_bytes,
                              deadline);
}

Result<PathMtu> probe_over_udp(const PathQuestion& question, const session::PathProbeReply& reply,
                               Deadline deadline) {
  facts::ProbeToken token{};
  if (reply.udp_port == 0 || reply.token.size() != token.size()) {
    PathMtu path = not_probed(reply.note);
    path.method = facts::kMethodUdpFiltered;
    return path;
  }
  std::ranges::copy(reply.token, token.begin());
  return facts::probe_path(target_of(question, reply.udp_port), token, deadline);
}

}  // namespace

Result<PathMtu> probe_path(session::Channel& channel, const PathQuestion& question) {
  const auto reply =
      session::ask<session::PathProbeReply>(channel, session::PathProbeRequest{}, seconds(5));
  if (!reply) {
    return tl::unexpected(reply.error());
  }
  const Deadline deadline = Deadline::after(seconds(8));
  auto found = probe_over_udp(question, *reply, deadline);
  if (found && found->method == facts::kMethodUdpFiltered) {
    const std::string why = reply->udp_port == 0 ? reply->note : "UDP gets no answer";
    found = probe_over_tcp(question, *reply, deadline);
    if (found) {
      found->note = why + (found->note.empty() ? "" : "; " + found->note);
    }
  }
  return found ? found : not_probed(found.error().message);
}

}  // namespace netbench::measure
