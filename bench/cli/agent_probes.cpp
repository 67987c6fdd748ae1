#include "bench/cli/agent_probes.hpp"

#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/random.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>

#include "bench/core/unique_fd.hpp"

namespace netbench::cli {

namespace {

Result<UniqueFd> bound_udp_socket(const session::SocketAddress& address) {
  UniqueFd fd(::socket(address.family(), SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!fd.valid()) {
    return fail_errno("probe-socket", "a UDP socket cannot be opened", errno);
  }
  const int off = 0;
  const int on = 1;
  if (address.family() == AF_INET6) {
    ::setsockopt(fd.get(), IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
  }
  ::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEPORT, &on, sizeof on);
  if (::bind(fd.get(), address.get(), address.size) != 0) {
    return fail_errno("probe-socket", fmt::format("UDP port {} cannot be bound", address.port()),
                      errno);
  }
  return fd;
}

}  // namespace

AgentProbes::AgentProbes(session::Acceptor& acceptor, plugin::HostServices&)
    : port_(acceptor.port()) {
  auto socket = bound_udp_socket(acceptor.address());
  auto responder =
      socket ? facts::PathProbeResponder::start(std::move(*socket))
             : Result<std::unique_ptr<facts::PathProbeResponder>>(tl::unexpected(socket.error()));
  if (responder) {
    responder_ = std::move(*responder);
  } else {
    why_not_ = responder.error().message;
  }
}

session::PathProbeReply AgentProbes::allow() {
  session::PathProbeReply reply;
  facts::ProbeToken token{};
  if (!responder_ ||
      ::getrandom(token.data(), token.size(), 0) != static_cast<ssize_t>(token.size())) {
    reply.note = responder_ ? "no randomness" : why_not_;
    return reply;
  }
  responder_->allow(token);
  reply.token.assign(token.begin(), token.end());
  reply.udp_port = port_;
  return reply;
}

void AgentProbes::forbid() {
  if (responder_) {
    responder_->forget_all();
  }
}

}  // namespace netbench::cli
