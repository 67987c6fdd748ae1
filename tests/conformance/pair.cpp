#include "tests/conformance/pair.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "bench/plan/levels.hpp"

namespace netbench::conformance {

namespace {

template <class T>
T value_or_throw(Result<T> result, const char* what) {
  if (!result) {
    throw std::runtime_error(std::string(what) + ": " + to_text(result.error()));
  }
  if constexpr (!std::is_void_v<T>) {
    return std::move(*result);
  }
}

}  // namespace

std::int64_t small_size(const plan::Workload& workload) {
  const auto sizes = plan::parse_sizes(workload.quick_sizes);
  return sizes ? std::ranges::min(*sizes) : workload.min_message_bytes;
}

plugin::OpenRequest plain_request(const plan::Workload& workload, Direction direction) {
  return {.workload = workload.name,
          .direction = direction,
          .message_bytes = small_size(workload),
          .seed = 42};
}

Pair::Pair(const plugin::Transport& transport, plugin::OpenRequest request)
    : request_(std::move(request)) {
  rendezvous_->offer_to(*responder_host_);
  request_.peer_address = rendezvous_->address();
  request_.local_address = rendezvous_->address();
  request_.role = plugin::Role::responder;
  responder_ = value_or_throw(transport.open(*responder_host_, request_), "responder");
  request_.role = plugin::Role::initiator;
  initiator_ = value_or_throw(transport.open(*initiator_host_, request_), "initiator");
}

void Pair::connect() {
  const plugin::Blob responder_blob = value_or_throw(responder_->describe(), "responder");
  const plugin::Blob initiator_blob = value_or_throw(initiator_->describe(), "initiator");
  auto answered =
      std::async(std::launch::async, [&] { return responder_->connect(initiator_blob); });
  const Status dialled = initiator_->connect(responder_blob);
  value_or_throw(answered.get(), "responder");
  value_or_throw(dialled, "initiator");
}

bool Pair::receives(plugin::Role role) const {
  return request_.direction == Direction::both ||
         (request_.direction == Direction::forward) == (role == plugin::Role::responder);
}

std::pair<Status, Status> Pair::stop() {
  auto other = std::async(std::launch::async, [&] { return responder_->stop(kStopNs); });
  Status mine = initiator_->stop(kStopNs);
  return {std::move(mine), other.get()};
}

std::vector<plan::Workload> workloads_of(const plugin::Transport& transport, bool ping_pong) {
  std::vector<plan::Workload> chosen;
  for (const plan::Workload& workload : transport.spec().workloads) {
    if ((workload.pattern == plan::Pattern::ping_pong) == ping_pong &&
        workload.pattern != plan::Pattern::collective) {
      chosen.push_back(workload);
    }
  }
  return chosen;
}

Direction first_direction(const plan::Workload& workload) {
  return workload.directions.empty() ? Direction::none : workload.directions.front();
}

std::future<Result<plugin::BatchResult>> run_async(plugin::TransportSession& session,
                                                   plugin::Batch batch) {
  return std::async(std::launch::async, [&session, batch] {
    std::vector<std::uint64_t> samples(static_cast<std::size_t>(batch.iterations));
    return session.run(batch, samples);
  });
}

double counter(plugin::TransportSession& session, const std::string& name) {
  const auto readings = session.counters();
  if (!readings || !readings->numbers.contains(name)) {
    return -1;
  }
  return readings->numbers.at(name);
}

}  // namespace netbench::conformance
