#include "transports/tcp/session.hpp"

#include <utility>

namespace netbench::tcp {

Session::Session(sdk::Host host, Options options)
    : host_(host), options_(std::move(options)), deadline_(time_after(options_.deadline_ns)) {
  if (options_.role == NB_RESPONDER && options_.connections() > 0 &&
      host_.rendezvous() == nullptr) {
    throw sdk::Error(NB_FAILED, "no-rendezvous",
                     "the harness offers no data connections (nb.rendezvous/1)");
  }
}

void Session::issue_tokens() {
  tokens_.resize(static_cast<std::size_t>(options_.connections()));
  for (Token& token : tokens_) {
    const nb_status status = host_.rendezvous()->issue_token(host_.raw(), token.data());
    if (status != NB_OK) {
      throw sdk::Error(status, "tcp-rendezvous-failed", "the harness issued no token");
    }
  }
}

/// After accept() it is too late for the window scale and the MSS of the SYN-ACK.
void Session::prepare_listener() {
  const int listener = host_.rendezvous()->listener(host_.raw());
  if (listener >= 0) {
    apply_before_connect(listener, options_);
  }
}

nb_blob Session::describe() {
  if (options_.role == NB_RESPONDER && options_.connections() > 0 && tokens_.empty()) {
    issue_tokens();
    prepare_listener();
  }
  blob_ = encode_tokens(tokens_);
  return {blob_.data(), blob_.size()};
}

void Session::connect(std::span<const nb_blob> peers) {
  if (peers.size() != 1) {
    throw sdk::Error(NB_INVALID, "invalid-peers", "a TCP point has one peer");
  }
  const auto count = static_cast<std::size_t>(options_.connections());
  if (options_.role == NB_INITIATOR) {
    links_.connect_all(options_, decode_tokens(peers.front(), count), deadline_);
  } else {
    links_.take_all(options_, host_, tokens_, deadline_);
  }
  connected();
  connected_ = true;
}

void Session::require_connected() const {
  if (!connected_) {
    throw sdk::Error(NB_INVALID, "not-connected", "the session is not connected");
  }
}

void Session::run(const nb_batch& batch, nb_batch_result& result) {
  const Lifecycle::Run running(life_);
  require_connected();
  run_batch(batch, result);
}

void Session::counters(const sdk::Sink& sink) const {
  require_connected();
  emit_counters(sink);
}

void Session::effective(const sdk::EffectiveSink& sink) const {
  report_effective(options_, links_.fds(), sink);
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
  links_.cancel();
  wake();
}

}  // namespace netbench::tcp
