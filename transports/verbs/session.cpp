#include "transports/verbs/session.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "transports/rdma/wire.hpp"

namespace netbench::verbs {
namespace {

constexpr std::int64_t kLookNs = 50'000'000;
/// The peer's end arrives before the own stop(), which the control channel brings, when both are
/// stopped at about the same time.
constexpr std::int64_t kStopMayFollowNs = 500'000'000;
constexpr std::int64_t kTellNs = 1'000'000'000;

/// What an end says once its queue pairs are connected, or cannot be.
struct Ready {
  bool ok = false;
  bool in_order = false;
  std::string failure;
};

std::vector<std::uint8_t> encode(const Ready& ready) {
  rdma::Writer writer;
  writer.u8(ready.ok ? 1 : 0);
  writer.u8(ready.in_order ? 1 : 0);
  writer.text(ready.failure);
  return writer.take();
}

Ready decode_ready(std::span<const std::uint8_t> bytes) {
  rdma::Reader reader(bytes);
  Ready ready;
  ready.ok = reader.u8() != 0;
  ready.in_order = reader.u8() != 0;
  ready.failure = reader.text();
  if (!reader.complete()) {
    throw sdk::Error(NB_FAILED, "verbs-bad-message", "the peer's message is not one of verbs",
                     "run the same release on both ends");
  }
  return ready;
}

}  // namespace

std::int64_t stall_limit_ns(const Options& options) {
  constexpr std::int64_t kLeastNs = 5'000'000'000;
  constexpr std::int64_t kMostNs = 120'000'000'000;
  if (options.ack_timeout == 0) {
    return kLeastNs;
  }
  // 4.096 us × 2^n, doubled by some devices, for each try (ibv_modify_qp(3)).
  const std::int64_t one_ns = std::int64_t{4096} << options.ack_timeout;
  return std::clamp(2 * one_ns * (options.retries + 1), kLeastNs, kMostNs);
}

Session::Session(sdk::Host host, Options options, Libraries libraries)
    : host_(host),
      options_(std::move(options)),
      libraries_(libraries),
      deadline_(time_after(options_.deadline_ns)),
      endpoint_(options_) {
  if (options_.role == NB_RESPONDER && host_.rendezvous() == nullptr) {
    throw sdk::Error(NB_FAILED, "no-rendezvous",
                     "the harness offers no data connections (nb.rendezvous/1)");
  }
  endpoint_.open(*libraries_.verbs);
  endpoint_.prepare();
}

nb_blob Session::describe() {
  rdma::EndAddress address = endpoint_.address();
  Extra extra{endpoint_.layout().in_slots, endpoint_.layout().out_slots, {}};
  if (options_.role == NB_RESPONDER) {
    if (!token_) {
      Token token{};
      const nb_status status = host_.rendezvous()->issue_token(host_.raw(), token.data());
      if (status != NB_OK) {
        throw sdk::Error(status, "verbs-side-link", "the harness issued no token");
      }
      token_ = token;
    }
    extra.token.assign(token_->begin(), token_->end());
  }
  address.extra = encode_extra(extra);
  blob_ = rdma::encode(address);
  return {blob_.data(), blob_.size()};
}

void Session::connect(std::span<const nb_blob> peers) {
  if (peers.size() != 1 || (options_.role == NB_RESPONDER && !token_)) {
    throw sdk::Error(NB_INVALID, "invalid-peers", "a verbs point has one peer, and is described");
  }
  if (options_.role == NB_RESPONDER) {
    side_.take(host_, *token_, deadline_);
  }
  meet(peers.front());
  connected();
  connected_ = true;
}

void Session::meet(const nb_blob& blob) {
  const rdma::EndAddress peer = rdma::take(rdma::decode_end_address({blob.data, blob.size}));
  if (options_.role == NB_INITIATOR) {
    const Extra extra = decode_extra(peer);
    Token token{};
    std::copy_n(extra.token.begin(), std::min(extra.token.size(), token.size()), token.begin());
    side_.dial(options_, token, deadline_);
  }
  try {
    connect_queue_pairs(peer);
  } catch (const sdk::Error& error) {
    tell_failure(error);
    throw;
  }
  become_ready(peer);
}

void Session::connect_queue_pairs(const rdma::EndAddress& peer) {
  endpoint_.agree(peer);
  endpoint_.connect(peer);
}

void Session::become_ready(const rdma::EndAddress& peer) {
  const bool in_order = endpoint_.writes_in_order();
  const Ready theirs = decode_ready(side_.exchange(encode({true, in_order, ""}), deadline_));
  if (!theirs.ok) {
    throw sdk::Error(NB_FAILED, "verbs-peer-failed",
                     "the peer could not connect: " + theirs.failure,
                     "see the peer's end of this point");
  }
  chosen_ = carrier(in_order && theirs.in_order);
  endpoint_.make_rings(peer, chosen_);
  // Nobody sends before both have their rings.
  const auto numbers =
      exchange_numbers(std::array{std::uint64_t{endpoint_.depths().depth}}, deadline_);
  peer_depth_ = numbers.empty() ? 1 : std::max<std::uint64_t>(numbers[0], 1);
}

void Session::tell_failure(const sdk::Error& error) noexcept {
  try {
    (void)side_.exchange(encode({false, false, error.message()}), time_after(kTellNs));
  } catch (const std::exception&) {
    // It hears of it by the control channel.
  }
}

void Session::require_connected() const {
  if (!connected_) {
    throw sdk::Error(NB_INVALID, "not-connected", "the session is not connected");
  }
}

void Session::run(const nb_batch& batch, nb_batch_result& result) {
  life_.check();
  require_connected();
  run_batch(batch, result);
}

void Session::stop(std::int64_t timeout_ns) {
  if (life_.cancelled()) {
    throw sdk::cancelled();
  }
  require_connected();
  life_.request_stop();
  finish(time_after(timeout_ns));
}

void Session::cancel() noexcept {
  life_.cancel();
  side_.cancel();
}

void Session::counters(const sdk::Sink& sink) const {
  require_connected();
  sink.number("verbs.registration_ns", static_cast<double>(endpoint_.registration_ns()));
  emit_counters(sink);
}

void Session::effective(const sdk::EffectiveSink& sink) const { report_effective(endpoint_, sink); }

void Session::look_around() {
  if (side_.peer_gone() && !life_.stopping()) {
    life_.sleep_until(time_after(kStopMayFollowNs));
    if (!life_.stopping()) {
      life_.check();
      throw sdk::Error(NB_PEER_CLOSED, "verbs-peer-closed", "the peer went away",
                       "see the output of netbench on the peer");
    }
  }
  for (const std::string& event : rdma::take_async_events(endpoint_.context())) {
    if (event.starts_with("device")) {
      throw sdk::Error(NB_FAILED, "verbs-device-gone",
                       endpoint_.port().device + ": " + event + " while it was used",
                       "see `dmesg` and `rdma link`");
    }
    host_.log(sdk::LogLevel::warning, endpoint_.port().device + ": " + event);
  }
}

void Session::wait_until(TimePoint until) {
  while (!life_.stopping() && !life_.cancelled() && !life_.failed() && !life_.disturbed()) {
    const TimePoint now = std::chrono::steady_clock::now();
    if (now >= until) {
      return;
    }
    life_.sleep_until(std::min(until, now + std::chrono::nanoseconds(kLookNs)));
    look_around();
  }
}

std::string Session::operation() const {
  return std::string(kOpChoices[static_cast<std::size_t>(chosen_)].name) + " " + endpoint_.about();
}

sdk::Error Session::mismatch(const DataFault& fault) const {
  const std::string what = fault.body ? rdma::text_of(*fault.body)
                                      : "message " + std::to_string(fault.expected_sequence) +
                                            " was due, " + std::to_string(fault.found_sequence) +
                                            " lies there";
  return {NB_FAILED, "verbs-data-mismatch", operation() + ": wrong data: " + what,
          "the NIC, its driver or the memory path corrupts or reorders data; try without "
          "relaxed_ordering"};
}

sdk::Error Session::error_of(const LoopFailure& failure) const {
  if (failure.completions.any()) {
    return failure.completions.error(operation());
  }
  if (failure.fault != nullptr) {
    return mismatch(*failure.fault);
  }
  return sdk::system_error("verbs-post-refused", operation() + ": " + failure.refused,
                           failure.refused_errno);
}

sdk::Error Session::stalled() const {
  if (!options_.reliable() && !options_.is_stream()) {
    return {NB_TIMED_OUT, "verbs-message-lost",
            operation() + ": no answer: a message was lost, and qp " +
                kQpChoices[static_cast<std::size_t>(options_.qp)].name + " sends none again",
            "measure with qp rc, or look for loss on the path: --transport udp counts it"};
  }
  return {NB_TIMED_OUT, "verbs-stalled",
          operation() + ": nothing completed for " +
              std::to_string(stall_limit_ns(options_) / 1'000'000'000) + " s, and no error came",
          "packets of the path MTU (" + std::to_string(endpoint_.agreement().path_mtu.bytes) +
              " B) may not fit the interfaces' MTU, or a firewall drops UDP port 4791"};
}

std::vector<std::uint64_t> Session::exchange_numbers(std::span<const std::uint64_t> mine,
                                                     TimePoint deadline) {
  rdma::Writer writer;
  for (const std::uint64_t number : mine) {
    writer.u64(number);
  }
  const auto bytes = side_.exchange(writer.take(), deadline);
  rdma::Reader reader(bytes);
  std::vector<std::uint64_t> theirs(bytes.size() / sizeof(std::uint64_t));
  for (std::uint64_t& number : theirs) {
    number = reader.u64();
  }
  return theirs;
}

std::unique_ptr<Session> make_session(sdk::Host host, Options options, Libraries libraries) {
  static constexpr std::array kMakers = {&make_latency_session, &make_stream_session,
                                         &make_stream_session};
  static_assert(kMakers.size() == kWorkloadRows.size());
  const auto workload = static_cast<std::size_t>(options.workload);
  return kMakers[workload](host, std::move(options), libraries);
}

}  // namespace netbench::verbs
