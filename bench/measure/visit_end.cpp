#include "bench/measure/visit_end.hpp"

#include <fmt/format.h>

#include <utility>

namespace netbench::measure {

Duty duty_of(plugin::Role role, plan::Pattern pattern, Direction direction) {
  const bool initiator = role == plugin::Role::initiator;
  if (pattern == plan::Pattern::ping_pong || pattern == plan::Pattern::collective) {
    return initiator ? Duty::time_operations : Duty::serve;
  }
  const bool receives =
      direction == Direction::both || (direction == Direction::reverse ? initiator : !initiator);
  return receives ? Duty::observe_stream : Duty::serve;
}

VisitEnd::VisitEnd(plugin::TransportSession session, plan::TransportSpec spec, Duty duty)
    : session_(std::move(session)), spec_(std::move(spec)), duty_(duty) {}

VisitEnd::~VisitEnd() {
  if (io_thread_.joinable()) {
    cancel();
  }
  if (meter_ != nullptr) {
    meter_->drop_row();
  }
}

Result<EffectiveRecord> VisitEnd::effective() {
  const auto values = session_.effective();
  if (!values) {
    return tl::unexpected(values.error());
  }
  EffectiveRecord record;
  record.method = session_.method();
  for (const plugin::EffectiveValue& value : *values) {
    const plan::Tunable* tunable = spec_.find_tunable(value.name);
    const std::string name = fmt::format("{}.{}", spec_.name, value.name);
    record.values[name] =
        tunable != nullptr ? plan::to_value(*tunable, value.level) : Value(value.level.number);
    record.capped = record.capped || value.capped;
    if (!value.note.empty()) {
      record.notes.push_back(fmt::format("{}: {}", name, value.note));
    }
  }
  return record;
}

void VisitEnd::begin(HostMeter& meter) {
  meter_ = &meter;
  meter.begin_row();
}

void VisitEnd::start(const VisitLimits& limits, std::function<void(const Observation&)> done) {
  io_thread_ = std::jthread([this, limits, done = std::move(done)] {
    run_duty(limits);
    finished_ = true;
    done(observation_);
  });
}

Result<BatchTimes> VisitEnd::batch(const plugin::Batch& batch, std::span<std::uint64_t> samples) {
  const auto result = session_.run(batch, samples);
  if (!result) {
    return tl::unexpected(result.error());
  }
  return BatchTimes{result->sample_count, result->bytes, result->messages, result->begin_ns,
                    result->end_ns};
}

void VisitEnd::run_duty(const VisitLimits& limits) {
  const auto interrupted = [this] { return ending_.load(std::memory_order_relaxed); };
  if (duty_ == Duty::time_operations) {
    auto seen = observe_latency(
        [this](std::int64_t iterations, std::span<std::uint64_t> samples) {
          return batch({iterations, 0}, samples);
        },
        limits, interrupted);
    seen ? void(observation_.latency = std::move(*seen)) : void(observation_.error = seen.error());
    return;
  }
  if (duty_ == Duty::observe_stream) {
    auto seen = observe_stream(
        [this](std::int64_t duration_ns) {
          return batch({0, duration_ns}, {});
        },
        limits, interrupted);
    seen ? void(observation_.stream = std::move(*seen)) : void(observation_.error = seen.error());
    return;
  }
  auto served = batch({0, 0}, {});
  if (!served && !ending_) {
    observation_.error = served.error();
  }
}

VisitEnd::Ending VisitEnd::stop(std::int64_t timeout_ns) {
  ending_ = true;
  Ending ending;
  if (auto stopped = session_.stop(timeout_ns); !stopped) {
    ending.error = stopped.error();
    session_.cancel();
  }
  if (io_thread_.joinable()) {
    io_thread_.join();
  }
  if (meter_ != nullptr) {
    ending.record = std::exchange(meter_, nullptr)->end_row();
  }
  if (const auto counters = session_.counters()) {
    for (const auto& [name, value] : counters->numbers) {
      ending.record.counters[name] = value;
    }
  }
  return ending;
}

void VisitEnd::cancel() {
  ending_ = true;
  session_.cancel();
}

}  // namespace netbench::measure
