#pragma once

#include <memory>
#include <optional>
#include <string>

#include "bench/facts/path_mtu.hpp"
#include "bench/plugin/host_services.hpp"
#include "bench/session/acceptor.hpp"
#include "bench/session/messages.hpp"

namespace netbench::cli {

/// The agent's UDP socket, on the number of its TCP port: serves path probes of the client that is
/// being served. [control-thread]
class AgentProbes {
 public:
  /// Opens the socket; where that fails probing is off and the replies say why.
  AgentProbes(session::Acceptor& acceptor, plugin::HostServices& services);

  [[nodiscard]] session::PathProbeReply allow();
  void forbid();

 private:
  std::uint16_t port_;
  std::unique_ptr<facts::PathProbeResponder> responder_;
  std::string why_not_;
};

}  // namespace netbench::cli
