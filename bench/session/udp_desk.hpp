#pragma once

#include <array>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string>

#include "bench/core/clock.hpp"
#include "bench/core/result.hpp"
#include "bench/core/unique_fd.hpp"
#include "bench/session/address.hpp"
#include "bench/session/tokens.hpp"
#include "transports/abi/nb_transport.h"

namespace netbench::session {

/// The host extension "nb.datagram_rendezvous/1" on the agent's one UDP port. Whoever owns the
/// socket hands every datagram that is not its own to on_datagram(); a token that was issued here
/// pairs with the datagram's source, and take() makes a socket of its own for that source: bound to
/// the same port (SO_REUSEPORT) and connected, so that the kernel prefers it for that source.
/// Nothing is ever answered from here, so that the port is no amplifier. All members are
/// [any-thread].
class UdpDesk {
 public:
  static constexpr std::size_t kMaxTokens = 65536;

  /// The agent's UDP socket: `address` numeric, or empty for all (IPv6 that takes IPv4 as well, or
  /// IPv4 where the host has no IPv6); `port` 0 picks one. Errors: `udp-port-in-use`,
  /// `bad-address`, `udp-socket`.
  [[nodiscard]] static Result<UniqueFd> open_socket(const std::string& address, std::uint16_t port);

  /// A desk for the port and address that `udp_socket` (borrowed for this call) is bound to.
  explicit UdpDesk(int udp_socket);
  UdpDesk(const UdpDesk&) = delete;
  UdpDesk& operator=(const UdpDesk&) = delete;

  [[nodiscard]] std::uint16_t port() const { return bound_.port(); }

  /// Errors: `no-randomness`, `too-many-tokens`.
  [[nodiscard]] Result<Token> issue_token();
  /// Takes note of a datagram "NBU1" and token, its source as recvfrom(2) gave it; true where the
  /// token is known. Ignores everything else. Never waits longer than for a short lock.
  bool on_datagram(std::span<const std::uint8_t> datagram, const sockaddr* source,
                   socklen_t source_bytes);
  /// Waits for the datagram of `token`. `local` is the source address to use; of size 0, or of no
  /// use towards that source, the route decides. The token is used up when a socket is returned.
  /// Errors: `data-timeout`, `unknown-token`, `udp-socket`.
  [[nodiscard]] Result<UniqueFd> take(const Token& token, const SocketAddress& local,
                                      const Deadline& deadline);
  /// Forgets all tokens: at the end of a client.
  void clear();

  /// What an nb_host returns from its `extension` for NB_DATAGRAM_RENDEZVOUS_ID: the functions find
  /// their desk that way. The desk stays where it is.
  [[nodiscard]] const nb_datagram_rendezvous* table() const { return &entry_.table; }

 private:
  struct Entry {
    nb_datagram_rendezvous table;  // first: the functions get from its address to the entry's
    UdpDesk* desk;
  };

  [[nodiscard]] static UdpDesk& desk_of(const nb_host* host);
  static nb_status issue_token_call(const nb_host* host, std::uint8_t token[NB_TOKEN_BYTES]);
  static nb_status take_peer_call(const nb_host* host, const std::uint8_t token[NB_TOKEN_BYTES],
                                  const void* local_address, std::size_t local_address_bytes,
                                  std::int64_t timeout_ns, int* fd);

  [[nodiscard]] Result<SocketAddress> wait_for_source(const Token& token, const Deadline& deadline);
  [[nodiscard]] Result<UniqueFd> make_socket(const SocketAddress& source,
                                             const SocketAddress& local) const;

  SocketAddress bound_;
  Entry entry_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<Token, std::optional<SocketAddress>> sources_;
};

}  // namespace netbench::session
