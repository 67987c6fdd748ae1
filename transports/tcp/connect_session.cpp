#include <sys/socket.h>
#include <sys/time.h>

#include <atomic>
#include <cerrno>

#include "transports/sdk/clock.hpp"
#include "transports/sdk/cpus.hpp"
#include "transports/sdk/loops.hpp"
#include "transports/tcp/echo_link.hpp"
#include "transports/tcp/session.hpp"

namespace netbench::tcp {
namespace {

/// One connection set-up to the agent's port, reset afterwards so that no TIME_WAIT is left.
class ConnectOperation {
 public:
  ConnectOperation(const Options& options, const std::atomic<bool>& interrupted)
      : options_(options), interrupted_(interrupted) {}

  [[nodiscard]] bool perform() noexcept {
    if (interrupted_.load(std::memory_order_relaxed)) {
      return false;
    }
    try {
      fd_ = make_socket(options_);
    } catch (const sdk::Error& error) {
      error_ = error.sys_errno() != 0 ? error.sys_errno() : EINVAL;
      return false;
    }
    // A connect() that is not answered returns now and then, so that cancel() is seen.
    constexpr timeval kSlice{0, 50'000};
    (void)try_set(fd_.get(), SOL_SOCKET, SO_SNDTIMEO, kSlice);
    if (::connect(fd_.get(), options_.peer.get(), options_.peer.length) == 0) [[likely]] {
      return true;
    }
    return await_connected();
  }

  void clean_up() noexcept {
    constexpr linger kReset{1, 0};
    (void)try_set(fd_.get(), SOL_SOCKET, SO_LINGER, kReset);
    fd_.reset();
  }

  [[nodiscard]] int error() const noexcept { return error_; }

 private:
  bool await_connected() noexcept {
    const std::int64_t give_up = sdk::MonotonicClock::now_ns() + kStallLimitNs;
    while (errno == EINPROGRESS || errno == EALREADY || errno == EINTR) {
      if (interrupted_.load() || sdk::MonotonicClock::now_ns() > give_up) {
        error_ = ETIMEDOUT;
        return false;
      }
      if (::connect(fd_.get(), options_.peer.get(), options_.peer.length) == 0) {
        return true;
      }
    }
    error_ = errno;
    return errno == EISCONN;
  }

  const Options& options_;
  const std::atomic<bool>& interrupted_;
  Fd fd_;
  int error_ = 0;
};

static_assert(sdk::TimedOperation<ConnectOperation>);

class ConnectSession final : public Session {
 public:
  using Session::Session;

  const char* method() const override {
    return "socket(), its options and connect() to the agent's port, by the initiator's monotonic "
           "clock; no data, no token; closed with a reset outside the sample";
  }

 protected:
  void connected() override {}

  void run_batch(const nb_batch& batch, nb_batch_result& result) override {
    if (options().role == NB_INITIATOR) {
      connect_repeatedly(samples_of(batch, result), result);
      return;
    }
    life().wait(TimePoint::max(), [] { return false; });
    if (life().cancelled()) {
      throw sdk::cancelled();
    }
  }

  void emit_counters(const sdk::Sink& sink) const override {
    sink.number("payload.sent_bytes", 0);
    sink.number("payload.received_bytes", 0);
    sink.number("connect.connections", static_cast<double>(connections_));
    sink.number("thread.0.cpu_s", cpu_time_.seconds());
  }

  void finish(TimePoint deadline) override {
    interrupted_ = true;
    if (!life().wait_run_ended(deadline)) {
      throw sdk::Error(NB_TIMED_OUT, "tcp-stop-timeout", "a connect() did not end in time");
    }
  }
  void wake() noexcept override { interrupted_ = true; }

 private:
  void connect_repeatedly(std::span<std::uint64_t> samples_ns, nb_batch_result& result) {
    const sdk::ScopedPin pin(options().cpu_of(0));
    sdk::MonotonicClock clock;
    ConnectOperation operation(options(), interrupted_);
    cpu_time_.begin();
    const sdk::Timed timed = sdk::timed_operations(operation, clock, samples_ns);
    cpu_time_.end();
    connections_ += timed.count;
    result.sample_count = timed.count;
    result.messages = static_cast<std::int64_t>(timed.count);
    result.begin_ns = timed.begin_ns;
    result.end_ns = timed.end_ns;
    if (life().cancelled()) {
      throw sdk::cancelled();
    }
    if (timed.count < samples_ns.size() && !life().stopping()) {
      throw connect_error(options().peer, operation.error());
    }
  }

  std::atomic<bool> interrupted_{false};
  std::atomic<std::uint64_t> connections_{0};
  sdk::ThreadCpuTime cpu_time_;
};

}  // namespace

std::unique_ptr<Session> make_connect_session(sdk::Host host, Options options) {
  return std::make_unique<ConnectSession>(host, std::move(options));
}

}  // namespace netbench::tcp
