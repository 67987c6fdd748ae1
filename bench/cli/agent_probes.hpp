#pragma once

#include <memory>
#include <string>

#include "bench/facts/path_mtu.hpp"
#include "bench/measure/echo_service.hpp"
#include "bench/plugin/host_services.hpp"
#include "bench/session/acceptor.hpp"
#include "bench/session/messages.hpp"
#include "bench/session/udp_desk.hpp"

namespace netbench::cli {

/// The agent's UDP socket, on the number of its TCP port, which serves path probes and gives the
/// datagram transports their peers; and the echo of path probes over TCP. [control-thread]
class AgentProbes {
 public:
  /// Opens the socket on `address` (numeric, empty = all) and offers it to the plug-ins; where that
  /// fails UDP is off and the replies say why.
  AgentProbes(const std::string& address, session::Acceptor& acceptor,
              plugin::HostServices& services);

  /// Lets the client that is being served probe the path.
  [[nodiscard]] session::PathProbeReply allow();
  /// Ends that, and forgets the datagram tokens of that client.
  void forbid();

 private:
  [[nodiscard]] Status open_udp(const std::string& address, plugin::HostServices& services);

  session::Acceptor& acceptor_;
  std::unique_ptr<session::UdpDesk> desk_;
  std::unique_ptr<facts::PathProbeResponder> responder_;  // feeds the desk: ends before it
  std::unique_ptr<measure::EchoService> echo_;
  std::string why_not_;
};

}  // namespace netbench::cli
