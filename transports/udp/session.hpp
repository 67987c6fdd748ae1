#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "transports/abi/nb_transport.h"
#include "transports/sdk/host.hpp"
#include "transports/udp/lifecycle.hpp"
#include "transports/udp/options.hpp"
#include "transports/udp/socket.hpp"

namespace netbench::udp {

/// One end of one point: its sockets, and what both workloads share. Threads of the calls as in
/// nb_transport.
class UdpSession {
 public:
  UdpSession(sdk::Host host, const Options& options);
  UdpSession(const UdpSession&) = delete;
  UdpSession& operator=(const UdpSession&) = delete;
  virtual ~UdpSession() = default;

  [[nodiscard]] nb_blob describe();
  void connect(std::span<const nb_blob> peers);
  void effective(sdk::EffectiveSink sink) const;
  [[nodiscard]] virtual const char* method() const = 0;
  virtual void run(const nb_batch& batch, nb_batch_result& result) = 0;
  virtual void stop(std::int64_t timeout_ns) = 0;
  virtual void cancel() noexcept { lifecycle_.cancel(); }
  virtual void counters(sdk::Sink sink) = 0;

 protected:
  /// The sockets are connected: makes the threads.
  virtual void begin() = 0;

  /// Wakes readers that are blocked, so that they see that they are to end.
  void shut_down_sockets() noexcept;
  [[nodiscard]] std::size_t socket_count() const { return sockets_.size(); }
  [[nodiscard]] int fd(std::size_t index) const { return sockets_[index].get(); }
  [[nodiscard]] bool gso() const { return gso_; }
  /// IP packets per datagram on this path, 1 before connect().
  [[nodiscard]] std::int64_t fragments() const;

  Options options_;
  std::vector<Token> tokens_;
  Lifecycle lifecycle_;

 private:
  void tell_stream_values(sdk::EffectiveSink sink) const;

  sdk::Host host_;
  std::int64_t until_ns_;
  std::vector<std::uint8_t> blob_;
  std::vector<Fd> sockets_;
  bool gso_ = false;
};

/// The session of the options' workload. Throws.
[[nodiscard]] std::unique_ptr<UdpSession> make_session(sdk::Host host, const Options& options);

}  // namespace netbench::udp
