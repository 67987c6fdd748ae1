#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "transports/sdk/host.hpp"
#include "transports/sdk/periodic.hpp"

namespace netbench::tcp {

/// What the kernel says of some connections while they are used. A look takes one getsockopt() of
/// TCP_INFO and one of SO_MEMINFO a connection, which hold its lock for about a microsecond.
/// [any-thread]
class Gauges {
 public:
  /// The sockets stay the caller's and must outlive this.
  explicit Gauges(std::span<const int> fds);

  void look();
  /// look(), where the last one is 100 ms old or older.
  void look_if_due();
  /// look(), where there was none.
  void look_once();

  /// Over all connections, with the sum, maximum, minimum or first as tcp_info.cpp says for each
  /// field: `tcp_info.<name>`, counts as they are now, momentary values as the median of the looks;
  /// `tcp_info_max.<name>` and `tcp_info_min.<name>` of those that range; `sock.<name>_bytes`,
  /// summed, the median of the looks, and `sock_max.<name>_bytes`. Without looks `tcp_info` is of
  /// now.
  void emit(const sdk::Sink& sink) const;

 private:
  void look_locked();

  std::vector<int> fds_;
  mutable std::mutex mutex_;
  std::int64_t last_look_ns_ = 0;
  std::vector<std::vector<double>> fields_;  // of each field, one number a look
  std::vector<std::vector<double>> memory_;
};

/// Looks ten times a second from a thread of its own, so that those which move bytes never do. A
/// stop before the first look is due takes it. `also` is called after each look; it must not throw.
class GaugeWatch {
 public:
  explicit GaugeWatch(
      std::span<const int> fds, std::function<void()> also = [] {})
      : gauges_(fds), periodic_(kPeriod, [this, also = std::move(also)] {
          gauges_.look();
          also();
        }) {}

  /// [any-thread]
  void start() { periodic_.start(); }
  /// Before the connections are ended. [control-thread]
  void stop() {
    periodic_.stop();
    gauges_.look_once();
  }
  void emit(const sdk::Sink& sink) const { gauges_.emit(sink); }

 private:
  static constexpr std::chrono::milliseconds kPeriod{100};

  Gauges gauges_;
  sdk::Periodic periodic_;
};

}  // namespace netbench::tcp
