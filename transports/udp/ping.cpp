#include "transports/udp/ping.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>

#include "transports/sdk/clock.hpp"
#include "transports/sdk/error.hpp"
#include "transports/udp/ping_endpoint.hpp"

namespace netbench::udp {
namespace {

/// In a row; then the peer is taken to be gone.
constexpr int kMaxLosses = 20;
/// A batch with losses may be shorter than asked for, rather than last for ever.
constexpr std::int64_t kMaxBatchNs = 1'000'000'000;

sdk::Error silent_peer() {
  return {NB_TIMED_OUT, "udp-silent",
          "no answer to " + std::to_string(kMaxLosses) + " datagrams in a row",
          "the peer is stopped, or the path drops everything"};
}

}  // namespace

PingSession::PingSession(sdk::Host host, const Options& options)
    : UdpSession(host, options),
      payload_(std::max(static_cast<std::size_t>(options.message_bytes), sizeof(Greeting))) {}

PingSession::~PingSession() {
  quit_ = true;
  shut_down_sockets();
  echo_team_.join();
}

const char* PingSession::method() const {
  return options_.wait == Wait::spin
             ? "round trip by non-blocking recv in a loop; not answered in 100 ms is lost"
             : "round trip by blocking recv; not answered in 100 ms is lost";
}

void PingSession::begin() {
  if (options_.role == NB_RESPONDER) {
    launch_echo();
  }
}

void PingSession::launch_echo() {
  const EchoPlan plan{fd(0), tokens_[0], counts_, quit_, payload_};
  const auto echo = [this, plan] {
    const int error = options_.wait == Wait::spin ? echo_datagrams<Wait::spin>(plan)
                                                  : echo_datagrams<Wait::block>(plan);
    if (error != 0) {
      lifecycle_.fail(error);
    }
  };
  std::vector<sdk::Job> jobs;
  jobs.push_back({nullptr, echo, options_.cpu_of(0)});
  echo_team_.launch(std::move(jobs));
  echo_team_.start();
}

void PingSession::run(const nb_batch& batch, nb_batch_result& result) {
  lifecycle_.check();
  result.begin_ns = result.end_ns = sdk::MonotonicClock::now_ns();
  if (options_.role == NB_RESPONDER || batch.iterations <= 0) {
    lifecycle_.sleep_until_end();
    lifecycle_.check();
    result.end_ns = sdk::MonotonicClock::now_ns();
    return;
  }
  const sdk::ScopedPin pin(options_.cpu_of(0));
  const auto wanted = std::min(static_cast<std::size_t>(batch.iterations), result.sample_capacity);
  const std::span samples_ns(result.samples_ns, wanted);
  if (options_.wait == Wait::spin) {
    time_operations<PingEndpoint<Wait::spin>>(samples_ns, result);
  } else {
    time_operations<PingEndpoint<Wait::block>>(samples_ns, result);
  }
  lifecycle_.check();
}

template <class Endpoint>
void PingSession::time_operations(std::span<std::uint64_t> samples_ns, nb_batch_result& result) {
  const auto message = std::span(payload_).first(static_cast<std::size_t>(options_.message_bytes));
  Endpoint endpoint({fd(0), message, answers_, sequence_, counts_, halt_});
  sdk::MonotonicClock clock;
  std::size_t done = 0;
  int losses = 0;
  while (done < samples_ns.size() && losses < kMaxLosses) {
    const sdk::Timed timed = sdk::ping_pong(endpoint, clock, samples_ns.subspan(done));
    done += timed.count;
    result.end_ns = timed.end_ns;
    if (done == samples_ns.size()) {
      break;
    }
    if (!endpoint.lost_one()) {
      break;  // stopped, cancelled or broken
    }
    result.end_ns = clock.now_ns();
    losses = timed.count > 0 ? 1 : losses + 1;
    if (done > 0 && result.end_ns - result.begin_ns >= kMaxBatchNs) {
      break;
    }
  }
  if (endpoint.sys_errno() != 0) {
    lifecycle_.fail(endpoint.sys_errno());
  }
  if (losses >= kMaxLosses) {
    throw silent_peer();
  }
  result.sample_count = done;
  result.messages = static_cast<std::int64_t>(done);
  result.bytes = result.messages * options_.message_bytes;
}

void PingSession::stop(std::int64_t /*timeout_ns*/) {
  lifecycle_.request_stop();
  halt_ = true;
  if (lifecycle_.cancelled()) {
    throw sdk::cancelled();
  }
}

void PingSession::cancel() noexcept {
  halt_ = true;
  lifecycle_.cancel();
}

void PingSession::counters(sdk::Sink sink) {
  const auto tell = [&sink](const char* name, std::uint64_t value) {
    sink.number(name, static_cast<double>(value));
  };
  const auto bytes = static_cast<std::uint64_t>(options_.message_bytes);
  tell("payload.sent_bytes", counts_.sent * bytes);
  tell("payload.received_bytes", counts_.received * bytes);
  tell("udp.sent", counts_.sent);
  tell("udp.received", counts_.received);
  if (options_.role == NB_INITIATOR) {
    tell("udp.lost", counts_.lost);
    tell("udp.late", counts_.late);
    tell("udp.duplicates", counts_.duplicates);
  }
  tell("udp.fragments_per_datagram", static_cast<std::uint64_t>(fragments()));
}

}  // namespace netbench::udp
