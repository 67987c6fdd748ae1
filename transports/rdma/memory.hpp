#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "transports/rdma/objects.hpp"
#include "transports/rdma/result.hpp"

/// Memory that messages lie in: on this host here; on a GPU in that plug-in.
namespace netbench::rdma {

/// What a plug-in's sessions ask of a kind of memory. allocate() gives memory that is mapped and
/// zero; register_with() registers the whole of it; copies and fills are for preparation and
/// checks, outside of what is timed.
template <class M>
concept Memory = std::movable<M> &&
    requires(M& memory, const M& constant, std::size_t offset, std::span<std::byte> target,
             std::span<const std::byte> source, const ProtectionDomain& pd, int access) {
  { constant.address() } -> std::convertible_to<void*>;
  { constant.bytes() } -> std::convertible_to<std::size_t>;
  { constant.description() } -> std::convertible_to<std::string>;
  { memory.write(offset, source) } -> std::same_as<Result<void>>;
  { constant.read(offset, target) } -> std::same_as<Result<void>>;
  { memory.fill(offset, std::size_t{}, std::byte{}) } -> std::same_as<Result<void>>;
  { constant.register_with(pd, access) } -> std::same_as<Result<MemoryRegion>>;
};

/// Pages of this host by mmap(2).
class HostMemory {
 public:
  struct Request {
    std::size_t bytes = 0;
    bool huge_pages = false;         // MAP_HUGETLB of the default huge page size
    std::optional<int> numa_node{};  // by mbind(2), strictly
  };
  /// Rounded up to whole pages. `rdma-no-huge-pages` with how many to reserve (never falls back to
  /// small pages by itself), `rdma-numa-node` where the node refuses, `out-of-memory`.
  [[nodiscard]] static Result<HostMemory> allocate(const Request& request);

  HostMemory(HostMemory&& other) noexcept;
  HostMemory& operator=(HostMemory&& other) noexcept;
  ~HostMemory();

  [[nodiscard]] void* address() const { return address_; }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }
  [[nodiscard]] std::span<std::byte> span() const {
    return {static_cast<std::byte*>(address_), bytes_};
  }
  [[nodiscard]] std::string description() const;  // "host, 2 MiB pages, NUMA node 1"
  [[nodiscard]] Result<void> write(std::size_t offset, std::span<const std::byte> source);
  [[nodiscard]] Result<void> read(std::size_t offset, std::span<std::byte> target) const;
  [[nodiscard]] Result<void> fill(std::size_t offset, std::size_t bytes, std::byte value);
  [[nodiscard]] Result<MemoryRegion> register_with(const ProtectionDomain& pd, int access) const;

 private:
  HostMemory(void* address, std::size_t bytes, std::size_t page_bytes, std::optional<int> node)
      : address_(address), bytes_(bytes), page_bytes_(page_bytes), numa_node_(node) {}
  void* address_ = nullptr;
  std::size_t bytes_ = 0;
  std::size_t page_bytes_ = 0;
  std::optional<int> numa_node_;
};

/// Default huge page size in bytes, of Hugepagesize in root/proc/meminfo; 0 where there are none.
[[nodiscard]] std::size_t huge_page_bytes(const std::string& root = "/");

}  // namespace netbench::rdma
