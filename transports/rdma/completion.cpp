#include "transports/rdma/completion.hpp"

#include <array>
#include <cstddef>

namespace netbench::rdma {
namespace {

/// Meanings: IBTA 1.4, 11.6.2; ibv_poll_cq(3).
constexpr std::array kMeanings = {
    CompletionMeaning{IBV_WC_SUCCESS, "SUCCESS", "done", "", "rdma-success"},
    CompletionMeaning{IBV_WC_LOC_LEN_ERR, "LOC_LEN_ERR",
                      "a message was longer than the buffer or the path MTU it was meant for",
                      "receive buffers smaller than the message; a datagram above the path MTU",
                      "rdma-local-length"},
    CompletionMeaning{IBV_WC_LOC_QP_OP_ERR, "LOC_QP_OP_ERR",
                      "this end's device could not carry out the request",
                      "an operation that the queue pair's type has not; a fault of the provider",
                      "rdma-local-operation"},
    CompletionMeaning{IBV_WC_LOC_EEC_OP_ERR, "LOC_EEC_OP_ERR",
                      "this end's end-to-end context failed", "a fault of the provider",
                      "rdma-local-context"},
    CompletionMeaning{
        IBV_WC_LOC_PROT_ERR, "LOC_PROT_ERR", "this end's device could not touch this end's memory",
        "GPU memory behind ACS, an IOMMU or a small BAR1; memory no longer registered",
        "rdma-local-protection"},
    CompletionMeaning{IBV_WC_WR_FLUSH_ERR, "WR_FLUSH_ERR",
                      "dropped since the queue pair had failed or was closed before",
                      "an earlier error, here or at the peer", "rdma-flushed"},
    CompletionMeaning{IBV_WC_MW_BIND_ERR, "MW_BIND_ERR", "a memory window could not be bound",
                      "a fault of the program", "rdma-window-bind"},
    CompletionMeaning{IBV_WC_BAD_RESP_ERR, "BAD_RESP_ERR",
                      "the peer answered with something unexpected",
                      "a fault of the peer's device or of the network", "rdma-bad-response"},
    CompletionMeaning{IBV_WC_LOC_ACCESS_ERR, "LOC_ACCESS_ERR",
                      "a write with immediate went to memory of this end that it may not touch",
                      "access flags of this end's memory", "rdma-local-access"},
    CompletionMeaning{IBV_WC_REM_INV_REQ_ERR, "REM_INV_REQ_ERR",
                      "the peer's device refuses the request",
                      "the peer's queue pair does not allow this operation; too many reads under "
                      "way; too long a message",
                      "rdma-remote-invalid"},
    CompletionMeaning{IBV_WC_REM_ACCESS_ERR, "REM_ACCESS_ERR",
                      "the peer's memory may not be touched so",
                      "key, range or access flags of the peer's memory; its GPU memory was revoked",
                      "rdma-remote-access"},
    CompletionMeaning{IBV_WC_REM_OP_ERR, "REM_OP_ERR", "the peer could not carry out the request",
                      "an error at the peer: see its own first error", "rdma-remote-operation"},
    CompletionMeaning{
        IBV_WC_RETRY_EXC_ERR, "RETRY_EXC_ERR", "the peer did not acknowledge within all retries",
        "a firewall or no route for RoCE (UDP 4791); GIDs that do not fit; a path MTU "
        "above the network's; loss without flow control; the peer is gone",
        "rdma-retry-exceeded"},
    CompletionMeaning{IBV_WC_RNR_RETRY_EXC_ERR, "RNR_RETRY_EXC_ERR",
                      "the peer never had a receive posted",
                      "a receiver that is too slow, or stopped; a small rx_depth or rnr_retries",
                      "rdma-receiver-not-ready"},
    CompletionMeaning{IBV_WC_LOC_RDD_VIOL_ERR, "LOC_RDD_VIOL_ERR",
                      "reliable datagram domains do not match", "a fault of the program",
                      "rdma-local-domain"},
    CompletionMeaning{IBV_WC_REM_INV_RD_REQ_ERR, "REM_INV_RD_REQ_ERR",
                      "the peer refuses a reliable datagram", "a fault of the program",
                      "rdma-remote-domain"},
    CompletionMeaning{IBV_WC_REM_ABORT_ERR, "REM_ABORT_ERR", "the peer aborted the request",
                      "the peer's program ended or its device failed", "rdma-remote-abort"},
    CompletionMeaning{IBV_WC_INV_EECN_ERR, "INV_EECN_ERR", "no such end-to-end context",
                      "a fault of the program", "rdma-invalid-context"},
    CompletionMeaning{IBV_WC_INV_EEC_STATE_ERR, "INV_EEC_STATE_ERR",
                      "the end-to-end context is in another state", "a fault of the program",
                      "rdma-context-state"},
    CompletionMeaning{IBV_WC_FATAL_ERR, "FATAL_ERR", "this end's device failed",
                      "the device was removed or reset: see the kernel's log",
                      "rdma-device-failed"},
    CompletionMeaning{IBV_WC_RESP_TIMEOUT_ERR, "RESP_TIMEOUT_ERR", "the peer's answer timed out",
                      "loss on the way; the peer is gone", "rdma-response-timeout"},
    CompletionMeaning{IBV_WC_GENERAL_ERR, "GENERAL_ERR", "an error of this end's device",
                      "see the vendor's code and the kernel's log", "rdma-general"},
};

constexpr CompletionMeaning kUnknown{IBV_WC_GENERAL_ERR, "unknown status",
                                     "an error that this release does not know",
                                     "see the vendor's code and the kernel's log", "rdma-unknown"};

constexpr bool is_indexed_by_status() {
  for (std::size_t i = 0; i < kMeanings.size(); ++i) {
    if (kMeanings[i].status != static_cast<ibv_wc_status>(i)) {
      return false;
    }
  }
  return true;
}
static_assert(is_indexed_by_status());

}  // namespace

const CompletionMeaning& meaning_of(ibv_wc_status status) {
  const auto index = static_cast<std::size_t>(status);
  return index < kMeanings.size() ? kMeanings[index] : kUnknown;
}

std::span<const CompletionMeaning> completion_meanings() { return kMeanings; }

void FirstFailure::add(const ibv_wc& completion) noexcept {
  ++errors_;
  if (completion.status == IBV_WC_WR_FLUSH_ERR) {
    ++flushed_;
  } else if (!first_) {
    first_ = completion;
  }
}

void FirstFailure::merge(const FirstFailure& other) noexcept {
  errors_ += other.errors_;
  flushed_ += other.flushed_;
  if (!first_) {
    first_ = other.first_;
  }
}

sdk::Error FirstFailure::error(const std::string& operation) const {
  const ibv_wc_status status = first_ ? first_->status : IBV_WC_WR_FLUSH_ERR;
  const CompletionMeaning& meaning = meaning_of(status);
  std::string message = operation + ": " + meaning.meaning + " (" + meaning.name + ", status " +
                        std::to_string(static_cast<int>(status));
  if (first_) {
    message += ", vendor error " + std::to_string(first_->vendor_err) + ", queue pair " +
               std::to_string(first_->qp_num);
  }
  const std::uint64_t rest = errors_ - (first_ ? 1 : 0);
  message += rest > 0 ? "; " + std::to_string(rest) + " more completions failed after it)" : ")";
  return {first_ ? NB_FAILED : NB_PEER_CLOSED, meaning.slug, std::move(message),
          std::string("likely: ") + meaning.hypotheses};
}

}  // namespace netbench::rdma
