#pragma once

#include <rdma/rdma_cma.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <deque>
#include <string>
#include <vector>

#include "transports/rdma/verbs_table.hpp"
#include "transports/sdk/address.hpp"
#include "transports/sdk/sockets.hpp"

namespace netbench::rdma::testing {

/// A double of librdmacm that answers each call with the event a test has put there. One at a time.
class FakeCm {
 public:
  FakeCm() { current() = this; }
  FakeCm(const FakeCm&) = delete;
  FakeCm& operator=(const FakeCm&) = delete;
  ~FakeCm() { current() = nullptr; }

  [[nodiscard]] CmTable table() const {
    CmTable table;
    table.create_event_channel = &create_event_channel;
    table.destroy_event_channel = &destroy_event_channel;
    table.create_id = &create_id;
    table.destroy_id = &destroy_id;
    table.bind_addr = [](rdma_cm_id*, sockaddr* address) {
      if (address->sa_family == current()->absent_family) {
        errno = EAFNOSUPPORT;
        return -1;
      }
      current()->bound.push_back(sdk::copy_address(address, sizeof(sockaddr_in6)).text());
      return answer("bind_addr");
    };
    table.resolve_addr = [](rdma_cm_id*, sockaddr*, sockaddr*, int) {
      return answer("resolve_addr");
    };
    table.resolve_route = [](rdma_cm_id*, int) { return answer("resolve_route"); };
    table.create_qp = [](rdma_cm_id*, ibv_pd*, ibv_qp_init_attr*) { return answer("create_qp"); };
    table.destroy_qp = [](rdma_cm_id*) { (void)answer("destroy_qp"); };
    table.connect = [](rdma_cm_id*, rdma_conn_param* given) {
      current()->parameters = *given;
      return answer("connect");
    };
    table.listen = [](rdma_cm_id*, int) { return answer("listen"); };
    table.accept = [](rdma_cm_id*, rdma_conn_param*) { return answer("accept"); };
    table.reject = [](rdma_cm_id*, const void*, std::uint8_t) { return answer("reject"); };
    table.disconnect = [](rdma_cm_id*) { return answer("disconnect"); };
    table.get_cm_event = &get_cm_event;
    table.ack_cm_event = &ack_cm_event;
    table.get_src_port = [](rdma_cm_id*) -> __be16 { return htons(40123); };
    table.set_option = [](rdma_cm_id*, int, int name, void*, std::size_t) {
      return answer("set_option " + std::to_string(name));
    };
    return table;
  }

  /// A new id as a connect request brings it.
  [[nodiscard]] rdma_cm_id* incoming(rdma_port_space space = RDMA_PS_TCP) {
    ++live;
    auto* id = new rdma_cm_id{};
    id->ps = space;
    return id;
  }
  void put(const rdma_cm_event& event) {
    events.push_back(event);
    const std::uint64_t one = 1;
    (void)!::write(ready.get(), &one, sizeof one);
  }
  void put(rdma_cm_id* id, rdma_cm_event_type type, int status = 0) {
    rdma_cm_event event{};
    event.id = id;
    event.event = type;
    event.status = status;
    put(event);
  }

  std::string failing;  // this call fails with `sys_errno`
  int sys_errno = 0;
  std::vector<std::string> calls;
  std::vector<std::string> bound;
  int absent_family = AF_UNSPEC;  // bind_addr() has no such addresses
  rdma_conn_param parameters{};
  int live = 0;  // ids and channels not given back
  int unacknowledged = 0;

 private:
  static FakeCm*& current() {
    static FakeCm* fake = nullptr;
    return fake;
  }
  static int answer(const std::string& call) {
    current()->calls.push_back(call);
    if (call == current()->failing) {
      errno = current()->sys_errno;
      return -1;
    }
    return 0;
  }
  static rdma_event_channel* create_event_channel() {
    ++current()->live;
    return &current()->channel;
  }
  static void destroy_event_channel(rdma_event_channel* /*channel*/) { --current()->live; }
  static int create_id(rdma_event_channel* channel, rdma_cm_id** id, void* /*context*/,
                       rdma_port_space space) {
    *id = current()->incoming(space);
    (*id)->channel = channel;
    return answer("create_id");
  }
  static int destroy_id(rdma_cm_id* id) {
    --current()->live;
    delete id;
    return answer("destroy_id");
  }
  static int get_cm_event(rdma_event_channel* /*channel*/, rdma_cm_event** event) {
    std::uint64_t one = 0;
    if (::read(current()->ready.get(), &one, sizeof one) != sizeof one) {
      errno = EAGAIN;
      return -1;
    }
    ++current()->unacknowledged;
    *event = &current()->events.front();
    return 0;
  }
  static int ack_cm_event(rdma_cm_event* /*event*/) {
    --current()->unacknowledged;
    current()->events.pop_front();
    return 0;
  }

  sdk::Fd ready{::eventfd(0, EFD_NONBLOCK | EFD_SEMAPHORE)};
  rdma_event_channel channel{ready.get()};
  std::deque<rdma_cm_event> events;
};

}  // namespace netbench::rdma::testing
