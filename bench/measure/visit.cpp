#include "bench/measure/visit.hpp"

#include <fmt/format.h>

#include <chrono>
#include <memory>
#include <utility>

#include "bench/core/clock.hpp"
#include "bench/session/messages.hpp"

namespace netbench::measure {

namespace {

using std::chrono::seconds;

constexpr Nanoseconds kConnectLimit = seconds(10);
constexpr Nanoseconds kReplyLimit = seconds(10);
constexpr Nanoseconds kStopLimit = seconds(3);
constexpr Nanoseconds kGrace = seconds(6);

Error interrupted_error() {
  return {"interrupted", "stopped by a signal", {}, ExitClass::interrupted};
}

class InitiatorVisit {
 public:
  InitiatorVisit(const VisitPlan& plan, const SweepContext& context)
      : plan_(plan),
        context_(context),
        local_duty_(duty_of(plugin::Role::initiator, plan.point.pattern, plan.point.direction)),
        remote_duty_(duty_of(plugin::Role::responder, plan.point.pattern, plan.point.direction)) {}

  [[nodiscard]] Result<VisitResult> run(const plugin::Transport& transport) {
    Status step = open(transport);
    if (step) {
      step = connect();
    }
    if (step) {
      step = measure();
    }
    if (!step) {
      abort();
      return tl::unexpected(step.error());
    }
    if (step = end(); !step) {
      return tl::unexpected(step.error());
    }
    return std::move(result_);
  }

 private:
  [[nodiscard]] Status open(const plugin::Transport& transport) {
    session::OpenRequest request{plan_.point, plan_.seed, kConnectLimit.count()};
    opened_ = true;
    const auto reply = session::ask<session::OpenReply>(context_.channel, request, kConnectLimit);
    if (!reply) {
      return tl::unexpected(reply.error());
    }
    remote_blob_ = reply->blob;
    auto local = plugin::open_request(plan_.point, plugin::Role::initiator, plan_.seed);
    local.peer_address = context_.remote_address;
    local.local_address = context_.local_address;
    local.deadline_ns = kConnectLimit.count();
    auto session = transport.open(context_.services, local);
    if (!session) {
      return tl::unexpected(session.error());
    }
    end_ = std::make_unique<VisitEnd>(std::move(*session), transport.spec(), local_duty_);
    return {};
  }

  [[nodiscard]] Status connect() {
    auto blob = end_->describe();
    if (!blob) {
      return tl::unexpected(blob.error());
    }
    if (auto sent = context_.channel.send(to_message(session::ConnectRequest{*blob})); !sent) {
      return sent;
    }
    const Status local = end_->connect(remote_blob_);
    const auto reply = await<session::ConnectReply>(kConnectLimit + seconds(2));
    if (!local) {
      return local;
    }
    if (!reply) {
      return tl::unexpected(reply.error());
    }
    const auto effective = end_->effective();
    if (!effective) {
      return tl::unexpected(effective.error());
    }
    record_effective(*effective, *reply);
    return {};
  }

  void record_effective(const EffectiveRecord& local, const session::ConnectReply& remote) {
    result_.tunables.effective_initiator = local.values;
    result_.tunables.effective_responder = remote.effective;
    for (const std::string& note : local.notes) {
      result_.tunables.notes.push_back("initiator: " + note);
    }
    for (const std::string& note : remote.notes) {
      result_.tunables.notes.push_back("responder: " + note);
    }
    result_.capped = local.capped || remote.capped;
    result_.method = local_duty_ == Duty::serve ? remote.method : local.method;
  }

  [[nodiscard]] Status measure() {
    const session::StartRequest request{plan_.limits.min_time_ns, plan_.limits.max_time_ns,
                                        plan_.limits.precision};
    // A responder that sends starts before its reply arrives.
    end_->begin(context_.meter);
    if (auto sent = context_.channel.send(to_message(request)); !sent) {
      return sent;
    }
    if (auto reply = await<session::StartReply>(kReplyLimit); !reply) {
      return tl::unexpected(reply.error());
    }
    result_.round.index = plan_.round;
    result_.round.started_utc = utc_now();
    started_ns_ = monotonic_ns();
    end_->start(plan_.limits, [this](const Observation&) { context_.channel.cancel(); });
    return wait_for_observations(
        Deadline::after(Nanoseconds(3 * plan_.limits.max_time_ns) + kGrace));
  }

  [[nodiscard]] bool local_done() const { return local_duty_ == Duty::serve || end_->finished(); }
  [[nodiscard]] bool remote_done() const {
    return remote_duty_ != Duty::observe_stream || observed_.stream.has_value();
  }

  [[nodiscard]] Status wait_for_observations(const Deadline& deadline) {
    while (true) {
      if (context_.interrupted) {
        return tl::unexpected(interrupted_error());
      }
      if (observed_.error) {
        return tl::unexpected(with_context(*observed_.error, "responder"));
      }
      if (end_->finished() && end_->observation().error) {
        return tl::unexpected(*end_->observation().error);
      }
      if (local_done() && remote_done()) {
        return {};
      }
      const auto message = context_.channel.receive(deadline);
      if (!message && message.error().slug == "control-timeout") {
        return fail("visit-deadline",
                    fmt::format("{}: not finished {:.0f} s after its start", plan_.point.id(),
                                static_cast<double>(monotonic_ns() - started_ns_) / 1e9),
                    "The path passes too little for this size; use smaller sizes, or look for "
                    "loss or an MTU that does not fit.");
      }
      if (auto taken = take(message); !taken) {
        return taken;
      }
    }
  }

  /// A message that came while waiting: an observation, or something that ends the visit.
  [[nodiscard]] Status take(const Result<session::Message>& message) {
    if (!message) {
      return message.error().slug == "cancelled" ? Status{} : tl::unexpected(message.error());
    }
    auto observed = session::from_message<session::Observed>(*message);
    if (!observed) {
      return tl::unexpected(observed.error());
    }
    observed_ = std::move(*observed);
    return {};
  }

  /// Waits for one reply; observations that come before it are kept.
  template <class Reply>
  [[nodiscard]] Result<Reply> await(Nanoseconds limit) {
    const Deadline deadline = Deadline::after(limit);
    while (true) {
      const auto message = context_.channel.receive(deadline);
      if (message && !session::Codec<session::Observed>::matches(*message)) {
        return session::from_message<Reply>(*message);
      }
      if (auto taken = take(message); !taken) {
        return tl::unexpected(taken.error());
      }
      if (context_.interrupted) {
        return tl::unexpected(interrupted_error());
      }
    }
  }

  [[nodiscard]] Status end() {
    if (auto sent = context_.channel.send(to_message(session::StopRequest{kStopLimit.count()}));
        !sent) {
      return sent;
    }
    VisitEnd::Ending local = end_->stop(kStopLimit.count());
    auto remote = await<session::StopReply>(kStopLimit + kReplyLimit);
    if (!remote) {
      return tl::unexpected(remote.error());
    }
    Round& round = result_.round;
    round.duration_ns = monotonic_ns() - started_ns_;
    round.latency = end_->observation().latency;
    round.reverse = end_->observation().stream;
    round.forward = observed_.stream;
    round.initiator = std::move(local.record);
    round.responder = std::move(remote->end);
    if (local.error || !remote->stop_error.empty()) {
      round.flags.insert("unclean_end");
    }
    return check_progress();
  }

  [[nodiscard]] Status check_progress() const {
    for (const auto* record : {&result_.round.forward, &result_.round.reverse}) {
      if (*record && (*record)->measured_bytes == 0) {
        return fail(
            "no-progress",
            fmt::format("{}: connected, but no payload arrived in {:.1f} s", plan_.point.id(),
                        static_cast<double>((*record)->measured_ns) / 1e9),
            "Small packets pass and large ones do not: compare the MTU of every device on "
            "the path (netbench prints the largest size that passes each way).");
      }
    }
    return {};
  }

  /// Gives up the visit on both ends. The responder's reply is awaited, so that the next visit
  /// starts clean.
  void abort() {
    if (end_) {
      end_->cancel();
      end_.reset();
    }
    if (!opened_ || context_.channel.ended() ||
        !context_.channel.send(to_message(session::AbortRequest{}))) {
      return;
    }
    const Deadline deadline = Deadline::after(kReplyLimit);
    while (true) {
      const auto message = context_.channel.receive(deadline);
      const bool over = message ? session::Codec<session::AbortReply>::matches(*message)
                                : message.error().slug != "cancelled";
      if (over) {
        return;
      }
    }
  }

  const VisitPlan& plan_;
  const SweepContext& context_;
  Duty local_duty_;
  Duty remote_duty_;
  bool opened_ = false;
  plugin::Blob remote_blob_;
  std::unique_ptr<VisitEnd> end_;
  session::Observed observed_;
  std::int64_t started_ns_ = 0;
  VisitResult result_;
};

}  // namespace

Result<VisitResult> run_visit(const VisitPlan& plan, const plugin::Transport& transport,
                              const SweepContext& context) {
  return InitiatorVisit(plan, context).run(transport);
}

}  // namespace netbench::measure
