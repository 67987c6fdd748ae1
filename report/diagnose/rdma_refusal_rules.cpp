#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "report/diagnose/rdma_completion.hpp"
#include "report/diagnose/rdma_failures.hpp"
#include "report/diagnose/rdma_judges.hpp"
#include "report/diagnose/rdma_signals.hpp"
#include "report/diagnose/verdicts.hpp"

namespace netbench::report {

namespace {

using M = RdmaMeaning;

bool says(const Error& error, std::string_view words) {
  return error.message.find(words) != std::string::npos;
}

}  // namespace

Verdict judge_rdma_cannot_pin(Look& look) {
  const Error& error = failure_of(look);
  const bool pin = begins(error, {"rdma-memlock", "rdma-cannot-pin", "rdma-registration"}) ||
                   says(error, "Cannot allocate memory");
  if (!pin) {
    return another_error(error);
  }
  for (const End end : kEnds) {
    const auto limit = look.fact(end, "rdma.memlock_bytes");
    const bool capable = look.fact(end, "rdma.cap_ipc_lock").value_or(0) != 0;
    if (limit && !capable && *limit < 1e12) {
      const std::string why = fmt::format("{} may lock {:.0f} KiB and has no CAP_IPC_LOCK",
                                          look.host_name(end), *limit / 1024);
      return fires(Confidence::confirmed, 1, why,
                   fmt::format("RDMA could not pin its buffers: {} ({})", why, error.message),
                   {"ulimit -l unlimited; for services LimitMEMLOCK=infinity; for containers "
                    "--ulimit memlock=-1 --cap-add=IPC_LOCK; for users /etc/security/limits.d",
                    "or smaller queues: --verbs.tx_depth, --verbs.rx_depth"});
    }
  }
  return fires(Confidence::likely, 0.9, error.slug, error.message,
               {error.remedy.empty() ? "ulimit -l unlimited" : error.remedy});
}

Verdict judge_rdma_failed_receiver(Look& look) {
  const Error& error = failure_of(look);
  if (completion_of(error) != Completion::receiver_not_ready) {
    return another_error(error);
  }
  return fires(Confidence::confirmed, 1, error.slug,
               fmt::format("{} had no receive ready within all retries: {}",
                           look.host_name(responder(look)), error.message),
               {"more receives: --verbs.rx_depth; more patience: --verbs.rnr_retries 7 (for ever)",
                "see whether the peer's program still runs and polls"});
}

Verdict judge_rdma_went_down(Look& look) {
  const Error& error = failure_of(look);
  const bool gone = completion_of(error) == Completion::device_failed ||
                    begins(error, {"rdma-device-", "rdma-port-down", "rdma-port-error",
                                   "rdma-port-failed", "verbs-device-gone"});
  double downs = 0;
  for (const End end : kEnds) {
    const auto count = rdma_count(look, end, {M::link_downs});
    const auto carrier = look.total(end, "if.*.carrier_changes");
    downs += (count ? count->total : 0) + carrier.value_or(0);
  }
  if (!gone && downs <= 0) {
    return another_error(error);
  }
  return fires(
      gone ? Confidence::confirmed : Confidence::likely, 1,
      fmt::format("{}; the link changed {:.0f} times", error.slug, downs),
      fmt::format("an RDMA device or its link went away during the run: {}", error.message),
      {"dmesg | grep -iE 'mlx|bnxt|rdma|link'; rdma link",
       "reseat the cable; look for a reset of the card or a device that was removed"});
}

Verdict judge_rdma_not_available(Look& look) {
  const Error& error = failure_of(look);
  const bool missing = begins(
      error, {"rdma-no-port", "rdma-no-device", "rdma-no-library", "rdma-library-too-old",
              "rdma-open-failed", "rdma-port-not-active", "rdma-no-provider", "rdma-not-permitted",
              "rdma-no-permission", "rdma-no-uverbs", "transport-unavailable"});
  if (!missing) {
    return another_error(error);
  }
  return fires(Confidence::confirmed, 1, error.slug, "RDMA cannot be used here: " + error.message,
               {error.remedy.empty() ? "rdma link; ls -l /dev/infiniband" : error.remedy});
}

Verdict judge_rdma_peer_gone(Look& look) {
  const Error& error = failure_of(look);
  const auto completion = completion_of(error);
  const bool gone = begins(error, {"verbs-peer-closed", "rdma-cm-disconnected"}) ||
                    completion == Completion::flushed || completion == Completion::remote_abort;
  return gone
             ? fires(Confidence::likely, 0.9, error.slug,
                     "the other end went away or failed first: " + error.message,
                     {"see the other end's own error and its program's log: was it killed, did its "
                      "device fail?"})
             : another_error(error);
}

Verdict judge_rdma_wrong_contents(Look& look) {
  const Error& error = failure_of(look);
  return begins(error, {"verbs-data-mismatch"})
             ? fires(Confidence::confirmed, 1, error.slug,
                     "messages arrived with wrong contents: " + error.message,
                     {"--verbs.relaxed_ordering off, and compare; the card's firmware may force "
                      "relaxed ordering: mlxconfig -d DEVICE q | grep PCI_WR_ORDERING",
                      "then memory and PCIe errors of both hosts"})
             : another_error(error);
}

Verdict judge_rdma_no_route(Look& look) {
  const Error& error = failure_of(look);
  if (!begins(error, {"rdma-qp-ready-to-receive", "rdma-no-address-handle", "rdma-cm-"})) {
    return another_error(error);
  }
  return fires(Confidence::likely, 0.95, error.slug,
               "the card could not address the peer: " + error.message,
               {error.remedy.empty() ? "check the GIDs of both ends" : error.remedy,
                fmt::format("the route and the neighbour on the GID's own interface: ip route get "
                            "PEER oif {}; ip neighbour",
                            look.interface(End::sender))});
}

namespace {

/// What a refused operation means and where to look first.
struct Refusal {
  Completion completion;
  std::string_view cause;
  std::string_view remedy;
};
constexpr std::array<Refusal, 8> kRefusals{
    {{Completion::local_length, "a message is longer than the buffer or the packet it has to fit",
      "of UD, messages up to the path MTU; larger receives"},
     {Completion::local_protection, "the card may not touch this end's memory",
      "of GPU memory: ACS and the IOMMU on the way between card and GPU; of host memory: a buffer "
      "that is registered no more"},
     {Completion::local_access, "a request came to memory of this end that it may not touch",
      "the access flags of the memory region"},
     {Completion::remote_invalid, "the peer's card refuses the operation",
      "what its queue pair allows, its read depth (--verbs.read_depth), the length"},
     {Completion::remote_access, "the peer's memory may not be touched so",
      "its key, range and access flags; memory on demand or of a GPU that was revoked"},
     {Completion::remote_operation, "the peer could not carry the operation out",
      "the peer's own first error"},
     {Completion::local_operation, "this end's card could not carry the operation out",
      "an operation that this kind of queue pair has not (--verbs.qp, --verbs.op)"},
     {Completion::bad_response, "the peer answered with something unexpected",
      "the firmware and driver of both cards"}}};

}  // namespace

Verdict judge_rdma_memory_refused(Look& look) {
  const Error& error = failure_of(look);
  const auto completion = completion_of(error);
  const auto refusal = std::ranges::find_if(
      kRefusals, [&](const Refusal& one) { return completion == one.completion; });
  if (refusal == kRefusals.end()) {
    return another_error(error);
  }
  const auto counted = rdma_count(look, responder(look), {M::refused_requests});
  const std::string why =
      fmt::format("{}{}", completion_text(*completion),
                  counted && counted->total > 0 ? "; the peer counts " + counted->names : "");
  return fires(Confidence::likely, 0.9, why,
               fmt::format("{}: {} ({})", refusal->cause, error.message, why),
               {std::string(refusal->remedy)});
}

Verdict judge_rdma_failed(Look& look) {
  const Error& error = failure_of(look);
  const auto completion = completion_of(error);
  return fires(Confidence::possible, 0.3, completion ? completion_text(*completion) : error.slug,
               "a row of RDMA failed: " + error.message,
               {error.remedy.empty() ? "netbench doctor --peer HOST" : error.remedy});
}

}  // namespace netbench::report
