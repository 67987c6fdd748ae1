#pragma once

#include <infiniband/verbs.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "transports/rdma/result.hpp"

/// What a completion with an error means.
namespace netbench::rdma {

struct CompletionMeaning {
  ibv_wc_status status;
  const char* name;        // "RETRY_EXC_ERR"
  const char* meaning;     // one clause
  const char* hypotheses;  // what to look at, most likely first
  const char* slug;        // "rdma-retry-exceeded"
};

/// Of any status, unknown ones too.
[[nodiscard]] const CompletionMeaning& meaning_of(ibv_wc_status status);
/// The whole table, in order of status.
[[nodiscard]] std::span<const CompletionMeaning> completion_meanings();

/// Keeps the first completion that is not a flush, and counts the rest: after one error a queue
/// pair flushes all that waits, and those say nothing (IBTA 1.4, 10.8.5). One thread's.
class FirstFailure {
 public:
  /// Any completion with an error. [io-thread]
  void add(const ibv_wc& completion) noexcept;
  void merge(const FirstFailure& other) noexcept;

  [[nodiscard]] bool any() const { return errors_ > 0; }
  [[nodiscard]] std::uint64_t errors() const { return errors_; }
  [[nodiscard]] std::uint64_t flushed() const { return flushed_; }
  /// The first that is not a flush.
  [[nodiscard]] const std::optional<ibv_wc>& first() const { return first_; }
  /// "the NIC gave up: no acknowledgement …"; `operation` as "write to 10.77.0.2". Only flushes:
  /// the cause lies at the peer or in closing. Only where any().
  [[nodiscard]] sdk::Error error(const std::string& operation) const;

 private:
  std::optional<ibv_wc> first_;
  std::uint64_t errors_ = 0;
  std::uint64_t flushed_ = 0;
};

}  // namespace netbench::rdma
