#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <span>
#include <string>

#include "transports/rdma/objects.hpp"

namespace netbench::rdma {
namespace {

struct Refusal {
  int sys_errno;
  const char* slug;
  const char* meaning;
  const char* remedy;
};

constexpr std::array kMemoryRefusals = {
    Refusal{ENOMEM, "rdma-cannot-pin",
            "the kernel may not pin that much, or the device has no room",
            "raise `ulimit -l` (memlock) for this process, or use smaller messages or tx_depth"},
    Refusal{EFAULT, "rdma-cannot-pin-address", "the kernel cannot pin this address",
            "GPU memory needs the nvidia_peermem module, or a dma-buf"},
    Refusal{EPERM, "rdma-registration-denied", "this process may not", "run it with CAP_IPC_LOCK"},
};

constexpr const char* kNoDmaBuf = "the provider or the kernel registers no dma-bufs";
constexpr const char* kPeermem = "load nvidia_peermem to register GPU memory by its address";
constexpr std::array kDmaBufRefusals = {
    Refusal{EOPNOTSUPP, "rdma-no-dmabuf", kNoDmaBuf, kPeermem},
    Refusal{EPROTONOSUPPORT, "rdma-no-dmabuf", kNoDmaBuf, kPeermem},
    Refusal{ENOSYS, "rdma-no-dmabuf", kNoDmaBuf, kPeermem},
    Refusal{EBADF, "rdma-bad-dmabuf", "not a dma-buf", ""},
    Refusal{ENOMEM, "rdma-cannot-map-dmabuf", "the device has no room to map it",
            "use smaller buffers; see the size of the GPU's BAR1"},
};

Failure explained(std::span<const Refusal> table, const std::string& what, int sys_errno) {
  const auto row = std::ranges::find(table, sys_errno, &Refusal::sys_errno);
  if (row == table.end()) {
    return fail_errno("rdma-registration-failed", what, sys_errno);
  }
  return fail_errno(row->slug, what + ": " + row->meaning, sys_errno, row->remedy);
}

ibv_mr* call_register(const VerbsTable& verbs, ibv_pd* pd, const MemoryRegion::Request& request) {
  constexpr unsigned int kOptional = IBV_ACCESS_OPTIONAL_RANGE;
  const auto access = static_cast<unsigned int>(request.access);
  if (verbs.reg_mr_iova2 != nullptr) {
    return verbs.reg_mr_iova2(pd, request.address, request.bytes,
                              reinterpret_cast<std::uintptr_t>(request.address), access);
  }
  // What is optional may be left away; older libraries would refuse it.
  return verbs.reg_mr(pd, request.address, request.bytes, static_cast<int>(access & ~kOptional));
}

std::chrono::nanoseconds since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::steady_clock::now() - begin;
}

}  // namespace

Result<MemoryRegion> MemoryRegion::register_memory(const ProtectionDomain& pd,
                                                   const Request& request) {
  const VerbsTable& verbs = pd.verbs();
  const auto begin = std::chrono::steady_clock::now();
  ibv_mr* mr = call_register(verbs, pd.get(), request);
  if (mr == nullptr) {
    return explained(kMemoryRefusals,
                     "registering " + std::to_string(request.bytes) + " B of memory", errno);
  }
  return MemoryRegion({mr, verbs.dereg_mr}, since(begin));
}

Result<MemoryRegion> MemoryRegion::register_dmabuf(const ProtectionDomain& pd,
                                                   const DmaBuf& request) {
  const VerbsTable& verbs = pd.verbs();
  const std::string what = "registering a dma-buf of " + std::to_string(request.bytes) + " B";
  if (verbs.reg_dmabuf_mr == nullptr) {
    return fail(NB_UNAVAILABLE, "rdma-no-dmabuf", what + ": libibverbs is older than release 34",
                kPeermem);
  }
  const auto begin = std::chrono::steady_clock::now();
  ibv_mr* mr = verbs.reg_dmabuf_mr(pd.get(), request.offset, request.bytes, request.iova,
                                   request.fd, request.access);
  if (mr == nullptr) {
    return explained(kDmaBufRefusals, what, errno);
  }
  return MemoryRegion({mr, verbs.dereg_mr}, since(begin));
}

bool supports_dmabuf(const ProtectionDomain& pd, std::string& why) {
  constexpr std::size_t kProbeBytes = 4096;
  const Result<MemoryRegion> probe =
      MemoryRegion::register_dmabuf(pd, {.fd = -1, .bytes = kProbeBytes});
  if (probe || probe.error().sys_errno() == EBADF) {
    return true;
  }
  why = probe.error().message();
  return false;
}

}  // namespace netbench::rdma
