#include "bench/facts/path_prober.hpp"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>

namespace netbench::facts {

namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

constexpr int kTries = 3;

}  // namespace

bool Prober::send_message(ProbeType type, std::int64_t value, std::size_t datagram_bytes) {
  const auto datagram =
      encode({type, token_, static_cast<std::uint32_t>(value), 0}, datagram_bytes);
  ssize_t sent = ::send(socket_.get(), datagram.data(), datagram.size(), 0);
  if (sent < 0 && errno != EMSGSIZE) {  // the error of an earlier packet: once more
    sent = ::send(socket_.get(), datagram.data(), datagram.size(), 0);
  }
  return sent >= 0;
}

std::optional<ProbeMessage> Prober::receive(Deadline until) {
  while (true) {
    while (const auto report = take_icmp_report(socket_.get())) {
      icmp_mtu_bytes_ = report->mtu_bytes != 0 ? report->mtu_bytes : icmp_mtu_bytes_;
      refused_ = refused_ || report->port_unreachable;
    }
    const ssize_t got = ::recv(socket_.get(), buffer_.data(), buffer_.size(), MSG_DONTWAIT);
    if (got >= 0) {
      const auto message = decode_probe({buffer_.data(), static_cast<std::size_t>(got)});
      if (message && message->token == token_) {
        return message;
      }
      continue;
    }
    if (errno == EAGAIN) {
      pollfd wait{socket_.get(), POLLIN, 0};
      if (until.passed() || ::poll(&wait, 1, until.poll_timeout_ms()) == 0) {
        return std::nullopt;
      }
    }
  }
}

std::optional<std::uint32_t> Prober::hello(std::uint32_t number, nanoseconds patience) {
  const std::int64_t sent_ns = monotonic_ns();
  send_message(ProbeType::hello, number, kProbeMessageBytes);
  const auto until = answer_by(patience);
  while (const auto message = receive(until)) {
    if (message->type == ProbeType::hello_ack && message->value == number) {
      round_trip_ = std::min(round_trip_, nanoseconds(monotonic_ns() - sent_ns));
      return message->extra;
    }
  }
  return std::nullopt;
}

std::optional<std::int64_t> Prober::greet() {
  constexpr std::array kPatience{milliseconds(100), milliseconds(200), milliseconds(400),
                                 milliseconds(800)};
  constexpr nanoseconds kShortest = milliseconds(80);
  constexpr nanoseconds kLongest = milliseconds(500);
  constexpr std::uint32_t kMoreHellos = 3;  // the first one waits for neighbours to be resolved
  std::optional<std::uint32_t> mtu_bytes;
  std::uint32_t number = 0;
  for (; !mtu_bytes && !refused_ && number < kPatience.size(); ++number) {
    mtu_bytes = hello(number, kPatience.at(number));
  }
  if (!mtu_bytes) {
    return std::nullopt;
  }
  for (std::uint32_t more = 0; more < kMoreHellos; ++more) {
    static_cast<void>(hello(number + more, kPatience.back()));
  }
  patience_ = std::clamp<nanoseconds>(3 * round_trip_ + milliseconds(50), kShortest, kLongest);
  return *mtu_bytes;
}

void Prober::ask(const Question& question) {
  const std::size_t headers = packet_header_bytes(ipv6_);
  const bool padded = question.way->ask == ProbeType::probe;
  send_message(question.way->ask, question.bytes,
               padded ? static_cast<std::size_t>(question.bytes) - headers : kProbeMessageBytes);
}

void Prober::take(const ProbeMessage& message, std::vector<Way>& ways,
                  std::vector<Question>& open) {
  for (auto& way : ways) {
    if (message.type == way.passed) {
      way.search.passed(message.value);
      std::erase_if(open, [&](const Question& question) {
        return question.way == &way && question.bytes <= message.value;
      });
    } else if (message.type == ProbeType::request_ack && message.extra != 0 &&
               way.ask == ProbeType::request) {
      way.search.icmp_named(message.extra);
    }
    if (way.ask == ProbeType::probe && icmp_mtu_bytes_ != 0) {
      way.search.icmp_named(icmp_mtu_bytes_);
    }
  }
}

// A round trip, and the time in which a link of 10 Mb/s carries what was asked for.
nanoseconds Prober::patience_for(const std::vector<Question>& open) const {
  constexpr nanoseconds kPerByte{800};
  std::int64_t bytes = 0;
  for (const auto& question : open) {
    bytes += question.bytes;
  }
  return patience_ + bytes * kPerByte;
}

void Prober::listen(std::vector<Way>& ways, std::vector<Question>& open) {
  const auto until = answer_by(patience_for(open));
  while (!open.empty()) {
    const auto message = receive(until);
    if (!message) {
      break;
    }
    take(*message, ways, open);
  }
  take({ProbeType::hello, token_, 0, 0}, ways, open);  // what ICMP said meanwhile
}

// Asks these sizes, what is unanswered again, and settles what stays lost.
void Prober::volley(std::vector<Way>& ways, std::vector<Question> open) {
  for (int attempt = 0; attempt < kTries && !open.empty() && !deadline_.passed(); ++attempt) {
    for (const auto& question : open) {
      ask(question);
    }
    listen(ways, open);
  }
  if (!deadline_.passed()) {
    for (const auto& question : open) {
      question.way->search.lost(question.bytes);
    }
  }
}

void Prober::search_on(std::vector<Way>& ways) {
  while (!deadline_.passed()) {
    std::vector<Question> questions;
    for (auto& way : ways) {
      for (const auto bytes : way.search.next_volley()) {
        questions.push_back({&way, bytes});
      }
    }
    if (questions.empty()) {
      return;
    }
    volley(ways, std::move(questions));
  }
}

// Before a size counts as lost for good without a word from ICMP, it and the largest are tried
// again: on a path that drops one packet in ten, three lost answers are no rarity among many sizes.
void Prober::search(std::vector<Way>& ways) {
  search_on(ways);
  std::vector<Question> doubted;
  for (auto& way : ways) {
    if (way.search.largest_bytes() < way.search.ceiling_bytes() &&
        way.search.icmp_mtu_bytes() == 0) {
      doubted.push_back({&way, way.search.smallest_lost_bytes()});
      doubted.push_back({&way, way.search.ceiling_bytes()});
    }
  }
  volley(ways, std::move(doubted));
  search_on(ways);
}

}  // namespace netbench::facts
