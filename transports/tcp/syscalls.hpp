#pragma once

#include <sys/syscall.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>

/// send() and recv() without the C library's cancellation point: in a process with threads that
/// costs two atomic updates a call (glibc, sysdeps/unix/sysv/linux/*-cancel), a share of a small
/// message that is the tool's and not the kernel's. Failures are in errno, as with the originals.
namespace netbench::tcp {

[[nodiscard]] inline std::int64_t raw_send(int fd, const void* data, std::size_t size,
                                           int flags) noexcept {
  return ::syscall(SYS_sendto, fd, data, size, flags, nullptr, 0);
}

[[nodiscard]] inline std::int64_t raw_recv(int fd, void* data, std::size_t size,
                                           int flags) noexcept {
  return ::syscall(SYS_recvfrom, fd, data, size, flags, nullptr, nullptr);
}

}  // namespace netbench::tcp
