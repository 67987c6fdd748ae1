#include <array>
#include <cerrno>
#include <cstddef>
#include <exception>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "transports/sdk/error.hpp"
#include "transports/sdk/loops.hpp"
#include "transports/sdk/workers.hpp"
#include "transports/tcp/bulk_flow.hpp"
#include "transports/tcp/options.hpp"
#include "transports/tcp/stream_endpoints.hpp"
#include "transports/tcp/tables.hpp"
#include "transports/tcp/throttle.hpp"

/// The threads of a BulkFlow: their ends are chosen here, once, so that no loop asks for an option.
namespace netbench::tcp {
namespace {

/// Runs `body`; what it throws is kept for the thread that made the workers.
template <class Body>
void keep_failure(std::optional<sdk::Error>& failure, Body body) noexcept {
  try {
    body();
  } catch (const sdk::Error& error) {
    failure = error;
  } catch (const std::exception& error) {
    failure = sdk::Error(NB_FAILED, "out-of-memory", error.what(),
                         "use fewer streams or smaller messages");
  }
}

}  // namespace

template <class Sender>
Sender BulkFlow::make_sender(Lane& lane) const {
  const std::size_t message_bytes = bulk_message_bytes(options_);
  if constexpr (requires { typename Sender::Inner; }) {
    const Throttle throttle(*options_.write_rate_of_stream(), stop_, lane.sender_idle_ns);
    return Sender(make_sender<typename Sender::Inner>(lane), throttle);
  } else if constexpr (std::is_constructible_v<Sender, int, std::size_t, ZerocopyCounts&>) {
    return Sender(lane.fd, message_bytes, lane.zerocopy);
  } else {
    return Sender(lane.fd, message_bytes);
  }
}

template <class Receiver>
Receiver BulkFlow::make_receiver(Lane& lane) const {
  if constexpr (requires { typename Receiver::Inner; }) {
    // Once stopped, what is under way is taken at full speed.
    const Throttle throttle(*options_.read_rate_of_stream(), stop_, lane.receiver_idle_ns);
    return Receiver(make_receiver<typename Receiver::Inner>(lane), throttle);
  } else {
    return Receiver(lane.fd, receive_plan(options_).chunk_bytes);
  }
}

template <class Sender>
sdk::Job BulkFlow::sender_job(BulkFlow& flow, Lane& lane) {
  auto sender = std::make_shared<std::optional<Sender>>();
  const auto prepare = [sender, &flow, &lane] {
    keep_failure(lane.failure, [&] { sender->emplace(flow.make_sender<Sender>(lane)); });
  };
  const auto work = [sender, &flow, &lane] {
    sdk::stream_send(**sender, flow.stop_, lane.sent);
    const int reason = errno;
    (*sender)->finish();
    flow.sender_ended(lane, reason);
  };
  return {prepare, work, std::nullopt};
}

template <class Receiver>
sdk::Job BulkFlow::receiver_job(BulkFlow& flow, Lane& lane) {
  auto receiver = std::make_shared<std::optional<Receiver>>();
  const auto prepare = [receiver, &flow, &lane] {
    keep_failure(lane.failure, [&] { receiver->emplace(flow.make_receiver<Receiver>(lane)); });
  };
  const auto work = [receiver, &flow, &lane] {
    errno = 0;
    sdk::stream_receive(**receiver, lane.received);
    flow.receiver_ended(lane, errno);
  };
  return {prepare, work, std::nullopt};
}

std::vector<sdk::Job> BulkFlow::make_jobs() {
  using SenderRow = std::array<MakeJob, kModeChoices.size()>;
  using ReceiverRow = std::array<MakeJob, kReceiveChoices.size()>;
  static constexpr SenderRow kSenders = {&sender_job<CopySender>, &sender_job<SendfileSender>,
                                         &sender_job<VmspliceSender>, &sender_job<ZerocopySender>};
  static constexpr SenderRow kThrottledSenders = {
      &sender_job<ThrottledSender<CopySender>>, &sender_job<ThrottledSender<SendfileSender>>,
      &sender_job<ThrottledSender<VmspliceSender>>, &sender_job<ThrottledSender<ZerocopySender>>};
  static constexpr ReceiverRow kReceivers = {&receiver_job<CopyReceiver>,
                                             &receiver_job<DiscardReceiver>};
  static constexpr ReceiverRow kThrottledReceivers = {
      &receiver_job<ThrottledReceiver<CopyReceiver>>,
      &receiver_job<ThrottledReceiver<DiscardReceiver>>};
  const SenderRow& senders = options_.write_rate_of_stream() ? kThrottledSenders : kSenders;
  const ReceiverRow& receivers = options_.read_rate_of_stream() ? kThrottledReceivers : kReceivers;
  std::vector<sdk::Job> jobs;
  const auto add = [&](MakeJob make, Lane& lane, ThreadRole role) {
    sdk::Job job = make(*this, lane);
    job.cpu = options_.cpu_of(jobs.size());
    jobs.push_back(std::move(job));
    roles_.push_back(role);
  };
  for (const auto& lane : lanes_) {
    if (options_.sends_bulk()) {
      add(senders[static_cast<std::size_t>(options_.mode)], *lane, {true, &lane->sender_idle_ns});
    }
    if (options_.receives_bulk()) {
      add(receivers[static_cast<std::size_t>(options_.receive)], *lane,
          {false, &lane->receiver_idle_ns});
    }
  }
  return jobs;
}

}  // namespace netbench::tcp
