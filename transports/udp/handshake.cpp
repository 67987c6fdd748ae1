#include "transports/udp/handshake.hpp"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string>

#include "transports/sdk/clock.hpp"
#include "transports/sdk/error.hpp"

namespace netbench::udp {
namespace {

/// Before the tokens in a blob: what it is, and its version.
constexpr std::array<std::uint8_t, 4> kBlobMagic = {'N', 'B', 'U', 1};
constexpr std::int64_t kTakeSliceNs = 50'000'000;
constexpr int kRepeatMs = 25;

void check_patience(const Patience& patience, const std::string& what) {
  if (patience.cancelled) {
    throw sdk::cancelled();
  }
  if (sdk::MonotonicClock::now_ns() >= patience.until_ns) {
    throw sdk::Error(NB_TIMED_OUT, "udp-no-answer", what,
                     "a firewall between the hosts drops UDP: open the agent's port for it");
  }
}

void send_greetings(std::span<const Fd> sockets, std::span<const Token> tokens,
                    const std::vector<bool>& answered) {
  for (std::size_t i = 0; i < sockets.size(); ++i) {
    if (!answered[i]) {
      const Greeting hello = make_greeting(kHelloMagic, tokens[i]);
      (void)::send(sockets[i].get(), hello.data(), hello.size(), 0);  // repeated in any case
    }
  }
}

/// Whether the socket has its answer; what else is there is left from another use of the port.
bool read_answer(int fd, const Token& token, const Options& options) {
  std::array<std::byte, 64> buffer{};
  while (true) {
    const ssize_t got = ::recv(fd, buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (got < 0 && errno == ECONNREFUSED) {
      throw sdk::Error(NB_PEER_CLOSED, "udp-refused", "nobody has UDP " + options.peer.text(),
                       "does the agent listen on UDP as well? see its first lines", errno);
    }
    if (got < 0) {
      return false;
    }
    if (is_greeting(std::span(buffer).first(static_cast<std::size_t>(got)), kAnswerMagic, token)) {
      return true;
    }
  }
}

Fd take_socket(sdk::Host host, const Token& token, const Options& options,
               const Patience& patience) {
  const nb_datagram_rendezvous& service = rendezvous(host);
  while (true) {
    int fd = -1;
    const nb_status status = service.take_peer(host.raw(), token.data(), &options.local.storage,
                                               options.local.length, kTakeSliceNs, &fd);
    if (status == NB_OK) {
      return Fd(fd);
    }
    if (status != NB_TIMED_OUT) {
      throw sdk::Error(status, "udp-no-socket", "making a data socket on the agent's UDP port");
    }
    check_patience(patience, "no datagram came from the initiator");
  }
}

}  // namespace

std::vector<std::uint8_t> write_blob(std::span<const Token> tokens) {
  std::vector<std::uint8_t> blob(kBlobMagic.begin(), kBlobMagic.end());
  for (const Token& token : tokens) {
    blob.insert(blob.end(), token.begin(), token.end());
  }
  return blob;
}

std::vector<Token> read_blob(std::span<const nb_blob> peers, std::size_t count) {
  const std::size_t expected = kBlobMagic.size() + count * NB_TOKEN_BYTES;
  if (peers.size() != 1 || peers[0].size != expected ||
      std::memcmp(peers[0].data, kBlobMagic.data(), kBlobMagic.size()) != 0) {
    throw sdk::Error(NB_FAILED, "udp-bad-address",
                     "the peer's address is not one of this transport",
                     "run the same release on both hosts");
  }
  std::vector<Token> tokens(count);
  const std::uint8_t* at = peers[0].data + kBlobMagic.size();
  for (Token& token : tokens) {
    std::copy_n(at, token.size(), token.begin());
    at += token.size();
  }
  return tokens;
}

const nb_datagram_rendezvous& rendezvous(sdk::Host host) {
  const auto* service =
      static_cast<const nb_datagram_rendezvous*>(host.extension(NB_DATAGRAM_RENDEZVOUS_ID));
  if (service == nullptr || !NB_HAS(nb_datagram_rendezvous, service, take_peer)) {
    throw sdk::Error(NB_UNAVAILABLE, "udp-no-port", "this end has no UDP port",
                     "see the agent's first lines for why it could not open one");
  }
  return *service;
}

std::vector<Token> issue_tokens(sdk::Host host, std::size_t count) {
  const nb_datagram_rendezvous& service = rendezvous(host);
  std::vector<Token> tokens(count);
  for (Token& token : tokens) {
    const nb_status status = service.issue_token(host.raw(), token.data());
    if (status != NB_OK) {
      throw sdk::Error(status, "udp-no-token", "the harness gave no token for a data socket");
    }
  }
  return tokens;
}

void greet(std::span<const Fd> sockets, std::span<const Token> tokens, const Options& options,
           const Patience& patience) {
  std::vector<bool> answered(sockets.size(), false);
  std::vector<pollfd> waiting(sockets.size());
  for (std::size_t i = 0; i < sockets.size(); ++i) {
    waiting[i] = {sockets[i].get(), POLLIN, 0};
  }
  send_greetings(sockets, tokens, answered);
  while (true) {
    const int ready = ::poll(waiting.data(), waiting.size(), kRepeatMs);
    for (std::size_t i = 0; i < sockets.size(); ++i) {
      if (!answered[i] && read_answer(sockets[i].get(), tokens[i], options)) {
        answered[i] = true;
        waiting[i].fd = -1;  // poll(2) ignores it
      }
    }
    if (std::ranges::find(answered, false) == answered.end()) {
      return;
    }
    check_patience(patience, "UDP " + options.peer.text() + " does not answer");
    if (ready == 0) {
      send_greetings(sockets, tokens, answered);
    }
  }
}

std::vector<Fd> take_sockets(sdk::Host host, std::span<const Token> tokens, const Options& options,
                             const Patience& patience) {
  std::vector<Fd> sockets;
  for (const Token& token : tokens) {
    sockets.push_back(take_socket(host, token, options, patience));
    apply_options(sockets.back().get(), options);
    answer_greeting(sockets.back().get(), token);
  }
  return sockets;
}

void answer_greeting(int fd, const Token& token) noexcept {
  const Greeting answer = make_greeting(kAnswerMagic, token);
  (void)::send(fd, answer.data(), answer.size(), MSG_DONTWAIT);  // the initiator asks again
}

}  // namespace netbench::udp
