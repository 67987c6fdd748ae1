#include <optional>

#include "transports/tcp/echo_link.hpp"
#include "transports/tcp/session.hpp"
#include "transports/tcp/tcp_info.hpp"

namespace netbench::tcp {
namespace {

class LatencySession final : public Session {
 public:
  using Session::Session;

  const char* method() const override {
    return options().wait == Wait::spin
               ? "closed loop; round trip by the initiator's monotonic clock, one stamp a message; "
                 "both ends spin on non-blocking recv"
               : "closed loop; round trip by the initiator's monotonic clock, one stamp a message; "
                 "both ends block in recv";
  }

 protected:
  void connected() override { link_.emplace(options(), life(), links().fds().front()); }

  void run_batch(const nb_batch& batch, nb_batch_result& result) override {
    if (options().role == NB_INITIATOR) {
      link_->ping(samples_of(batch, result), result);
    } else {
      link_->serve(result);
    }
  }

  void finish(TimePoint deadline) override { link_->finish(deadline); }

  void emit_counters(const sdk::Sink& sink) const override {
    sink.number("payload.sent_bytes", static_cast<double>(link_->traffic().sent));
    sink.number("payload.received_bytes", static_cast<double>(link_->traffic().received));
    sink.number("thread.0.cpu_s", link_->cpu_seconds());
    emit_tcp_info(links().fds(), sink);
  }

 private:
  std::optional<EchoLink> link_;
};

}  // namespace

std::unique_ptr<Session> make_latency_session(sdk::Host host, Options options) {
  return std::make_unique<LatencySession>(host, std::move(options));
}

}  // namespace netbench::tcp
