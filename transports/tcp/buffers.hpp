#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstring>
#include <new>
#include <utility>

namespace netbench::tcp {

/// Page-aligned memory, touched by the thread that makes it so that it lies on that thread's node.
/// Throws std::bad_alloc.
class PageBuffer {
 public:
  explicit PageBuffer(std::size_t size) : size_(size > 0 ? size : 1) {
    void* memory =
        ::mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
      throw std::bad_alloc();
    }
    data_ = static_cast<std::byte*>(memory);
    std::memset(data_, 0x6e, size_);
  }
  PageBuffer(PageBuffer&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(other.size_) {}
  PageBuffer& operator=(PageBuffer&&) = delete;
  ~PageBuffer() {
    if (data_ != nullptr) {
      ::munmap(data_, size_);
    }
  }

  [[nodiscard]] std::byte* data() const { return data_; }
  [[nodiscard]] std::size_t size() const { return size_; }

 private:
  std::byte* data_ = nullptr;
  std::size_t size_;
};

}  // namespace netbench::tcp
