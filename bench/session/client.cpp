#include "bench/session/client.hpp"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <utility>

#include "bench/session/greet.hpp"

namespace netbench::session {

namespace {

constexpr Nanoseconds kSlice = std::chrono::milliseconds(100);  // how late a cancel is seen

Error fatal(Error error, const std::string& agent) {
  if (error.exit_class != ExitClass::interrupted) {
    error.exit_class = ExitClass::nothing_measured;
  }
  return with_context(std::move(error), fmt::format("the agent on {}", agent));
}

Result<Message> receive(Channel& channel, const Deadline& deadline, int cancel_fd) {
  while (true) {
    const auto go_on = wait_for(-1, 0, Deadline::after(Nanoseconds(0)), cancel_fd);
    if (!go_on) {
      return tl::unexpected(go_on.error());
    }
    auto message = channel.receive(Deadline::after(std::min(kSlice, deadline.left())));
    if (message || message.error().slug != "control-timeout" || deadline.passed()) {
      return message;
    }
  }
}

// The messages between this end's hello and the agent's.
class Reception {
 public:
  Reception(Channel& channel, const ConnectOptions& options)
      : channel_(channel), options_(options), deadline_(Deadline::after(options.answer_limit)) {}

  Result<Hello> wait() {
    while (true) {
      const auto message = receive(channel_, deadline_, options_.cancel_fd);
      if (!message) {
        return tl::unexpected(late(message.error()));
      }
      if (message->type == kRefusedType) {
        return tl::unexpected(decode_refused(*message));
      }
      if (message->type != kQueuedType) {
        return decode_hello(*message);
      }
      if (const auto noted = note_place(*message); !noted) {
        return tl::unexpected(noted.error());
      }
    }
  }

 private:
  Status note_place(const Message& message) {
    const auto queued = decode_queued(message);
    if (!queued) {
      return tl::unexpected(queued.error());
    }
    if (!place_) {
      deadline_ = Deadline::after(options_.queue_limit);
    }
    place_ = *queued;
    if (options_.on_queue) {
      options_.on_queue(*queued);
    }
    return {};
  }

  [[nodiscard]] Error late(const Error& error) const {
    if (error.slug != "control-timeout" || !place_) {
      return error;
    }
    return Error{
        "peer-busy",
        fmt::format("still held by {} after {:.0f} s in its queue (place {})", place_->holder,
                    std::chrono::duration<double>(options_.queue_limit).count(), place_->position),
        "try again later, or stop the run that holds it", ExitClass::nothing_measured};
  }

  Channel& channel_;
  const ConnectOptions& options_;
  Deadline deadline_;
  std::optional<Queued> place_;
};

}  // namespace

Result<AgentConnection> connect_agent(const ConnectOptions& options) {
  auto fd = dial({.host = options.host,
                  .port = options.port,
                  .family = options.family,
                  .resolve_limit = options.resolve_limit,
                  .connect_limit = options.connect_limit,
                  .cancel_fd = options.cancel_fd,
                  .on_failure = options.on_failure});
  if (!fd) {
    return tl::unexpected(fd.error());
  }
  const SocketAddress address = peer_address(fd->get());
  auto stream = greet(std::move(*fd), {.key = options.key,
                                       .identity = options.identity,
                                       .hello = encode_hello(options.hello),
                                       .answer_limit = options.answer_limit,
                                       .cancel_fd = options.cancel_fd});
  if (!stream) {
    return tl::unexpected(stream.error());
  }
  auto channel = std::make_unique<Channel>(std::move(*stream), FrameDecoder(), options.channel);
  const auto agent = Reception(*channel, options).wait();
  if (!agent) {
    return tl::unexpected(fatal(agent.error(), address.text()));
  }
  if (const auto same = check_protocol(options.hello, *agent, "the agent"); !same) {
    return tl::unexpected(fatal(same.error(), address.text()));
  }
  return AgentConnection{std::move(channel), *agent, address};
}

}  // namespace netbench::session
