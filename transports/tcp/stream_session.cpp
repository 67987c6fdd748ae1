#include <cstdint>
#include <optional>
#include <string>

#include "transports/tcp/bulk_flow.hpp"
#include "transports/tcp/gauges.hpp"
#include "transports/tcp/session.hpp"

namespace netbench::tcp {
namespace {

/// The peer's end arrives before the own stop(), which the control channel brings, when both are
/// stopped at about the same time.
constexpr std::int64_t kStopMayFollowNs = 500'000'000;

class StreamSession final : public Session {
 public:
  using Session::Session;
  ~StreamSession() override { links().shutdown_all(); }

  const char* method() const override { return method_.c_str(); }

 protected:
  void connected() override;
  void run_batch(const nb_batch& batch, nb_batch_result& result) override;
  void emit_counters(const sdk::Sink& sink) const override;
  void finish(TimePoint deadline) override;

 private:
  void observe(const nb_batch& batch, nb_batch_result& result);
  void require_whole();
  void require_progress(const ReceivedSample& begin, const ReceivedSample& end);

  std::optional<BulkFlow> flow_;
  std::optional<GaugeWatch> gauges_;
  std::string method_;
  std::int64_t idle_since_ns_ = 0;
};

std::string describe_method(const Options& options) {
  std::string text =
      "bytes in the receiver's kernel (TCP_INFO bytes_received) over its monotonic "
      "clock; ";
  text += kModeChoices[static_cast<std::size_t>(options.mode)].name;
  text += " sender; ";
  text += kReceiveChoices[static_cast<std::size_t>(options.receive)].name;
  const ReceivePlan plan = receive_plan(options);
  text += " receiver, low-water mark " + std::to_string(plan.low_water_bytes) + " B";
  if (plan.most_low_water_bytes > plan.low_water_bytes) {
    text += " and then a quarter of the buffer, at most " +
            std::to_string(plan.most_low_water_bytes) + " B";
  }
  if (options.read_rate_bps) {
    text += "; the application takes at most " + std::to_string(*options.read_rate_bps) + " bit/s";
  }
  if (options.write_rate_bps) {
    text +=
        "; the application offers at most " + std::to_string(*options.write_rate_bps) + " bit/s";
  }
  return text;
}

void StreamSession::connected() {
  method_ = describe_method(options());
  flow_.emplace(options(), life(), links().fds());
  gauges_.emplace(links().fds(), [this] { flow_->follow_buffers(); });
}

TimePoint end_of(const nb_batch& batch) {
  return batch.duration_ns > 0 ? time_after(batch.duration_ns) : TimePoint::max();
}

void StreamSession::run_batch(const nb_batch& batch, nb_batch_result& result) {
  flow_->start();
  gauges_->start();
  observe(batch, result);
  require_whole();
}

void StreamSession::observe(const nb_batch& batch, nb_batch_result& result) {
  const bool receives = options().receives_bulk();
  const ReceivedSample begin = receives ? flow_->sample_at_arrival() : flow_->sample();
  const bool cut_short = life().wait(end_of(batch), [this] { return flow_->broken(); });
  const ReceivedSample end = receives && !cut_short ? flow_->sample_at_arrival() : flow_->sample();
  const auto message = static_cast<std::uint64_t>(options().message_bytes);
  result.bytes = static_cast<std::int64_t>(end.bytes - begin.bytes);
  result.messages = static_cast<std::int64_t>(end.bytes / message - begin.bytes / message);
  // From before the first look to after the last one: a look that was interrupted may understate
  // the rate, never overstate it.
  result.begin_ns = begin.before_ns;
  result.end_ns = end.after_ns;
  require_progress(begin, end);
}

void StreamSession::require_progress(const ReceivedSample& begin, const ReceivedSample& end) {
  if (!options().receives_bulk() || end.bytes != begin.bytes || idle_since_ns_ == 0) {
    idle_since_ns_ = end.bytes != begin.bytes ? end.after_ns : begin.before_ns;
  }
  const bool idle = options().receives_bulk() && end.after_ns - idle_since_ns_ >= kStallLimitNs;
  if (idle && !life().stopping() && !life().cancelled()) {
    throw broken_connection(ETIMEDOUT);
  }
}

void StreamSession::require_whole() {
  if (flow_->broken() && flow_->reason() == 0) {
    life().wait(time_after(kStopMayFollowNs), [] { return false; });
  }
  if (life().cancelled()) {
    throw sdk::cancelled();
  }
  if (flow_->broken() && !life().stopping()) {
    throw broken_connection(flow_->reason());
  }
}

void StreamSession::finish(TimePoint deadline) {
  gauges_->stop();
  flow_->request_stop();
  const bool drained = flow_->wait_drained(deadline);
  if (life().cancelled()) {
    throw sdk::cancelled();
  }
  if (!drained) {
    links().shutdown_all();
    throw sdk::Error(NB_TIMED_OUT, "tcp-stop-timeout",
                     "the streams did not drain in time: bytes are still under way",
                     "the peer is stopped, the link is down, or the path is very slow");
  }
  if (flow_->broken() && flow_->reason() != 0) {
    throw broken_connection(flow_->reason());
  }
}

void StreamSession::emit_counters(const sdk::Sink& sink) const {
  sink.number("payload.sent_bytes", static_cast<double>(flow_->sent_bytes()));
  sink.number("payload.received_bytes", static_cast<double>(flow_->received_bytes()));
  flow_->emit_counters(sink, 0);
  gauges_->emit(sink);
}

}  // namespace

std::unique_ptr<Session> make_stream_session(sdk::Host host, Options options) {
  return std::make_unique<StreamSession>(host, std::move(options));
}

}  // namespace netbench::tcp
