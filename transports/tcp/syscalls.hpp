#pragma once

#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>

/// send() and recv() as one inlined instruction. The C library's are cancellation points: in a
/// process with threads each call costs two atomic updates more (glibc, sysdeps/nptl/cancellation),
/// and syscall(2) shuffles seven registers: a share of a small message that is the tool's and not
/// the kernel's. Failures are in errno, as with the originals. The x86-64 and arm64 conventions are
/// those of syscall(2), "Architecture calling conventions".
namespace netbench::tcp {

namespace detail {

/// sendto() and recvfrom() without an address: the last two arguments are zero.
[[nodiscard]] inline std::int64_t transfer(long number, int fd, const void* data, std::size_t size,
                                           int flags) noexcept {
#if defined(__x86_64__)
  register long r10 asm("r10") = flags;
  register long r8 asm("r8") = 0;
  register long r9 asm("r9") = 0;
  long result = 0;
  asm volatile("syscall"
               : "=a"(result)
               : "a"(number), "D"(static_cast<long>(fd)), "S"(data), "d"(size), "r"(r10), "r"(r8),
                 "r"(r9)
               : "rcx", "r11", "memory");
#elif defined(__aarch64__)
  register long x8 asm("x8") = number;
  register long x0 asm("x0") = fd;
  register const void* x1 asm("x1") = data;
  register std::size_t x2 asm("x2") = size;
  register long x3 asm("x3") = flags;
  register long x4 asm("x4") = 0;
  register long x5 asm("x5") = 0;
  asm volatile("svc #0"
               : "+r"(x0)
               : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
               : "memory", "cc");
  const long result = x0;
#else
  return ::syscall(number, fd, data, size, flags, nullptr, 0);
#endif
#if defined(__x86_64__) || defined(__aarch64__)
  if (result < 0) [[unlikely]] {
    errno = static_cast<int>(-result);
    return -1;
  }
  return result;
#endif
}

}  // namespace detail

[[nodiscard]] inline std::int64_t raw_send(int fd, const void* data, std::size_t size,
                                           int flags) noexcept {
  return detail::transfer(SYS_sendto, fd, data, size, flags);
}

[[nodiscard]] inline std::int64_t raw_recv(int fd, void* data, std::size_t size,
                                           int flags) noexcept {
  return detail::transfer(SYS_recvfrom, fd, data, size, flags);
}

}  // namespace netbench::tcp
