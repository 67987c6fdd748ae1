#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "transports/abi/nb_transport.h"
#include "transports/sdk/cpus.hpp"
#include "transports/tcp/buffers.hpp"
#include "transports/tcp/lifecycle.hpp"
#include "transports/tcp/links.hpp"
#include "transports/tcp/options.hpp"
#include "transports/tcp/ping_pong.hpp"

namespace netbench::tcp {

/// The one connection of a ping-pong, on either end. run() calls are [io-thread].
class EchoLink {
 public:
  EchoLink(const Options& options, Lifecycle& life, int fd);

  /// Initiator: `samples` round trips, closed loop; or paced, open loop. Throws as run() does.
  void ping(std::span<std::uint64_t> samples_ns, nb_batch_result& result);
  void ping_paced(std::span<std::uint64_t> samples_ns, nb_batch_result& result);
  /// Responder: answers until the initiator's half-close, or stop or cancel.
  void serve(nb_batch_result& result);

  /// Half-closes (initiator first) and takes what is under way; throws after `deadline`.
  /// [control-thread]
  void finish(TimePoint deadline);

  [[nodiscard]] const Traffic& traffic() const { return traffic_; }
  [[nodiscard]] double cpu_seconds() const { return cpu_time_.seconds(); }

 private:
  struct Ended {
    sdk::Timed timed;
    int error;
    bool inside_message;
  };
  using Loop = Ended (*)(EchoLink&, std::span<std::uint64_t>);
  using LoopTable = std::array<Loop, kWaitChoices.size()>;

  template <class End>
  [[nodiscard]] End make_end(bool patient);
  template <class End>
  static Ended ping_as(EchoLink& link, std::span<std::uint64_t> samples_ns);
  template <class End>
  static Ended ping_paced_as(EchoLink& link, std::span<std::uint64_t> samples_ns);
  template <class End>
  static Ended serve_as(EchoLink& link, std::span<std::uint64_t> samples_ns);

  [[nodiscard]] Loop chosen(const LoopTable& whole, const LoopTable& split) const;
  Ended measured(Loop loop, std::span<std::uint64_t> samples_ns, nb_batch_result& result);
  void require_complete(const Ended& ended, std::size_t asked) const;
  [[nodiscard]] bool drain(TimePoint deadline);

  const Options& options_;
  Lifecycle& life_;
  int fd_;
  PageBuffer message_;
  Traffic traffic_;
  sdk::ThreadCpuTime cpu_time_;
};

/// The caller's sample array, cut to the batch's iterations. Throws NB_INVALID where it is too
/// small.
[[nodiscard]] std::span<std::uint64_t> samples_of(const nb_batch& batch,
                                                  const nb_batch_result& result);

}  // namespace netbench::tcp
