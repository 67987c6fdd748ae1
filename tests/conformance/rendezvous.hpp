#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <vector>

#include "bench/core/clock.hpp"
#include "bench/core/unique_fd.hpp"
#include "bench/plugin/host_services.hpp"
#include "transports/abi/nb_transport.h"

namespace netbench::conformance {

/// The agent's part of the data path on 127.0.0.1: nb.rendezvous/1 and nb.datagram_rendezvous/1 on
/// one port number. Used by one control thread at a time, as the interface asks.
class TestRendezvous {
 public:
  TestRendezvous();

  /// Offers both services to the responder's plug-in.
  void offer_to(plugin::HostServices& host);

  /// Address of the agent for the initiator: bytes of a sockaddr_in.
  [[nodiscard]] std::vector<std::uint8_t> address() const;

  using Token = std::array<std::uint8_t, NB_TOKEN_BYTES>;
  [[nodiscard]] Token issue();
  [[nodiscard]] nb_status take_connection(const Token& token, std::int64_t timeout_ns, int* fd);
  [[nodiscard]] nb_status take_datagram_peer(const Token& token, std::int64_t timeout_ns, int* fd);
  [[nodiscard]] int listener() const { return listener_.get(); }

 private:
  void accept_one();

  UniqueFd listener_;
  UniqueFd datagrams_;
  std::uint64_t issued_ = 0;
  std::map<Token, UniqueFd> arrived_;
};

}  // namespace netbench::conformance
