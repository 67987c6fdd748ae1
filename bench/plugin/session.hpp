#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "bench/core/result.hpp"
#include "bench/plugin/report.hpp"
#include "bench/plugin/transport.hpp"
#include "transports/abi/nb_transport.h"

namespace netbench::plugin {

using Blob = std::vector<std::uint8_t>;

/// Slugs that every transport's errors have where the reason is not the transport's own.
inline constexpr const char* kCancelled = "cancelled";     // NB_CANCELLED, always
inline constexpr const char* kPeerClosed = "peer-closed";  // NB_PEER_CLOSED, always
inline constexpr const char* kTimedOut = "transport-timed-out";
inline constexpr const char* kUnavailable = "transport-unavailable";
inline constexpr const char* kInvalid = "transport-invalid";
inline constexpr const char* kFailed = "transport-failed";

/// One end of an opened point; closed by the destructor, while no run() may be in progress.
/// Move-only. Threads as in nb_transport.h: run() on one io thread, cancel() on any, the others on
/// the control thread. Errors carry the plug-in's slug, message and remedy.
class TransportSession {
 public:
  TransportSession(TransportSession&&) noexcept = default;
  TransportSession& operator=(TransportSession&&) noexcept = default;

  /// This end's address for the other, at most 64 KiB. The responder describes first.
  [[nodiscard]] Result<Blob> describe();
  /// Both ends are in connect() at the same time.
  [[nodiscard]] Status connect(const Blob& peer);
  [[nodiscard]] Status connect(std::span<const Blob> peers);
  [[nodiscard]] Result<std::vector<EffectiveValue>> effective();
  /// How a number of this session comes about, one line.
  [[nodiscard]] std::string method();

  /// One batch; times of operations go into `samples_ns`, which stays the caller's (size at least
  /// `batch.iterations`). Allocates nothing where it succeeds. [io-thread]
  [[nodiscard]] Result<BatchResult> run(const Batch& batch,
                                        std::span<std::uint64_t> samples_ns = {});

  [[nodiscard]] Status stop(std::int64_t timeout_ns);
  void cancel();  // [any-thread]
  [[nodiscard]] Result<Readings> counters();

 private:
  friend class Transport;
  struct Closer {
    const nb_transport* table;
    void operator()(nb_session* session) const { table->close(session); }
  };

  TransportSession(Transport transport, nb_session* session)
      : transport_(std::move(transport)), session_(session, Closer{transport_.table()}) {}

  Transport transport_;
  std::unique_ptr<nb_session, Closer> session_;
};

}  // namespace netbench::plugin
