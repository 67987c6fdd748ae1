#include <optional>
#include <string>

#include "transports/tcp/echo_link.hpp"
#include "transports/tcp/gauges.hpp"
#include "transports/tcp/session.hpp"

namespace netbench::tcp {
namespace {

std::string describe_method(const Options& options) {
  std::string text =
      "closed loop; round trip by the initiator's monotonic clock, one stamp a message; both ends ";
  text += options.wait == Wait::spin ? "spin on non-blocking recv" : "block in recv";
  if (options.writes > 1) {
    text += "; each message in " + std::to_string(options.writes) + " send() calls";
  }
  return text;
}

class LatencySession final : public Session {
 public:
  using Session::Session;

  const char* method() const override { return method_.c_str(); }

 protected:
  void connected() override {
    method_ = describe_method(options());
    link_.emplace(options(), life(), links().fds().front());
    gauges_.emplace(links().fds());
  }

  void run_batch(const nb_batch& batch, nb_batch_result& result) override {
    if (options().role == NB_INITIATOR) {
      link_->ping(samples_of(batch, result), result);
      gauges_->look_if_due();  // between the batches, so that no message waits for it
    } else {
      link_->serve(result);
    }
  }

  void finish(TimePoint deadline) override { link_->finish(deadline); }

  void emit_counters(const sdk::Sink& sink) const override {
    sink.number("payload.sent_bytes", static_cast<double>(link_->traffic().sent));
    sink.number("payload.received_bytes", static_cast<double>(link_->traffic().received));
    sink.number("thread.0.cpu_s", link_->cpu_seconds());
    gauges_->emit(sink);
  }

 private:
  std::optional<EchoLink> link_;
  std::optional<Gauges> gauges_;
  std::string method_;
};

}  // namespace

std::unique_ptr<Session> make_latency_session(sdk::Host host, Options options) {
  return std::make_unique<LatencySession>(host, std::move(options));
}

}  // namespace netbench::tcp
