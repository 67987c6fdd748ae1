#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

#include "bench/core/clock.hpp"
#include "bench/core/unique_fd.hpp"
#include "bench/facts/path_mtu.hpp"
#include "bench/facts/path_probe_wire.hpp"
#include "bench/facts/path_search.hpp"

namespace netbench::facts {

/// One way of the path: how a size is asked for and which message says that it passed.
struct Way {
  ProbeType ask;
  ProbeType passed;
  PathSearch search;
};

/// Asks a responder which sizes pass, both ways at once. One session, one thread.
class Prober {
 public:
  Prober(UniqueFd socket, const ProbeToken& token, bool ipv6, Deadline deadline)
      : socket_(std::move(socket)), token_(token), ipv6_(ipv6), deadline_(deadline) {}

  /// The MTU of the peer's interface, or nothing if no answer comes.
  std::optional<std::int64_t> greet();
  /// Until every way is known or the deadline is over.
  void search(std::vector<Way>& ways);
  /// ICMP said that nobody listens on this port.
  [[nodiscard]] bool refused() const { return refused_; }

 private:
  struct Question {
    Way* way;
    std::int64_t bytes;
  };
  // The MTU that the answer to this one names.
  std::optional<std::uint32_t> hello(std::uint32_t number, Nanoseconds patience);
  void volley(std::vector<Way>& ways, std::vector<Question> open);
  void search_on(std::vector<Way>& ways);
  [[nodiscard]] Nanoseconds patience_for(const std::vector<Question>& open) const;
  void ask(const Question& question);
  void listen(std::vector<Way>& ways, std::vector<Question>& open);
  void take(const ProbeMessage& message, std::vector<Way>& ways, std::vector<Question>& open);
  bool send_message(ProbeType type, std::int64_t value, std::size_t datagram_bytes);
  std::optional<ProbeMessage> receive(Deadline until);
  [[nodiscard]] Deadline answer_by(Nanoseconds patience) const {
    return Deadline::after(std::min(patience, deadline_.left()));
  }

  UniqueFd socket_;
  ProbeToken token_;
  bool ipv6_;
  Deadline deadline_;
  Nanoseconds patience_{std::chrono::milliseconds(100)};
  Nanoseconds round_trip_{std::chrono::seconds(1)};  // the shortest seen
  std::uint32_t icmp_mtu_bytes_ = 0;
  bool refused_ = false;
  std::vector<std::uint8_t> buffer_ = std::vector<std::uint8_t>(65536);
};

}  // namespace netbench::facts
