#pragma once

#include <infiniband/verbs.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "transports/rdma/testing/fake_verbs.hpp"
#include "transports/sdk/sockets.hpp"

/// What the fake holds behind the structs that programs see; each object begins with that struct.
namespace netbench::rdma::testing {

struct FakeContext {
  ibv_context shown{};
  FakeState* owner = nullptr;
  const FakeDevice* device = nullptr;
  sdk::Fd async;
  std::deque<ibv_async_event> events;
};

struct FakeChannel {
  ibv_comp_channel shown{};
  sdk::Fd event;
  std::deque<ibv_cq*> waiting;
};

struct FakeCq {
  ibv_cq shown{};
  std::deque<ibv_wc> ready;
  bool armed = false;
  unsigned int unacknowledged = 0;
};

struct FakeReceive {
  std::uint64_t id = 0;
  ibv_sge memory{};
};

/// A work request as it was posted, with what it sends.
struct FakeSend {
  ibv_send_wr request{};
  ibv_sge memory{};
  std::vector<std::byte> payload;
};

struct FakeQp {
  ibv_qp shown{};
  ibv_qp_init_attr initial{};
  ibv_qp_attr now{};
  std::deque<FakeReceive> receives;
  std::deque<FakeSend> waiting;  // for a receive at the peer, in order
};

struct FakeAh {
  ibv_ah shown{};
  ibv_ah_attr attributes{};
};

struct FakeMr {
  ibv_mr shown{};
  std::uint64_t address = 0;  // as the peer names it
  unsigned int access = 0;
};

/// What is to go wrong with the work request after the next `skip`.
struct FakeFault {
  std::uint64_t skip = 0;
  ibv_wc_status status = IBV_WC_SUCCESS;
  std::uint32_t vendor_error = 0;
  std::size_t offset = 0;
};

struct FakeState {
  std::mutex mutex;
  std::vector<FakeDevice> specs;
  std::vector<ibv_device> devices;
  std::map<std::string, std::pair<int, int>> refusals;  // errno, times
  std::map<ibv_qp_state, int> state_refusals;
  std::deque<FakeFault> failures;
  std::deque<FakeFault> corruptions;
  std::vector<std::string> calls;
  std::vector<StateRecord> states;
  std::vector<RegionRecord> regions;
  DataPathCounts counts;
  std::size_t live = 0;
  std::uint32_t next_number = 17;
  std::uint32_t next_key = 1000;
  std::vector<FakeContext*> contexts;
  std::map<std::uint32_t, FakeQp*> queue_pairs;
  std::map<std::uint32_t, FakeMr*> memory;  // by key
};

template <class Fake, class Shown>
[[nodiscard]] Fake& fake_of(Shown* shown) {
  return *reinterpret_cast<Fake*>(shown);
}

[[nodiscard]] inline FakeState& owner_of(ibv_context* context) {
  return *fake_of<FakeContext>(context).owner;
}

/// Records the call; its errno where it is to fail, else 0. The mutex is held, as below.
[[nodiscard]] int enter(FakeState& state, const char* call);
/// As enter(), of calls that give an object: sets errno.
[[nodiscard]] bool refused(FakeState& state, const char* call);

template <class Fake>
[[nodiscard]] Fake* made(FakeState& state) {
  ++state.live;
  return new Fake{};
}

template <class Fake, class Shown>
[[nodiscard]] int given_back(FakeState& state, const char* call, Shown* shown) {
  if (const int error = enter(state, call)) {
    return error;
  }
  --state.live;
  delete &fake_of<Fake>(shown);
  return 0;
}

/// The state of the calls that know no object.
void set_current(FakeState* state);
void set_object_calls(VerbsTable& table);
void set_queue_pair_calls(VerbsTable& table);
/// The context's functions of the data path.
void set_data_path(ibv_context_ops& ops);

/// Carries out a request at its peer's end: moves the bytes, and takes a receive where it needs
/// one.
[[nodiscard]] ibv_wc_status execute(const FakeState& state, const FakeQp& qp, FakeQp& target,
                                    const FakeSend& send);
/// Adds a completion, with its event where one is asked for.
void complete(ibv_cq* cq, const ibv_wc& completion);
/// All that waits in the queue pair completes as flushed.
void flush(FakeQp& qp);
/// Makes an event descriptor readable.
void ring(const sdk::Fd& event);

}  // namespace netbench::rdma::testing
