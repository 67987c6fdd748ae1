#include <optional>

#include "transports/tcp/bulk_flow.hpp"
#include "transports/tcp/echo_link.hpp"
#include "transports/tcp/gauges.hpp"
#include "transports/tcp/session.hpp"

namespace netbench::tcp {
namespace {

/// Paced messages on the first connection, bulk streams on the others.
class LoadedSession final : public Session {
 public:
  using Session::Session;
  ~LoadedSession() override { links().shutdown_all(); }

  const char* method() const override {
    return "open loop; time from each message's intended send to its answer, by the initiator's "
           "monotonic clock, beside bulk streams";
  }

 protected:
  void connected() override {
    probe_.emplace(options(), life(), links().fds().front());
    flow_.emplace(options(), life(), links().fds().subspan(1));
    gauges_.emplace(links().fds(), [this] { flow_->follow_buffers(); });
  }
  void run_batch(const nb_batch& batch, nb_batch_result& result) override;
  void finish(TimePoint deadline) override;
  void emit_counters(const sdk::Sink& sink) const override;

 private:
  std::optional<EchoLink> probe_;
  std::optional<BulkFlow> flow_;
  std::optional<GaugeWatch> gauges_;
};

void LoadedSession::run_batch(const nb_batch& batch, nb_batch_result& result) {
  flow_->start();
  gauges_->start();
  if (options().role == NB_RESPONDER) {
    probe_->serve(result);
    return;
  }
  const ReceivedSample begin = flow_->sample();
  probe_->ping_paced(samples_of(batch, result), result);
  result.bytes += static_cast<std::int64_t>(flow_->sample().bytes - begin.bytes);
  if (flow_->broken() && !life().stopping()) {
    throw broken_connection(flow_->reason());
  }
}

void LoadedSession::finish(TimePoint deadline) {
  gauges_->stop();
  flow_->request_stop();
  probe_->finish(deadline);
  const bool drained = flow_->wait_drained(deadline);
  if (life().cancelled()) {
    throw sdk::cancelled();
  }
  if (!drained) {
    links().shutdown_all();
    throw sdk::Error(NB_TIMED_OUT, "tcp-stop-timeout",
                     "the bulk streams did not drain in time: bytes are still under way",
                     "the peer is stopped, the link is down, or the path is very slow");
  }
}

void LoadedSession::emit_counters(const sdk::Sink& sink) const {
  const auto& probe = probe_->traffic();
  const auto bulk_sent = static_cast<double>(flow_->sent_bytes());
  const auto bulk_received = static_cast<double>(flow_->received_bytes());
  sink.number("payload.sent_bytes", static_cast<double>(probe.sent) + bulk_sent);
  sink.number("payload.received_bytes", static_cast<double>(probe.received) + bulk_received);
  sink.number("bulk.sent_bytes", bulk_sent);
  sink.number("bulk.received_bytes", bulk_received);
  sink.number("thread.0.cpu_s", probe_->cpu_seconds());
  flow_->emit_counters(sink, 1);
  gauges_->emit(sink);
}

}  // namespace

std::unique_ptr<Session> make_loaded_session(sdk::Host host, Options options) {
  return std::make_unique<LoadedSession>(host, std::move(options));
}

}  // namespace netbench::tcp
