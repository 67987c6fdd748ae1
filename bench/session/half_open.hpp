#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "bench/core/clock.hpp"
#include "bench/core/result.hpp"
#include "bench/core/unique_fd.hpp"
#include "bench/session/address.hpp"
#include "bench/session/frame.hpp"
#include "bench/session/stream.hpp"
#include "bench/session/tls.hpp"
#include "bench/session/tokens.hpp"

namespace netbench::session {

/// First bytes of a control connection without TLS, in both directions.
inline constexpr std::string_view kPlainMagic = "NBC1";

/// A client whose first frame (its hello) has come.
struct Arrival {
  Stream stream;
  FrameDecoder decoder;
  Message hello;
  SocketAddress peer;
};

/// Decides about a client: moves the arrival's stream away and returns nothing, or leaves it and
/// returns the refusal to send. Called on the accept thread: must not wait.
using AdmitClient = std::function<std::optional<Error>(Arrival& arrival)>;

/// Where a connection can lead to.
struct Door {
  const TlsContext* tls = nullptr;  // null: no key here
  bool allow_insecure = false;
  TokenDesk* tokens = nullptr;
  AdmitClient admit;
};

/// An accepted connection whose purpose is not known yet. advance() is called whenever its socket
/// is ready, until it returns false. One thread.
class HalfOpen {
 public:
  /// `door` outlives this object.
  HalfOpen(UniqueFd fd, const Door& door, const Deadline& deadline);

  [[nodiscard]] int fd() const { return stream_->fd(); }
  [[nodiscard]] short events() const { return events_; }
  [[nodiscard]] const Deadline& deadline() const { return deadline_; }
  /// False: it went where it wanted to, or is to be dropped.
  [[nodiscard]] bool advance();

 private:
  enum class Progress { wait, next, over };
  using Step = Progress (HalfOpen::*)();

  [[nodiscard]] Progress read_first_bytes();
  [[nodiscard]] Progress read_magic();
  [[nodiscard]] Progress decide();
  [[nodiscard]] Progress start_tls();
  [[nodiscard]] Progress start_plain();
  [[nodiscard]] Progress shake_hands();
  [[nodiscard]] Progress read_hello();
  [[nodiscard]] Progress read_token();
  [[nodiscard]] Progress drain();

  [[nodiscard]] Progress receive_into(char* data, std::size_t wanted, std::size_t& have);
  [[nodiscard]] Progress admit(Message hello);
  [[nodiscard]] Progress refuse(const Error& error);
  [[nodiscard]] Progress dismiss(std::string_view last_words);
  [[nodiscard]] Progress go_to(Step step);

  const Door& door_;
  SocketAddress peer_;
  std::optional<Stream> stream_;
  FrameDecoder decoder_;
  Deadline deadline_;
  Step step_ = &HalfOpen::read_first_bytes;
  short events_;
  std::array<char, 4> magic_{};
  std::size_t magic_size_ = 0;
  Token token_{};
  std::size_t token_size_ = 0;
};

}  // namespace netbench::session
