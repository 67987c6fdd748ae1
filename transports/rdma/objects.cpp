#include "transports/rdma/objects.hpp"

#include <fcntl.h>

#include <array>
#include <cerrno>
#include <span>

namespace netbench::rdma {
namespace {

/// Acknowledging takes a mutex: in groups (ibv_get_cq_event(3)).
constexpr unsigned int kEventsPerAcknowledgement = 64;

void set_non_blocking(int fd) {
  const int flags = ::fcntl(fd, F_GETFL);
  if (flags >= 0) {
    (void)::fcntl(fd, F_SETFL, flags | O_NONBLOCK);  // refused only for a closed descriptor
  }
}

/// The library's list, given back at the end of the scope.
class DeviceList {
 public:
  explicit DeviceList(const VerbsTable& verbs)
      : verbs_(verbs), list_(verbs.get_device_list(&count_)), errno_(errno) {}
  DeviceList(const DeviceList&) = delete;
  DeviceList& operator=(const DeviceList&) = delete;
  ~DeviceList() {
    if (list_ != nullptr) {
      verbs_.free_device_list(list_);
    }
  }
  [[nodiscard]] bool valid() const { return list_ != nullptr; }
  [[nodiscard]] int sys_errno() const { return errno_; }
  [[nodiscard]] std::span<ibv_device*> devices() const {
    return {list_, static_cast<std::size_t>(count_)};
  }

 private:
  const VerbsTable& verbs_;
  int count_ = 0;
  ibv_device** list_;
  int errno_;
};

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) {
    text += (text.empty() ? "" : ", ") + name;
  }
  return text.empty() ? "none" : text;
}

}  // namespace

Result<std::vector<std::string>> device_names(const VerbsTable& verbs) {
  const DeviceList list(verbs);
  std::vector<std::string> names;
  if (!list.valid()) {
    return list.sys_errno() == ENOSYS  // no ib_uverbs in the kernel: no devices
               ? Result<std::vector<std::string>>(names)
               : fail_errno("rdma-no-device-list", "listing RDMA devices", list.sys_errno());
  }
  for (ibv_device* device : list.devices()) {
    names.emplace_back(verbs.get_device_name(device));
  }
  return names;
}

Result<Context> Context::open(const VerbsTable& verbs, const std::string& device) {
  const DeviceList list(verbs);
  std::vector<std::string> names;
  for (ibv_device* candidate : list.devices()) {
    names.emplace_back(verbs.get_device_name(candidate));
    if (names.back() != device) {
      continue;
    }
    ibv_context* context = verbs.open_device(candidate);
    if (context == nullptr) {
      return fail_errno("rdma-open-failed", "opening RDMA device " + device, errno);
    }
    return Context(verbs, {context, verbs.close_device});
  }
  return fail(NB_UNAVAILABLE, "rdma-no-device",
              "no RDMA device \"" + device + "\"; there are: " + joined(names),
              "choose one of them");
}

Context Context::borrow(const VerbsTable& verbs, ibv_context* context) {
  return {verbs, {context, nullptr}};
}

std::string Context::device() const { return verbs_->get_device_name(context_.get()->device); }

Result<ProtectionDomain> ProtectionDomain::allocate(const Context& context) {
  const VerbsTable& verbs = context.verbs();
  ibv_pd* pd = verbs.alloc_pd(context.get());
  if (pd == nullptr) {
    return fail_errno("rdma-no-protection-domain", "a protection domain on " + context.device(),
                      errno);
  }
  return ProtectionDomain(verbs, {pd, verbs.dealloc_pd});
}

Result<CompletionChannel> CompletionChannel::create(const Context& context) {
  const VerbsTable& verbs = context.verbs();
  ibv_comp_channel* channel = verbs.create_comp_channel(context.get());
  if (channel == nullptr) {
    return fail_errno("rdma-no-channel", "a completion channel on " + context.device(), errno,
                      "raise `ulimit -n`, or use `wait poll`");
  }
  set_non_blocking(channel->fd);
  return CompletionChannel(verbs, {channel, verbs.destroy_comp_channel});
}

bool CompletionChannel::take_event() noexcept {
  ibv_cq* cq = nullptr;
  void* context = nullptr;
  return verbs_->get_cq_event(channel_.get(), &cq, &context) == 0;
}

Result<CompletionQueue> CompletionQueue::create(const Context& context, int entries,
                                                CompletionChannel* channel, int vector) {
  const VerbsTable& verbs = context.verbs();
  ibv_cq* cq = verbs.create_cq(context.get(), entries, nullptr,
                               channel != nullptr ? channel->get() : nullptr, vector);
  if (cq == nullptr) {
    return fail_errno(
        "rdma-no-completion-queue",
        "a completion queue of " + std::to_string(entries) + " entries on " + context.device(),
        errno, "use a smaller tx_depth or fewer queue pairs");
  }
  return CompletionQueue(verbs, {cq, verbs.destroy_cq});
}

CompletionQueue& CompletionQueue::operator=(CompletionQueue&& other) noexcept {
  if (this != &other) {
    acknowledge();
    verbs_ = other.verbs_;
    cq_ = std::move(other.cq_);
    unacknowledged_ = std::exchange(other.unacknowledged_, 0);
  }
  return *this;
}

CompletionQueue::~CompletionQueue() { acknowledge(); }

void CompletionQueue::count_event() noexcept {
  if (++unacknowledged_ >= kEventsPerAcknowledgement) {
    acknowledge();
  }
}

/// ibv_destroy_cq(3) waits for every event that is not acknowledged.
void CompletionQueue::acknowledge() noexcept {
  if (cq_ && unacknowledged_ > 0) {
    verbs_->ack_cq_events(cq_.get(), std::exchange(unacknowledged_, 0));
  }
}

const char* name_of(QpKind kind) {
  static constexpr std::array kNames = {"RC", "UC", "UD"};
  return kNames[static_cast<std::size_t>(kind)];
}

ibv_qp_type qp_type_of(QpKind kind) {
  static constexpr std::array kTypes = {IBV_QPT_RC, IBV_QPT_UC, IBV_QPT_UD};
  return kTypes[static_cast<std::size_t>(kind)];
}

ibv_qp_init_attr QueuePair::attributes_of(const Spec& spec) {
  ibv_qp_init_attr attributes{};
  attributes.send_cq = spec.send_cq;
  attributes.recv_cq = spec.receive_cq;
  attributes.cap.max_send_wr = spec.send_depth;
  attributes.cap.max_recv_wr = spec.receive_depth;
  attributes.cap.max_send_sge = 1;
  attributes.cap.max_recv_sge = 1;
  attributes.cap.max_inline_data = spec.inline_bytes;
  attributes.qp_type = qp_type_of(spec.kind);
  attributes.sq_sig_all = spec.signal_all ? 1 : 0;
  return attributes;
}

Result<QueuePair> QueuePair::create(const ProtectionDomain& pd, const Spec& spec) {
  const VerbsTable& verbs = pd.verbs();
  ibv_qp_init_attr attributes = attributes_of(spec);
  ibv_qp* qp = verbs.create_qp(pd.get(), &attributes);
  if (qp == nullptr) {
    return fail_errno("rdma-no-queue-pair",
                      std::string(name_of(spec.kind)) + " queue pair of " +
                          std::to_string(spec.send_depth) + " send and " +
                          std::to_string(spec.receive_depth) + " receive requests, " +
                          std::to_string(spec.inline_bytes) + " B inline",
                      errno, "use a smaller tx_depth, rx_depth or inline, or fewer queue pairs");
  }
  return QueuePair(verbs, {qp, verbs.destroy_qp}, spec.kind, attributes.cap);
}

QueuePair QueuePair::borrow(const VerbsTable& verbs, ibv_qp* qp, QpKind kind,
                            const ibv_qp_init_attr& created) {
  return {verbs, {qp, nullptr}, kind, created.cap};
}

Result<QueuePair> create_with_inline(const ProtectionDomain& pd, QueuePair::Spec spec,
                                     std::uint32_t wanted) {
  for (spec.inline_bytes = wanted;; spec.inline_bytes /= 2) {
    Result<QueuePair> created = QueuePair::create(pd, spec);
    if (created || spec.inline_bytes == 0) {
      return created;
    }
  }
}

bool writes_in_order(const QueuePair& qp) {
  const auto query = qp.verbs().query_qp_data_in_order;
  return query != nullptr && query(qp.get(), IBV_WR_RDMA_WRITE, 0) == 1;
}

Result<AddressHandle> AddressHandle::create(const ProtectionDomain& pd,
                                            const ibv_ah_attr& attributes) {
  const VerbsTable& verbs = pd.verbs();
  ibv_ah_attr copy = attributes;
  ibv_ah* ah = verbs.create_ah(pd.get(), &copy);
  if (ah == nullptr) {
    return fail_errno("rdma-no-address-handle", "an address handle for the peer", errno,
                      "is the peer reachable from the GID's interface? try `ip neigh`");
  }
  return AddressHandle({ah, verbs.destroy_ah});
}

}  // namespace netbench::rdma
