#include "transports/udp/session.hpp"

#include <sys/socket.h>

#include <algorithm>

#include "transports/sdk/clock.hpp"
#include "transports/udp/handshake.hpp"
#include "transports/udp/ping.hpp"
#include "transports/udp/streams.hpp"

namespace netbench::udp {
namespace {

/// UDP that is filtered is found out for every point anew: not after the whole deadline.
constexpr std::int64_t kGreetingLimitNs = 3'000'000'000;

}  // namespace

UdpSession::UdpSession(sdk::Host host, const Options& options)
    : options_(options),
      host_(host),
      until_ns_(sdk::MonotonicClock::now_ns() + options.deadline_ns) {
  if (options_.role == NB_RESPONDER) {
    tokens_ = issue_tokens(host_, options_.sockets());
    blob_ = write_blob(tokens_);
  } else {
    blob_ = write_blob({});
  }
}

nb_blob UdpSession::describe() { return {blob_.data(), blob_.size()}; }

void UdpSession::connect(std::span<const nb_blob> peers) {
  if (options_.role == NB_RESPONDER) {
    sockets_ = take_sockets(host_, tokens_, options_, {until_ns_, lifecycle_.cancelled()});
  } else {
    tokens_ = read_blob(peers, options_.sockets());
    for (std::size_t i = 0; i < tokens_.size(); ++i) {
      sockets_.push_back(make_socket(options_));
    }
    const std::int64_t soon_ns = sdk::MonotonicClock::now_ns() + kGreetingLimitNs;
    greet(sockets_, tokens_, options_, {std::min(until_ns_, soon_ns), lifecycle_.cancelled()});
  }
  gso_ = options_.gso && options_.sends();
  for (const Fd& socket : sockets_) {
    gso_ = gso_ && enable_gso(socket.get(), options_.message_bytes);
  }
  begin();
}

void UdpSession::effective(sdk::EffectiveSink sink) const {
  tell_buffer(fd(0), "sndbuf", options_.sndbuf, sink);
  tell_buffer(fd(0), "rcvbuf", options_.rcvbuf, sink);
  sink.choice("wait", static_cast<std::int64_t>(options_.wait),
              kWaitChoices[static_cast<std::size_t>(options_.wait)].name);
  sink.text("cpu", options_.cpu_text);
  sink.text("bind", options_.bind.value_or("auto"));
  sink.number("dscp", options_.dscp);
  if (options_.is_stream()) {
    tell_stream_values(sink);
  }
}

void UdpSession::tell_stream_values(sdk::EffectiveSink sink) const {
  const std::int64_t rate = options_.rate_bps.value_or(NB_AUTO);
  if (fragments() > 1) {
    sink.noted("rate", rate,
               "each datagram of " + std::to_string(options_.message_bytes) + " B is " +
                   std::to_string(fragments()) + " IP fragments (path MTU " +
                   std::to_string(path_mtu_bytes(fd(0))) + "): the loss of one loses all");
  } else {
    sink.number("rate", rate);
  }
  sink.number("streams", options_.streams);
  sink.number("batch", static_cast<std::int64_t>(options_.slots()));
  if (options_.gso && options_.sends() && !gso_) {
    sink.noted("gso", 0,
               "a datagram does not fit into the path MTU, or the kernel has no UDP_SEGMENT");
  } else {
    sink.number("gso", gso_ ? 1 : 0);
  }
}

std::int64_t UdpSession::fragments() const {
  return sockets_.empty() ? 1
                          : fragments_per_datagram(options_.message_bytes, path_mtu_bytes(fd(0)),
                                                   family_of(fd(0)));
}

void UdpSession::shut_down_sockets() noexcept {
  for (const Fd& socket : sockets_) {
    ::shutdown(socket.get(), SHUT_RD);
  }
}

std::unique_ptr<UdpSession> make_session(sdk::Host host, const Options& options) {
  if (options.is_stream()) {
    return std::make_unique<StreamSession>(host, options);
  }
  return std::make_unique<PingSession>(host, options);
}

}  // namespace netbench::udp
