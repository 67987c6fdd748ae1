#include "bench/session/channel.hpp"

#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <exception>
#include <utility>

#include "bench/session/hello.hpp"

namespace netbench::session {

namespace {

constexpr std::size_t kReadBytes = 64 * 1024;
constexpr int kChunksBetweenWrites = 16;       // a flood must not keep this end from its heartbeats
constexpr std::size_t kMessageOverhead = 128;  // of an empty message in a queue, about

void set_option(int fd, int level, int name, int value) {
  // Best effort: the heartbeats do the same job on their own.
  ::setsockopt(fd, level, name, &value, sizeof(value));
}

// tcp(7), socket(7): the kernel gives up on unacknowledged data some time after the heartbeats
// would (not before: a receiver that pauses, zero window, counts as well), and probes an idle
// connection, which keeps the entries of firewalls and address translators alive.
void set_socket_options(int fd, Nanoseconds silence) {
  const auto silence_ms = std::chrono::duration_cast<std::chrono::milliseconds>(silence).count();
  set_option(fd, IPPROTO_TCP, TCP_NODELAY, 1);
  set_option(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, static_cast<int>(4 * silence_ms));
  set_option(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
  set_option(fd, IPPROTO_TCP, TCP_KEEPIDLE, 10);
  set_option(fd, IPPROTO_TCP, TCP_KEEPINTVL, 5);
  set_option(fd, IPPROTO_TCP, TCP_KEEPCNT, 3);
}

Error make_error(std::string slug, std::string message, std::string remedy = {}) {
  return Error{std::move(slug), std::move(message), std::move(remedy), ExitClass::error};
}

constexpr const char* kSeeOtherEnd = "see whether netbench still runs there; its log says more";
constexpr const char* kSeeLink = "see whether the other host and the link to it are up";

std::string heartbeat_frame() { return encode_frame({kHeartbeatType, {}}).value(); }

}  // namespace

Channel::Channel(Stream stream, FrameDecoder decoder, const ChannelOptions& options)
    : stream_(std::move(stream)),
      decoder_(std::move(decoder)),
      options_(options),
      local_(local_address(stream_.fd())),
      peer_(peer_address(stream_.fd())),
      secure_(stream_.secure()),
      last_received_ns_(monotonic_ns()),
      next_heartbeat_ns_(last_received_ns_ + options.heartbeat.count()) {
  decoder_.set_max_frame(options_.max_frame);
  set_socket_options(stream_.fd(), options_.silence);
  thread_ = start_thread("nb-control", [this] { io_loop(); });
}

Channel::~Channel() { close(); }

Status Channel::send(const Message& message) {
  auto frame = encode_frame(message);
  if (!frame) {
    return tl::unexpected(frame.error());
  }
  const std::lock_guard lock(mutex_);
  if (end_) {
    return tl::unexpected(*end_);
  }
  if (outbox_bytes_ + frame->size() > options_.max_queued_bytes) {
    return fail("send-queue-full",
                fmt::format("{} bytes wait to be sent to {}, which does not take "
                            "them",
                            outbox_bytes_, peer_.text()));
  }
  outbox_bytes_ += frame->size();
  outbox_.push_back(std::move(*frame));
  wake_.notify();
  return {};
}

Result<Message> Channel::receive(const Deadline& deadline) {
  std::unique_lock lock(mutex_);
  const bool ready = received_.wait_for(lock, deadline.left(),
                                        [this] { return !inbox_.empty() || end_ || cancelled_; });
  if (std::exchange(cancelled_, false)) {
    return fail("cancelled", fmt::format("waiting for a message of {} was cancelled", peer_.text()),
                {}, ExitClass::interrupted);
  }
  if (!ready) {
    return fail("control-timeout",
                fmt::format("{} sent no message on the control connection in time", peer_.text()));
  }
  if (inbox_.empty()) {
    return tl::unexpected(*end_);
  }
  Message message = std::move(inbox_.front());
  inbox_.pop_front();
  const bool was_full = inbox_full();
  inbox_bytes_ -= message.body.size() + kMessageOverhead;
  if (was_full && !inbox_full()) {
    wake_.notify();
  }
  return message;
}

void Channel::cancel() {
  const std::lock_guard lock(mutex_);
  cancelled_ = true;
  received_.notify_all();
}

bool Channel::ended() const {
  const std::lock_guard lock(mutex_);
  return end_.has_value();
}

std::optional<Error> Channel::end_reason() const {
  const std::lock_guard lock(mutex_);
  return end_;
}

void Channel::close(Nanoseconds limit) {
  if (!thread_.joinable()) {
    return;
  }
  {
    const std::lock_guard lock(mutex_);
    close_by_ns_ = monotonic_ns() + limit.count();
    wake_.notify();
  }
  thread_.join();
  end(make_error("peer-closed", "this end closed the control connection"));
  stream_.close();
}

void Channel::io_loop() {
  try {
    while (pump_reads() == Step::go_on && pump_writes() == Step::go_on &&
           check_time() == Step::go_on) {
      wait_for_events();
    }
  } catch (const std::exception& exception) {  // out of memory
    end(make_error("peer-lost", fmt::format("the control connection to {} was given up: {}",
                                            peer_.text(), exception.what())));
  }
}

// Only the first reason counts.
void Channel::end(Error error) {
  const std::lock_guard lock(mutex_);
  if (!end_) {
    end_ = std::move(error);
    received_.notify_all();
  }
}

bool Channel::inbox_full() const { return inbox_bytes_ >= options_.max_queued_bytes; }

bool Channel::reading_paused() const {
  const std::lock_guard lock(mutex_);
  return inbox_full() && !close_by_ns_;
}

void Channel::wait_for_events() {
  const bool reads = !reading_paused();
  const auto events = static_cast<short>((reads ? POLLIN : 0) | (want_write_ ? POLLOUT : 0));
  std::array<pollfd, 2> fds{{{stream_.fd(), events, 0}, {wake_.fd(), POLLIN, 0}}};
  ::poll(fds.data(), fds.size(), poll_timeout_ms());
  wake_.drain();
}

int Channel::poll_timeout_ms() const {
  if (more_to_read_ && !reading_paused()) {
    return 0;
  }
  std::int64_t until = std::min(next_heartbeat_ns_, last_received_ns_ + options_.silence.count());
  {
    const std::lock_guard lock(mutex_);
    until = std::min(until, close_by_ns_.value_or(until));
  }
  const std::int64_t left_ns = std::max<std::int64_t>(0, until - monotonic_ns());
  return static_cast<int>((left_ns + 999'999) / 1'000'000);
}

Channel::Step Channel::pump_reads() {
  more_to_read_ = false;
  if (reading_paused()) {
    last_received_ns_ = monotonic_ns();  // it is this end that does not listen
    return Step::go_on;
  }
  if (take_frames() == Step::stop) {
    return Step::stop;
  }
  std::array<char, kReadBytes> bytes;
  for (int chunk = 0; chunk < kChunksBetweenWrites && !reading_paused(); ++chunk) {
    const IoResult got = stream_.read(bytes.data(), bytes.size());
    if (got.state == IoState::want_read || got.state == IoState::want_write) {
      return Step::go_on;
    }
    if (got.state != IoState::done) {
      return on_stream_end(got.state);
    }
    last_received_ns_ = monotonic_ns();
    decoder_.feed({bytes.data(), got.bytes});
    if (take_frames() == Step::stop) {
      return Step::stop;
    }
  }
  more_to_read_ = true;  // TLS may hold some of it, where poll(2) cannot see it
  return Step::go_on;
}

Channel::Step Channel::take_frames() {
  while (true) {
    auto message = decoder_.next();
    if (!message) {
      end(with_context(message.error(), peer_.text()));
      return Step::stop;
    }
    if (!*message) {
      return Step::go_on;
    }
    deliver(std::move(**message));
  }
}

void Channel::deliver(Message message) {
  if (message.type == kHeartbeatType) {
    return;
  }
  const std::lock_guard lock(mutex_);
  if (close_by_ns_) {
    return;  // nobody will ask for it
  }
  inbox_bytes_ += message.body.size() + kMessageOverhead;
  inbox_.push_back(std::move(message));
  received_.notify_all();
}

Channel::Step Channel::on_stream_end(IoState state) {
  end(state == IoState::closed
          ? make_error("peer-closed", fmt::format("{} closed the control connection", peer_.text()),
                       kSeeOtherEnd)
          : make_error("peer-lost",
                       fmt::format("the control connection to {} failed: {}", peer_.text(),
                                   stream_.failure()),
                       kSeeLink));
  return Step::stop;
}

bool Channel::next_frame() {
  const std::lock_guard lock(mutex_);
  written_ = 0;
  writing_.clear();
  if (outbox_.empty()) {
    return false;
  }
  writing_ = std::move(outbox_.front());
  outbox_.pop_front();
  outbox_bytes_ -= writing_.size();
  return true;
}

Channel::Step Channel::pump_writes() {
  want_write_ = false;
  while (written_ < writing_.size() || next_frame()) {
    const IoResult put = stream_.write(writing_.data() + written_, writing_.size() - written_);
    if (put.state == IoState::want_write || put.state == IoState::want_read) {
      want_write_ = put.state == IoState::want_write;
      return Step::go_on;
    }
    if (put.state != IoState::done) {
      return on_stream_end(put.state);
    }
    written_ += put.bytes;
  }
  return Step::go_on;
}

Channel::Step Channel::check_time() {
  const std::int64_t now = monotonic_ns();
  if (now - last_received_ns_ >= options_.silence.count()) {
    end(make_error("peer-lost",
                   fmt::format("{} has been silent for {:.1f} s on the control connection",
                               peer_.text(), 1e-9 * static_cast<double>(now - last_received_ns_)),
                   kSeeLink));
    return Step::stop;
  }
  const std::lock_guard lock(mutex_);
  if (close_by_ns_) {
    return check_close(now);
  }
  if (now >= next_heartbeat_ns_) {
    next_heartbeat_ns_ = now + options_.heartbeat.count();
    if (outbox_.empty()) {
      outbox_.push_back(heartbeat_frame());
      outbox_bytes_ += outbox_.back().size();
      wake_.notify();
    }
  }
  return Step::go_on;
}

// With the lock held.
Channel::Step Channel::check_close(std::int64_t now) {
  if (now >= *close_by_ns_) {
    return Step::stop;
  }
  next_heartbeat_ns_ = *close_by_ns_;
  if (!shut_down_ && outbox_.empty() && written_ == writing_.size()) {
    stream_.shutdown_write();
    shut_down_ = true;
  }
  return Step::go_on;
}

}  // namespace netbench::session
