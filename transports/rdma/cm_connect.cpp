#include <algorithm>
#include <array>
#include <cerrno>
#include <string>

#include "transports/rdma/cm.hpp"

namespace netbench::rdma {
namespace {

struct EventText {
  rdma_cm_event_type type;
  const char* slug;
  const char* meaning;
  const char* remedy;
};

constexpr std::array kFailures = {
    EventText{RDMA_CM_EVENT_ADDR_ERROR, "rdma-cm-address",
              "no RDMA device leads to the address, or it has no neighbour entry",
              "ping it from the device's interface; see `rdma link` and `ip route get`"},
    EventText{RDMA_CM_EVENT_ROUTE_ERROR, "rdma-cm-route", "no RDMA route to the address",
              "on Infiniband: does the subnet manager know both ports?"},
    EventText{RDMA_CM_EVENT_CONNECT_ERROR, "rdma-cm-connect", "the connection failed",
              "see the peer's log"},
    EventText{RDMA_CM_EVENT_UNREACHABLE, "rdma-cm-unreachable", "the peer does not answer",
              "a firewall between the hosts drops RoCE (UDP 4791) or iWARP's TCP"},
    EventText{RDMA_CM_EVENT_REJECTED, "rdma-cm-rejected", "the peer refused the connection",
              "nobody listens there, or the peer's device refuses the parameters"},
    EventText{RDMA_CM_EVENT_DEVICE_REMOVAL, "rdma-device-removed", "the device was removed", ""},
    EventText{RDMA_CM_EVENT_DISCONNECTED, "rdma-cm-disconnected", "the peer disconnected",
              "see the peer's log"},
};

/// A datagram service that is refused comes as "unreachable" with the reason of the peer's answer
/// (IBTA 1.4, 12.11.2.2), a peer that does not answer with a negative errno.
rdma_cm_event_type kind_of(const CmEvent& event) {
  const bool answered = event.type == RDMA_CM_EVENT_UNREACHABLE && event.status > 0;
  return answered ? RDMA_CM_EVENT_REJECTED : event.type;
}

Failure unexpected(const CmEvent& event, const std::string& step) {
  const auto* row = std::ranges::find(kFailures, kind_of(event), &EventText::type);
  const std::string status = " (status " + std::to_string(event.status) + ")";
  if (row == kFailures.end()) {
    return fail(NB_FAILED, "rdma-cm-unexpected",
                "rdma_cm " + step + ": event " + std::to_string(event.type) + status);
  }
  const bool gone = event.type == RDMA_CM_EVENT_DISCONNECTED;
  return fail(gone ? NB_PEER_CLOSED : NB_FAILED, row->slug,
              "rdma_cm " + step + ": " + row->meaning + status, row->remedy,
              event.status < 0 ? -event.status : 0);
}

/// Waits for `wanted` of `id`; any other event of it is a failure.
Result<CmEvent> expect(CmChannel& channel, const CmId& id, rdma_cm_event_type wanted,
                       const std::string& step, const CmPatience& patience) {
  Result<CmEvent> event = channel.next_of(id.get(), patience);
  if (event && event->type != wanted) {
    return unexpected(*event, step);
  }
  if (!event && event.error().status() == NB_TIMED_OUT) {
    return fail(NB_TIMED_OUT, event.error().slug(),
                "rdma_cm " + step + ": no answer within the deadline", event.error().remedy());
  }
  return event;
}

/// For one of several steps: less than what is left, so that the kernel's answer comes before our
/// own deadline.
int step_milliseconds(const CmPatience& patience) {
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
      patience.until - std::chrono::steady_clock::now());
  return static_cast<int>(std::clamp<std::int64_t>(left.count() * 3 / 4, 1, 60'000));
}

rdma_conn_param parameters_of(const CmParameters& parameters, const QueuePair& qp) {
  rdma_conn_param made{};
  made.private_data = parameters.private_data.data();
  made.private_data_len = static_cast<std::uint8_t>(parameters.private_data.size());
  made.responder_resources = parameters.responder_resources;
  made.initiator_depth = parameters.initiator_depth;
  made.retry_count = parameters.retries;
  made.rnr_retry_count = parameters.rnr_retries;
  made.qp_num = qp.number();
  return made;
}

Result<void> set_byte(CmId& id, int name, const std::optional<std::uint8_t>& value,
                      const char* tunable) {
  if (!value) {
    return {};
  }
  std::uint8_t byte = *value;
  if (id.cm().set_option(id.get(), RDMA_OPTION_ID, name, &byte, sizeof byte) != 0) {
    return fail_errno("rdma-cm-option",
                      std::string(tunable) + " " + std::to_string(byte) + " on an rdma_cm id",
                      errno, std::string("leave ") + tunable + " at auto");
  }
  return {};
}

sdk::Address with_port(sdk::Address address, std::uint16_t port) {
  if (address.family() == AF_INET) {
    reinterpret_cast<sockaddr_in*>(&address.storage)->sin_port = htons(port);
  } else {
    reinterpret_cast<sockaddr_in6*>(&address.storage)->sin6_port = htons(port);
  }
  return address;
}

sdk::Address any_of(sa_family_t family) {
  sdk::Address any;
  any.storage.ss_family = family;
  any.length = family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6);
  return any;
}

sockaddr* mutable_of(sdk::Address& address) {
  return address.length > 0 ? reinterpret_cast<sockaddr*>(&address.storage) : nullptr;
}

/// For its own address family alone, so that both may have the same port.
Result<CmId> listening_id(CmChannel& channel, QpKind kind, sdk::Address address, int backlog) {
  Result<CmId> id = CmId::create(channel, kind);
  if (!id) {
    return id;
  }
  int alone = 1;
  const CmTable& cm = channel.cm();
  if (cm.set_option(id->get(), RDMA_OPTION_ID, RDMA_OPTION_ID_AFONLY, &alone, sizeof alone) != 0 ||
      cm.bind_addr(id->get(), mutable_of(address)) != 0) {
    return fail_errno("rdma-cm-bind", "binding rdma_cm to " + address.text(), errno,
                      "does an RDMA device lie on the interface with this address?");
  }
  if (cm.listen(id->get(), backlog) != 0) {
    return fail_errno("rdma-cm-listen", "listening with rdma_cm on " + address.text(), errno);
  }
  return id;
}

}  // namespace

Result<void> set_options(CmId& id, const CmOptions& options) {
  const bool acknowledged = id.kind() != QpKind::ud;  // the kernel refuses it for datagrams
  return set_byte(id, RDMA_OPTION_ID_TOS, options.traffic_class, "traffic_class").and_then([&] {
    return acknowledged
               ? set_byte(id, RDMA_OPTION_ID_ACK_TIMEOUT, options.ack_timeout, "ack_timeout")
               : Result<void>();
  });
}

Result<CmListener> listen(CmChannel& channel, QpKind kind, const sdk::Address& address,
                          int backlog) {
  Result<CmId> id = listening_id(channel, kind, with_port(address, 0), backlog);
  if (!id) {
    return Failure(id.error());
  }
  CmListener listener;
  listener.port = ntohs(channel.cm().get_src_port(id->get()));
  listener.ids.push_back(std::move(*id));
  return listener;
}

Result<CmListener> listen_anywhere(CmChannel& channel, QpKind kind, int backlog) {
  Result<CmListener> listener = listen(channel, kind, any_of(AF_INET), backlog);
  if (!listener) {
    return listen(channel, kind, any_of(AF_INET6), backlog);
  }
  Result<CmId> second =
      listening_id(channel, kind, with_port(any_of(AF_INET6), listener->port), backlog);
  if (second) {
    listener->ids.push_back(std::move(*second));
  }
  return listener;
}

Result<CmEvent> next_request(CmChannel& channel, const CmPatience& patience) {
  return channel.next_of(nullptr, patience);
}

Result<void> accept(CmChannel& channel, CmId& id, const QueuePair& qp,
                    const CmParameters& parameters, const CmPatience& patience) {
  rdma_conn_param made = parameters_of(parameters, qp);
  if (channel.cm().accept(id.get(), &made) != 0) {
    return fail_errno("rdma-cm-accept", "accepting an rdma_cm connection", errno,
                      "choose `read_depth auto`");
  }
  if (id.kind() == QpKind::ud) {
    return {};
  }
  return expect(channel, id, RDMA_CM_EVENT_ESTABLISHED, "accept", patience).map([](const auto&) {});
}

Result<void> resolve(CmChannel& channel, CmId& id, const sdk::Address& local,
                     const sdk::Address& peer, const CmPatience& patience) {
  sdk::Address source = local.length > 0 ? with_port(local, 0) : local;
  sdk::Address destination = peer;
  const std::string way = "to " + peer.text();
  if (channel.cm().resolve_addr(id.get(), mutable_of(source), mutable_of(destination),
                                step_milliseconds(patience)) != 0) {
    return fail_errno("rdma-cm-address", "rdma_cm address " + way, errno,
                      "does an RDMA device lie on the interface that leads there?");
  }
  Result<CmEvent> event =
      expect(channel, id, RDMA_CM_EVENT_ADDR_RESOLVED, "address " + way, patience);
  if (!event) {
    return Failure(event.error());
  }
  if (channel.cm().resolve_route(id.get(), step_milliseconds(patience)) != 0) {
    return fail_errno("rdma-cm-route", "rdma_cm route " + way, errno);
  }
  return expect(channel, id, RDMA_CM_EVENT_ROUTE_RESOLVED, "route " + way, patience)
      .map([](const auto&) {});
}

Result<CmEvent> connect(CmChannel& channel, CmId& id, const QueuePair& qp,
                        const CmParameters& parameters, const CmPatience& patience) {
  rdma_conn_param made = parameters_of(parameters, qp);
  if (channel.cm().connect(id.get(), &made) != 0) {
    const int reason = errno;
    return reason == ECONNREFUSED  // iWARP drivers tell it at once
               ? fail_errno("rdma-cm-rejected", "rdma_cm connect: nobody listens there", reason)
               : fail_errno("rdma-cm-connect", "rdma_cm connect", reason,
                            "choose `read_depth auto`");
  }
  return expect(channel, id, RDMA_CM_EVENT_ESTABLISHED, "connect", patience);
}

}  // namespace netbench::rdma
