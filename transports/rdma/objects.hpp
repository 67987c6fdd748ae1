#pragma once

#include <infiniband/verbs.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "transports/rdma/result.hpp"
#include "transports/rdma/verbs_table.hpp"

/// Owners of verbs objects. Move-only; an object must be destroyed before what it was made of,
/// which reverse order of declaration gives. The table must outlive them. [control-thread] but
/// where said.
namespace netbench::rdma {

/// A verbs object and the call that gives it back; null is none.
template <class T>
class Handle {
 public:
  Handle() = default;
  Handle(T* object, int (*destroy)(T*)) : object_(object), destroy_(destroy) {}
  Handle(Handle&& other) noexcept
      : object_(std::exchange(other.object_, nullptr)), destroy_(other.destroy_) {}
  Handle& operator=(Handle&& other) noexcept {
    if (this != &other) {
      reset();
      object_ = std::exchange(other.object_, nullptr);
      destroy_ = other.destroy_;
    }
    return *this;
  }
  ~Handle() { reset(); }

  [[nodiscard]] T* get() const { return object_; }
  [[nodiscard]] explicit operator bool() const { return object_ != nullptr; }
  void reset() {
    T* object = std::exchange(object_, nullptr);
    if (object != nullptr && destroy_ != nullptr) {
      destroy_(object);
    }
  }

 private:
  T* object_ = nullptr;
  int (*destroy_)(T*) = nullptr;  // null: borrowed
};

/// An open device.
class Context {
 public:
  /// The device of this name ("mlx5_0"). Where there is none: NB_UNAVAILABLE `rdma-no-device` with
  /// the names there are. Where it cannot be opened: `rdma-open-failed`, see availability.hpp for
  /// why.
  [[nodiscard]] static Result<Context> open(const VerbsTable& verbs, const std::string& device);
  /// A context that another owns (rdma_cm ids have theirs from librdmacm).
  [[nodiscard]] static Context borrow(const VerbsTable& verbs, ibv_context* context);

  [[nodiscard]] const VerbsTable& verbs() const { return *verbs_; }
  [[nodiscard]] ibv_context* get() const { return context_.get(); }
  [[nodiscard]] std::string device() const;
  /// Readable when an asynchronous event waits.
  [[nodiscard]] int async_fd() const { return context_.get()->async_fd; }

 private:
  Context(const VerbsTable& verbs, Handle<ibv_context> context)
      : verbs_(&verbs), context_(std::move(context)) {}
  const VerbsTable* verbs_;
  Handle<ibv_context> context_;
};

/// Names of the devices that have a provider, in the library's order; empty where none.
[[nodiscard]] Result<std::vector<std::string>> device_names(const VerbsTable& verbs);

/// What happened to a device while it was used, most telling first: "device removed", "port 1
/// down". Takes and acknowledges all events that wait, and never blocks. The context's descriptor
/// is made non-blocking.
[[nodiscard]] std::vector<std::string> take_async_events(const Context& context);

class ProtectionDomain {
 public:
  [[nodiscard]] static Result<ProtectionDomain> allocate(const Context& context);
  [[nodiscard]] const VerbsTable& verbs() const { return *verbs_; }
  [[nodiscard]] ibv_pd* get() const { return pd_.get(); }

 private:
  ProtectionDomain(const VerbsTable& verbs, Handle<ibv_pd> pd)
      : verbs_(&verbs), pd_(std::move(pd)) {}
  const VerbsTable* verbs_;
  Handle<ibv_pd> pd_;
};

/// Where a completion queue's events arrive.
class CompletionChannel {
 public:
  [[nodiscard]] static Result<CompletionChannel> create(const Context& context);
  [[nodiscard]] ibv_comp_channel* get() const { return channel_.get(); }
  /// Readable when an event waits; non-blocking.
  [[nodiscard]] int fd() const { return channel_.get()->fd; }
  /// Takes one waiting event, false where none waits. It is acknowledged in groups, since each
  /// acknowledgement takes a lock (ibv_get_cq_event(3)). [io-thread]
  [[nodiscard]] bool take_event() noexcept;

 private:
  friend class CompletionQueue;
  CompletionChannel(const VerbsTable& verbs, Handle<ibv_comp_channel> channel)
      : verbs_(&verbs), channel_(std::move(channel)) {}
  const VerbsTable* verbs_;
  Handle<ibv_comp_channel> channel_;
};

class CompletionQueue {
 public:
  /// At least `entries` completions; `channel` may be null (polling alone) and is for this queue
  /// only.
  [[nodiscard]] static Result<CompletionQueue> create(const Context& context, int entries,
                                                      CompletionChannel* channel = nullptr,
                                                      int vector = 0);
  CompletionQueue(CompletionQueue&&) noexcept = default;
  CompletionQueue& operator=(CompletionQueue&&) noexcept;
  ~CompletionQueue();

  [[nodiscard]] ibv_cq* get() const { return cq_.get(); }
  [[nodiscard]] int capacity() const { return cq_.get()->cqe; }
  /// Counts an event taken from the channel; acknowledges them when many. [io-thread]
  void count_event() noexcept;

 private:
  CompletionQueue(const VerbsTable& verbs, Handle<ibv_cq> cq)
      : verbs_(&verbs), cq_(std::move(cq)) {}
  void acknowledge() noexcept;
  const VerbsTable* verbs_;
  Handle<ibv_cq> cq_;
  unsigned int unacknowledged_ = 0;
};

/// Registered memory; the memory itself belongs to another.
class MemoryRegion {
 public:
  struct Request {
    void* address = nullptr;
    std::size_t bytes = 0;
    int access = IBV_ACCESS_LOCAL_WRITE;  // ibv_access_flags
  };
  /// As Request, of a dma-buf: `iova` has the offset within its page that `offset` has.
  struct DmaBuf {
    int fd = -1;
    std::uint64_t offset = 0;
    std::size_t bytes = 0;
    std::uint64_t iova = 0;
    int access = IBV_ACCESS_LOCAL_WRITE;
  };
  /// Failures say what the errno means here: memlock, an address the kernel cannot pin, no support.
  [[nodiscard]] static Result<MemoryRegion> register_memory(const ProtectionDomain& pd,
                                                            const Request& request);
  [[nodiscard]] static Result<MemoryRegion> register_dmabuf(const ProtectionDomain& pd,
                                                            const DmaBuf& request);

  [[nodiscard]] ibv_mr* get() const { return mr_.get(); }
  [[nodiscard]] std::uint32_t lkey() const { return mr_.get()->lkey; }
  [[nodiscard]] std::uint32_t rkey() const { return mr_.get()->rkey; }
  /// How long the registration took.
  [[nodiscard]] std::chrono::nanoseconds cost() const { return cost_; }

 private:
  MemoryRegion(Handle<ibv_mr> mr, std::chrono::nanoseconds cost)
      : mr_(std::move(mr)), cost_(cost) {}
  Handle<ibv_mr> mr_;
  std::chrono::nanoseconds cost_;
};

/// Whether the provider and kernel register dma-bufs, asked with an invalid descriptor, which needs
/// no GPU: EBADF where they do (as NCCL and UCX ask). False with the reason in `why`.
[[nodiscard]] bool supports_dmabuf(const ProtectionDomain& pd, std::string& why);

enum class QpKind { rc = 0, uc = 1, ud = 2 };
[[nodiscard]] const char* name_of(QpKind kind);  // "RC"
[[nodiscard]] ibv_qp_type qp_type_of(QpKind kind);

class QueuePair {
 public:
  struct Spec {
    QpKind kind = QpKind::rc;
    ibv_cq* send_cq = nullptr;
    ibv_cq* receive_cq = nullptr;
    std::uint32_t send_depth = 1;     // work requests
    std::uint32_t receive_depth = 1;  // work requests
    std::uint32_t inline_bytes = 0;   // at least
    bool signal_all = false;
  };
  /// The attributes that create_qp() of either library takes.
  [[nodiscard]] static ibv_qp_init_attr attributes_of(const Spec& spec);
  [[nodiscard]] static Result<QueuePair> create(const ProtectionDomain& pd, const Spec& spec);
  /// One that rdma_create_qp(3) made and the id owns; `created` as that call left it.
  [[nodiscard]] static QueuePair borrow(const VerbsTable& verbs, ibv_qp* qp, QpKind kind,
                                        const ibv_qp_init_attr& created);

  [[nodiscard]] const VerbsTable& verbs() const { return *verbs_; }
  [[nodiscard]] ibv_qp* get() const { return qp_.get(); }
  [[nodiscard]] QpKind kind() const { return kind_; }
  [[nodiscard]] std::uint32_t number() const { return qp_.get()->qp_num; }
  /// What the provider granted; max_inline_data may be more than was asked for.
  [[nodiscard]] const ibv_qp_cap& granted() const { return granted_; }

 private:
  QueuePair(const VerbsTable& verbs, Handle<ibv_qp> qp, QpKind kind, const ibv_qp_cap& granted)
      : verbs_(&verbs), qp_(std::move(qp)), kind_(kind), granted_(granted) {}
  const VerbsTable* verbs_;
  Handle<ibv_qp> qp_;
  QpKind kind_;
  ibv_qp_cap granted_;
};

/// Creates a queue pair with the most inline bytes up to `wanted` that the device grants, found by
/// halving: no table of devices. Other failures as QueuePair::create().
[[nodiscard]] Result<QueuePair> create_with_inline(const ProtectionDomain& pd, QueuePair::Spec spec,
                                                   std::uint32_t wanted);

/// Whether each write that a peer makes through this queue pair lands in order of address, so that
/// its last byte tells that all is there. Only for memory without relaxed ordering that the CPU
/// reads. False where the library or the provider does not promise it
/// (ibv_query_qp_data_in_order(3)).
[[nodiscard]] bool writes_in_order(const QueuePair& qp);

class AddressHandle {
 public:
  [[nodiscard]] static Result<AddressHandle> create(const ProtectionDomain& pd,
                                                    const ibv_ah_attr& attributes);
  [[nodiscard]] ibv_ah* get() const { return ah_.get(); }

 private:
  explicit AddressHandle(Handle<ibv_ah> ah) : ah_(std::move(ah)) {}
  Handle<ibv_ah> ah_;
};

}  // namespace netbench::rdma
