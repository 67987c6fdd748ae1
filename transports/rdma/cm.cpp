#include "transports/rdma/cm.hpp"

#include <fcntl.h>
#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace netbench::rdma {
namespace {

constexpr std::chrono::milliseconds kSlice{50};

std::vector<std::uint8_t> copied(const void* data, std::size_t bytes) {
  const auto* begin = static_cast<const std::uint8_t*>(data);
  return begin != nullptr ? std::vector<std::uint8_t>(begin, begin + bytes)
                          : std::vector<std::uint8_t>();
}

CmEvent copy_of(const rdma_cm_event& event) {
  CmEvent copy;
  copy.type = event.event;
  copy.status = event.status;
  copy.id = event.id;
  if (event.id->ps == RDMA_PS_UDP) {
    copy.private_data = copied(event.param.ud.private_data, event.param.ud.private_data_len);
    copy.peer_address = event.param.ud.ah_attr;
    copy.peer_number = event.param.ud.qp_num;
    copy.peer_qkey = event.param.ud.qkey;
  } else {
    copy.private_data = copied(event.param.conn.private_data, event.param.conn.private_data_len);
    copy.responder_resources = event.param.conn.responder_resources;
    copy.initiator_depth = event.param.conn.initiator_depth;
  }
  return copy;
}

bool is_of(const CmEvent& event, const rdma_cm_id* id) {
  const bool request = event.type == RDMA_CM_EVENT_CONNECT_REQUEST;
  return id == nullptr ? request : !request && event.id == id;
}

}  // namespace

Result<CmChannel> CmChannel::create(const CmTable& cm) {
  rdma_event_channel* channel = cm.create_event_channel();
  if (channel == nullptr) {
    return fail_errno("rdma-no-cm", "an rdma_cm event channel", errno,
                      "modprobe rdma_ucm; in a container, pass /dev/infiniband/rdma_cm");
  }
  const int flags = ::fcntl(channel->fd, F_GETFL);
  if (flags < 0 || ::fcntl(channel->fd, F_SETFL, flags | O_NONBLOCK) != 0) {
    const int reason = errno;
    cm.destroy_event_channel(channel);
    return fail_errno("rdma-no-cm", "making the rdma_cm event channel non-blocking", reason);
  }
  return CmChannel(cm, channel);
}

CmChannel::CmChannel(CmChannel&& other) noexcept
    : cm_(other.cm_),
      channel_(std::exchange(other.channel_, nullptr)),
      kept_(std::exchange(other.kept_, {})) {}

CmChannel& CmChannel::operator=(CmChannel&& other) noexcept {
  if (this != &other) {
    reset();
    cm_ = other.cm_;
    channel_ = std::exchange(other.channel_, nullptr);
    kept_ = std::exchange(other.kept_, {});
  }
  return *this;
}

CmChannel::~CmChannel() { reset(); }

void CmChannel::reset() noexcept {
  for (const CmEvent& event : kept_) {
    if (event.type == RDMA_CM_EVENT_CONNECT_REQUEST) {
      cm_->destroy_id(event.id);  // nobody took it
    }
  }
  kept_.clear();
  if (channel_ != nullptr) {
    cm_->destroy_event_channel(std::exchange(channel_, nullptr));
  }
}

std::optional<CmEvent> CmChannel::read() {
  rdma_cm_event* event = nullptr;
  if (cm_->get_cm_event(channel_, &event) != 0) {
    return std::nullopt;
  }
  CmEvent copy = copy_of(*event);
  cm_->ack_cm_event(event);
  return copy;
}

std::optional<CmEvent> CmChannel::poll() {
  if (kept_.empty()) {
    return read();
  }
  CmEvent event = std::move(kept_.front());
  kept_.pop_front();
  return event;
}

Result<CmEvent> CmChannel::next(const CmPatience& patience) {
  while (true) {
    if (std::optional<CmEvent> event = poll()) {
      return std::move(*event);
    }
    if (patience.cancelled) {
      return Failure(sdk::cancelled());
    }
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        patience.until - std::chrono::steady_clock::now());
    if (left.count() <= 0) {
      return fail(NB_TIMED_OUT, "rdma-cm-timeout", "rdma_cm: no event within the deadline",
                  "a firewall between the hosts drops RoCE (UDP 4791) or iWARP's TCP");
    }
    pollfd waiting{fd(), POLLIN, 0};
    (void)::poll(&waiting, 1, static_cast<int>(std::min(left, kSlice).count()));
  }
}

Result<CmEvent> CmChannel::next_of(const rdma_cm_id* id, const CmPatience& patience) {
  const auto at =
      std::ranges::find_if(kept_, [id](const CmEvent& event) { return is_of(event, id); });
  if (at != kept_.end()) {
    CmEvent event = std::move(*at);
    kept_.erase(at);
    return event;
  }
  std::deque<CmEvent> others = std::exchange(kept_, {});
  Result<CmEvent> event = next(patience);
  while (event && !is_of(*event, id)) {
    others.push_back(std::move(*event));
    event = next(patience);
  }
  kept_ = std::move(others);
  return event;
}

Result<CmId> CmId::create(CmChannel& channel, QpKind kind) {
  if (kind == QpKind::uc) {
    return fail(NB_INVALID, "rdma-cm-no-uc", "rdma_cm connects RC and UD alone",
                "use `connect exchange` for UC");
  }
  rdma_cm_id* id = nullptr;
  const rdma_port_space space = kind == QpKind::ud ? RDMA_PS_UDP : RDMA_PS_TCP;
  if (channel.cm().create_id(channel.get(), &id, nullptr, space) != 0) {
    return fail_errno("rdma-no-cm", "an rdma_cm id", errno);
  }
  return CmId(channel.cm(), id, kind);
}

CmId CmId::adopt(const CmTable& cm, rdma_cm_id* id, QpKind kind) { return {cm, id, kind}; }

CmId::CmId(CmId&& other) noexcept
    : cm_(other.cm_),
      id_(std::exchange(other.id_, nullptr)),
      kind_(other.kind_),
      has_qp_(std::exchange(other.has_qp_, false)) {}

CmId& CmId::operator=(CmId&& other) noexcept {
  if (this != &other) {
    reset();
    cm_ = other.cm_;
    id_ = std::exchange(other.id_, nullptr);
    kind_ = other.kind_;
    has_qp_ = std::exchange(other.has_qp_, false);
  }
  return *this;
}

CmId::~CmId() { reset(); }

void CmId::reset() noexcept {
  if (std::exchange(has_qp_, false)) {
    cm_->destroy_qp(id_);
  }
  if (id_ != nullptr) {
    cm_->destroy_id(std::exchange(id_, nullptr));
  }
}

Result<QueuePair> CmId::create_qp(const ProtectionDomain& pd, const QueuePair::Spec& spec) {
  ibv_qp_init_attr attributes = QueuePair::attributes_of(spec);
  if (cm_->create_qp(id_, pd.get(), &attributes) != 0) {
    return fail_errno("rdma-no-queue-pair",
                      std::string(name_of(spec.kind)) + " queue pair by rdma_cm of " +
                          std::to_string(spec.send_depth) + " send and " +
                          std::to_string(spec.receive_depth) + " receive requests",
                      errno, "use a smaller tx_depth, rx_depth or inline, or fewer queue pairs");
  }
  has_qp_ = true;
  return QueuePair::borrow(pd.verbs(), id_->qp, spec.kind, attributes);
}

void CmId::disconnect() noexcept { (void)cm_->disconnect(id_); }

}  // namespace netbench::rdma
