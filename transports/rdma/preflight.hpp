#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "transports/rdma/device.hpp"

/// What can be known to fail before any queue pair is made. Files are read below `root`, so that
/// recorded trees are test inputs.
namespace netbench::rdma {

enum class Verdict { passed, warning, failed, unknown };

struct Check {
  std::string id;  // "memlock", "device-node", "port-state", "mtu"
  Verdict verdict = Verdict::unknown;
  std::string message;  // what was seen, with the numbers
  std::string remedy;
  std::string slug;  // of the error where it failed
};

/// How much this process may pin.
struct PinLimit {
  std::optional<std::uint64_t> memlock_bytes;  // soft RLIMIT_MEMLOCK; nothing: unlimited
  bool cap_ipc_lock = false;                   // then the limit does not count
  std::string unknown_because;                 // not empty: the above could not be read
};
/// From root/proc/self/limits and CapEff of root/proc/self/status.
[[nodiscard]] PinLimit read_pin_limit(const std::string& root = "/");
/// The kernel counts whole pages (ib_umem_get() in drivers/infiniband/core/umem.c).
[[nodiscard]] Check check_pin_limit(const PinLimit& limit, std::uint64_t bytes_to_pin);

/// The device's /dev/infiniband/uverbsN: there, and readable and writable by this process.
[[nodiscard]] Check check_device_node(const std::string& device, const std::string& root = "/");
/// ACTIVE, or what its state means on its link layer.
[[nodiscard]] Check check_port_state(const PortDescription& port);
/// Whether the interface's MTU keeps the port below its own largest path MTU (RoCE).
[[nodiscard]] Check check_mtu(const PortDescription& port, const std::string& root = "/");

struct PreflightNeeds {
  std::uint64_t bytes_to_pin = 0;
  const PortDescription* port = nullptr;
};
/// All of them, in the order in which they would fail.
[[nodiscard]] std::vector<Check> preflight(const PreflightNeeds& needs,
                                           const std::string& root = "/");
/// The first failed check as an error (NB_UNAVAILABLE for what this host lacks).
[[nodiscard]] Result<void> require(const std::vector<Check>& checks);

/// Why libibverbs lists no device, or why the device could not be opened: no RDMA device in this
/// host, kernel module ib_uverbs absent, no device node (container), no permission, or no provider
/// library. NB_UNAVAILABLE with a slug of its own for each.
[[nodiscard]] sdk::Error why_no_device(const std::string& root = "/");
[[nodiscard]] sdk::Error why_not_opened(const std::string& device, int sys_errno,
                                        const std::string& root = "/");

}  // namespace netbench::rdma
