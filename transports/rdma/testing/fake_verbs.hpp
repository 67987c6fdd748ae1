#pragma once

#include <infiniband/verbs.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "transports/rdma/device.hpp"
#include "transports/rdma/verbs_table.hpp"

/// A double of libibverbs with a fabric inside: queue pairs of one process that are connected to
/// each other move real bytes, and everything that is asked of it is recorded. For tests.
namespace netbench::rdma::testing {

struct FakePort {
  FakePort();  // ACTIVE, Ethernet, path MTU 1024 of 4096
  ibv_port_attr attributes{};
  std::vector<GidEntry> gids;  // the interface "lo" alone has an index
};

struct FakeDevice {
  FakeDevice();  // "fake0" with one port that has ::ffff:10.77.0.1 as GID 1
  std::string name = "fake0";
  bool iwarp = false;
  ibv_device_attr attributes{};
  std::uint32_t max_inline_bytes = 220;
  bool in_order = false;  // the answer to query_qp_data_in_order
  std::vector<FakePort> ports;
};

/// One accepted modify_qp().
struct StateRecord {
  std::uint32_t number = 0;
  ibv_qp_attr attributes{};
  int mask = 0;
};

/// One accepted registration.
struct RegionRecord {
  bool dmabuf = false;
  std::uint64_t address = 0;  // iova
  std::size_t bytes = 0;
  std::uint64_t offset = 0;  // dma-buf
  int fd = -1;
  unsigned int access = 0;
};

/// Calls of the data path, over all queues.
struct DataPathCounts {
  std::uint64_t doorbells = 0;  // calls of post_send
  std::uint64_t requests = 0;   // work requests in them
  std::uint64_t signalled = 0;
  std::uint64_t inline_requests = 0;
  std::uint64_t receive_doorbells = 0;
  std::uint64_t receives = 0;
  std::uint64_t polls = 0;
  std::uint64_t empty_polls = 0;
  std::uint64_t completions = 0;
  std::uint64_t notifications = 0;  // calls of req_notify_cq
};

struct FakeState;

/// One at a time in a process: some calls of libibverbs know no object to find it by. Calls may
/// come from several threads.
class FakeVerbs {
 public:
  FakeVerbs();  // one FakeDevice
  explicit FakeVerbs(std::vector<FakeDevice> devices);
  FakeVerbs(const FakeVerbs&) = delete;
  FakeVerbs& operator=(const FakeVerbs&) = delete;
  ~FakeVerbs();

  /// All calls, the optional ones too; set what a test wants absent to null.
  [[nodiscard]] VerbsTable table() const;

  /// The next `times` calls of this name ("modify_qp") fail with this errno.
  void refuse(const std::string& call, int sys_errno, int times = std::numeric_limits<int>::max());
  /// As refuse(), of modify_qp() to this state.
  void refuse_state(ibv_qp_state state, int sys_errno);
  /// The work request after the next `skip` completes with this status; its queue pair fails.
  void fail_request(ibv_wc_status status, std::uint32_t vendor_error = 0, std::uint64_t skip = 0);
  /// One byte of the payload of the work request after the next `skip` changes on its way.
  void corrupt_request(std::size_t offset, std::uint64_t skip = 0);
  /// Arrives on every open context of the device.
  void raise(const std::string& device, ibv_event_type type, std::uint8_t port);

  [[nodiscard]] std::vector<std::string> calls() const;  // of the control path, in order
  [[nodiscard]] std::vector<StateRecord> states() const;
  [[nodiscard]] std::vector<RegionRecord> regions() const;
  [[nodiscard]] DataPathCounts counts() const;
  /// Objects that were made and not yet given back.
  [[nodiscard]] std::size_t live() const;

 private:
  std::unique_ptr<FakeState> state_;
};

}  // namespace netbench::rdma::testing
