#include "transports/rdma/memory.hpp"

#include <linux/mempolicy.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstring>
#include <fstream>
#include <sstream>

namespace netbench::rdma {
namespace {

/// Of Linux 5.14, absent from older C libraries' headers (madvise(2)).
constexpr int kPopulateWrite = 23;

std::size_t page_bytes() { return static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)); }

std::size_t rounded(std::size_t bytes, std::size_t page) {
  return (std::max<std::size_t>(bytes, 1) + page - 1) / page * page;
}

Failure cannot_map(const HostMemory::Request& request, std::size_t bytes, int sys_errno) {
  const std::string what = "mapping " + std::to_string(bytes) + " B";
  if (!request.huge_pages) {
    return fail_errno("out-of-memory", what, sys_errno, "use smaller messages or tx_depth");
  }
  const std::size_t pages = bytes / std::max<std::size_t>(huge_page_bytes(), 1);
  return fail_errno("rdma-no-huge-pages", what + " of huge pages", sys_errno,
                    "reserve them: sysctl -w vm.nr_hugepages=" + std::to_string(pages + 8));
}

/// Strict: allocations come from this node or fail (mbind(2)).
Result<void> bind_to_node(void* address, std::size_t bytes, int node) {
  constexpr std::size_t kBits = sizeof(unsigned long) * CHAR_BIT;
  constexpr std::size_t kMaxNodes = 1024;
  std::array<unsigned long, kMaxNodes / kBits> mask{};
  const auto bit = static_cast<std::size_t>(node);
  const std::string what = "memory on NUMA node " + std::to_string(node);
  constexpr const char* kRemedy = "see `numactl --hardware` for the nodes of this host";
  if (node < 0 || bit >= kMaxNodes) {
    return fail(NB_INVALID, "rdma-numa-node", what + ": no such node", kRemedy);
  }
  mask[bit / kBits] |= 1UL << (bit % kBits);
  if (::syscall(SYS_mbind, address, bytes, MPOL_BIND, mask.data(), kMaxNodes + 1, 0) != 0) {
    return fail_errno("rdma-numa-node", what, errno, kRemedy);
  }
  return {};
}

/// Maps every page now: a failure is an error here and no signal later.
Result<void> populate(void* address, std::size_t bytes) {
  if (::madvise(address, bytes, kPopulateWrite) != 0) {
    if (errno != EINVAL) {
      return fail_errno("out-of-memory", "populating " + std::to_string(bytes) + " B", errno,
                        "use smaller messages or tx_depth");
    }
    std::memset(address, 0, bytes);  // an older kernel
  }
  return {};
}

Failure outside(std::size_t offset, std::size_t bytes, std::size_t size) {
  return fail(NB_FAILED, "transport-internal",
              std::to_string(bytes) + " B at " + std::to_string(offset) + " of memory of " +
                  std::to_string(size) + " B");
}

std::string size_text(std::size_t bytes) {
  constexpr std::size_t kMiB = std::size_t{1} << 20;
  return bytes >= kMiB ? std::to_string(bytes / kMiB) + " MiB"
                       : std::to_string(bytes / 1024) + " KiB";
}

}  // namespace

std::size_t huge_page_bytes(const std::string& root) {
  std::ifstream file(root + "/proc/meminfo");
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string key;
    std::size_t kib = 0;
    if (words >> key >> kib && key == "Hugepagesize:") {
      return kib * 1024;
    }
  }
  return 0;
}

Result<HostMemory> HostMemory::allocate(const Request& request) {
  const std::size_t page = request.huge_pages ? huge_page_bytes() : page_bytes();
  if (page == 0) {
    return cannot_map(request, request.bytes, EOPNOTSUPP);
  }
  const std::size_t bytes = rounded(request.bytes, page);
  const int flags = MAP_PRIVATE | MAP_ANONYMOUS | (request.huge_pages ? MAP_HUGETLB : 0);
  void* address = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, flags, -1, 0);
  if (address == MAP_FAILED) {
    return cannot_map(request, bytes, errno);
  }
  HostMemory memory(address, bytes, page, request.numa_node);
  Result<void> ready =
      request.numa_node ? bind_to_node(address, bytes, *request.numa_node) : Result<void>();
  ready = ready.and_then([&] { return populate(address, bytes); });
  if (!ready) {
    return Failure(ready.error());
  }
  return memory;
}

HostMemory::HostMemory(HostMemory&& other) noexcept
    : address_(std::exchange(other.address_, nullptr)),
      bytes_(std::exchange(other.bytes_, 0)),
      page_bytes_(other.page_bytes_),
      numa_node_(other.numa_node_) {}

HostMemory& HostMemory::operator=(HostMemory&& other) noexcept {
  std::swap(address_, other.address_);
  std::swap(bytes_, other.bytes_);
  std::swap(page_bytes_, other.page_bytes_);
  std::swap(numa_node_, other.numa_node_);
  return *this;
}

HostMemory::~HostMemory() {
  if (address_ != nullptr) {
    ::munmap(address_, bytes_);
  }
}

std::string HostMemory::description() const {
  return "host, " + size_text(page_bytes_) + " pages" +
         (numa_node_ ? ", NUMA node " + std::to_string(*numa_node_) : "");
}

Result<void> HostMemory::write(std::size_t offset, std::span<const std::byte> source) {
  if (offset > bytes_ || source.size() > bytes_ - offset) {
    return outside(offset, source.size(), bytes_);
  }
  std::ranges::copy(source, span().subspan(offset).begin());
  return {};
}

Result<void> HostMemory::read(std::size_t offset, std::span<std::byte> target) const {
  if (offset > bytes_ || target.size() > bytes_ - offset) {
    return outside(offset, target.size(), bytes_);
  }
  std::ranges::copy(span().subspan(offset, target.size()), target.begin());
  return {};
}

Result<void> HostMemory::fill(std::size_t offset, std::size_t bytes, std::byte value) {
  if (offset > bytes_ || bytes > bytes_ - offset) {
    return outside(offset, bytes, bytes_);
  }
  std::ranges::fill(span().subspan(offset, bytes), value);
  return {};
}

Result<MemoryRegion> HostMemory::register_with(const ProtectionDomain& pd, int access) const {
  return MemoryRegion::register_memory(pd, {address_, bytes_, access});
}

}  // namespace netbench::rdma
