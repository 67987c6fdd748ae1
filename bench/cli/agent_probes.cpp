#include "bench/cli/agent_probes.hpp"

#include <sys/random.h>

#include <utility>

#include "bench/core/log.hpp"

namespace netbench::cli {

AgentProbes::AgentProbes(const std::string& address, session::Acceptor& acceptor,
                         plugin::HostServices& services)
    : acceptor_(acceptor) {
  if (const auto opened = open_udp(address, services); !opened) {
    why_not_ = opened.error().message;
    log(LogLevel::warning, to_text(opened.error()));
  }
}

Status AgentProbes::open_udp(const std::string& address, plugin::HostServices& services) {
  auto socket = session::UdpDesk::open_socket(address, acceptor_.port());
  if (!socket) {
    return tl::unexpected(socket.error());
  }
  desk_ = std::make_unique<session::UdpDesk>(socket->get());
  auto responder = facts::PathProbeResponder::start(
      std::move(*socket), [desk = desk_.get()](std::span<const std::uint8_t> datagram,
                                               const sockaddr* source, socklen_t source_bytes) {
        desk->on_datagram(datagram, source, source_bytes);
      });
  if (!responder) {
    desk_.reset();
    return tl::unexpected(responder.error());
  }
  responder_ = std::move(*responder);
  services.offer(NB_DATAGRAM_RENDEZVOUS_ID, desk_->table());
  return {};
}

session::PathProbeReply AgentProbes::allow() {
  session::PathProbeReply reply;
  echo_.reset();
  if (auto echo = measure::EchoService::start(acceptor_)) {
    echo_ = std::move(*echo);
    for (const session::Token& token : echo_->tokens()) {
      reply.echo_tokens.emplace_back(token.begin(), token.end());
    }
  }
  facts::ProbeToken token{};
  const bool random =
      ::getrandom(token.data(), token.size(), 0) == static_cast<ssize_t>(token.size());
  if (!responder_ || !random) {
    reply.note = responder_ ? "no randomness" : why_not_;
    return reply;
  }
  responder_->allow(token);
  reply.token.assign(token.begin(), token.end());
  reply.udp_port = desk_->port();
  return reply;
}

void AgentProbes::forbid() {
  echo_.reset();
  if (responder_) {
    responder_->forget_all();
    desk_->clear();
  }
}

}  // namespace netbench::cli
