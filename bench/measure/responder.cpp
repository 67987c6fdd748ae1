#include "bench/measure/responder.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <optional>
#include <utility>

#include "bench/core/clock.hpp"
#include "bench/core/log.hpp"
#include "bench/facts/host_facts.hpp"
#include "bench/facts/network_reader.hpp"
#include "bench/facts/witness.hpp"
#include "bench/measure/end_meter.hpp"
#include "bench/measure/interface_mtu.hpp"
#include "bench/measure/visit_end.hpp"
#include "bench/plugin/cache.hpp"
#include "bench/session/clock_offset.hpp"

namespace netbench::measure {

namespace {

/// A client that asks nothing for this long has forgotten the agent; heartbeats alone do not hold
/// it. Longer than any visit.
constexpr Nanoseconds kIdleLimit = std::chrono::minutes(10);

std::vector<std::uint8_t> bytes_of(const session::SocketAddress& address) {
  const auto* begin = reinterpret_cast<const std::uint8_t*>(&address.storage);
  return {begin, begin + address.size};
}

class Responder {
 public:
  Responder(session::Channel& channel, const ResponderContext& context)
      : channel_(channel), context_(context), transports_(context.plugins) {}

  ~Responder() {
    drop_visit();
    if (context_.forbid_path_probes) {
      context_.forbid_path_probes();
    }
  }
  Responder(const Responder&) = delete;
  Responder& operator=(const Responder&) = delete;

  [[nodiscard]] Status serve() {
    while (true) {
      const auto message = channel_.receive(Deadline::after(kIdleLimit));
      if (!message) {
        return message.error().slug == "peer-closed" ? Status{} : tl::unexpected(message.error());
      }
      if (auto sent = channel_.send(answer(*message)); !sent) {
        return sent;
      }
    }
  }

 private:
  using Answer = Result<session::Message>;

  [[nodiscard]] session::Message answer(const session::Message& message) {
    const Answer reply = dispatch(message);
    return reply ? *reply : session::to_message(session::ErrorReply{reply.error()});
  }

  [[nodiscard]] Answer dispatch(const session::Message& message) {
    struct Row {
      bool (*matches)(const session::Message&);
      Answer (Responder::*handle)(const session::Message&);
    };
    static constexpr std::array<Row, 10> kRows{
        {{session::Codec<session::HostRequest>::matches, &Responder::describe_host},
         {session::Codec<session::ClockRequest>::matches, &Responder::tell_time},
         {session::Codec<session::WitnessRequest>::matches, &Responder::bear_witness},
         {session::Codec<session::PathProbeRequest>::matches, &Responder::allow_path_probes},
         {session::Codec<session::MtuRequest>::matches, &Responder::set_mtu},
         {session::Codec<session::OpenRequest>::matches, &Responder::open},
         {session::Codec<session::ConnectRequest>::matches, &Responder::connect},
         {session::Codec<session::StartRequest>::matches, &Responder::start},
         {session::Codec<session::StopRequest>::matches, &Responder::stop},
         {session::Codec<session::AbortRequest>::matches, &Responder::abort}}};
    for (const Row& row : kRows) {
      if (row.matches(message)) {
        return (this->*row.handle)(message);
      }
    }
    return fail("protocol", fmt::format("the agent does not know \"{}\"", message.type),
                "Use the same version of netbench on both hosts.");
  }

  [[nodiscard]] Answer describe_host(const session::Message& message) {
    const auto request = session::from_message<session::HostRequest>(message);
    if (!request) {
      return tl::unexpected(request.error());
    }
    constexpr Nanoseconds kLongestWait = std::chrono::minutes(2);
    facts::CollectOptions options = facts::options_towards(
        channel_.local().host(), channel_.peer().host(), context_.client_host_name);
    options.lldp_wait =
        std::clamp(Nanoseconds(request->lldp_wait_ns), Nanoseconds(0), kLongestWait);
    session::HostReply reply;
    reply.host = facts::collect_host(options);
    reply.agent_pid = ::getpid();
    reply.allow_knobs = context_.allow_knobs;
    interface_ = reply.host.interface;
    std::vector<int> known;
    if (!reply.host.boot_id.empty() && reply.host.boot_id == context_.client_boot_id) {
      known.push_back(request->client_pid);
    }
    meter_.emplace(interface_, known);
    mtu_.emplace(interface_, context_.allow_knobs);
    reply.knobs_refused_because = mtu_->refusal();
    return session::to_message(reply);
  }

  [[nodiscard]] Answer tell_time(const session::Message&) {
    return session::to_message(session::ClockReply{session::realtime_ns()});
  }

  [[nodiscard]] Answer bear_witness(const session::Message& message) {
    const auto request = session::from_message<session::WitnessRequest>(message);
    if (!request) {
      return tl::unexpected(request.error());
    }
    const auto network = facts::open_kernel_network();
    if (!network) {
      return tl::unexpected(network.error());
    }
    const facts::Witness seen = facts::look_as_witness(
        {request->client_address, request->address, request->port}, **network);
    return session::to_message(
        session::WitnessReply{seen.listens_on, seen.way_back, seen.has_address, seen.out_rsts,
                              seen.listen_overflows, seen.reverse_path_drops});
  }

  [[nodiscard]] Answer allow_path_probes(const session::Message&) {
    session::PathProbeReply reply;
    reply.note = "the agent has no UDP socket";
    return session::to_message(context_.allow_path_probes ? context_.allow_path_probes() : reply);
  }

  [[nodiscard]] Answer set_mtu(const session::Message& message) {
    const auto request = session::from_message<session::MtuRequest>(message);
    if (!request) {
      return tl::unexpected(request.error());
    }
    if (!mtu_) {
      return fail("protocol", "the MTU was asked for before the host");
    }
    const auto change = mtu_->set(request->mtu_bytes, request->force);
    if (!change) {
      return tl::unexpected(change.error());
    }
    return session::to_message(session::MtuReply{change->before_bytes, change->now_bytes});
  }

  [[nodiscard]] Answer open(const session::Message& message) {
    auto request = session::from_message<session::OpenRequest>(message);
    if (!request) {
      return tl::unexpected(request.error());
    }
    drop_visit();
    const auto transport = transports_.get(request->point.transport);
    if (!transport) {
      return tl::unexpected(transport.error());
    }
    auto open = plugin::open_request(request->point, plugin::Role::responder, request->seed);
    open.peer_address = bytes_of(channel_.peer());
    open.local_address = bytes_of(channel_.local());
    open.deadline_ns = request->deadline_ns;
    auto session = transport->open(context_.services, open);
    if (!session) {
      return tl::unexpected(session.error());
    }
    duty_ = duty_of(plugin::Role::responder, request->point.pattern, request->point.direction);
    end_ = std::make_unique<VisitEnd>(std::move(*session), transport->spec(), duty_);
    auto blob = end_->describe();
    if (!blob) {
      return tl::unexpected(blob.error());
    }
    return session::to_message(session::OpenReply{std::move(*blob)});
  }

  [[nodiscard]] Answer connect(const session::Message& message) {
    auto request = session::from_message<session::ConnectRequest>(message);
    if (!request || !end_) {
      return request ? no_visit() : Answer(tl::unexpected(request.error()));
    }
    const Status connected = end_->connect(request->blob);
    if (context_.restore_listener) {
      context_.restore_listener();
    }
    if (!connected) {
      return tl::unexpected(connected.error());
    }
    auto effective = end_->effective();
    if (!effective) {
      return tl::unexpected(effective.error());
    }
    return session::to_message(session::ConnectReply{std::move(effective->values),
                                                     std::move(effective->notes), effective->capped,
                                                     effective->method});
  }

  [[nodiscard]] Answer start(const session::Message& message) {
    const auto request = session::from_message<session::StartRequest>(message);
    if (!request || !end_ || !meter_) {
      return request ? no_visit() : Answer(tl::unexpected(request.error()));
    }
    end_->begin(*meter_);
    end_->start({request->min_time_ns, request->max_time_ns, request->precision},
                [this](const Observation& seen) { report(seen); });
    return session::to_message(session::StartReply{});
  }

  /// On the io thread, once, when the duty has ended.
  void report(const Observation& seen) {
    if (!seen.stream && !seen.error) {
      return;
    }
    if (auto sent = channel_.send(session::to_message(session::Observed{seen.stream, seen.error}));
        !sent) {
      log(LogLevel::debug, to_text(sent.error()));
    }
  }

  [[nodiscard]] Answer stop(const session::Message& message) {
    const auto request = session::from_message<session::StopRequest>(message);
    if (!request || !end_) {
      return request ? no_visit() : Answer(tl::unexpected(request.error()));
    }
    VisitEnd::Ending ending = end_->stop(request->timeout_ns);
    end_.reset();
    return session::to_message(session::StopReply{
        std::move(ending.record), ending.error ? ending.error->message : std::string()});
  }

  [[nodiscard]] Answer abort(const session::Message&) {
    drop_visit();
    return session::to_message(session::AbortReply{});
  }

  [[nodiscard]] static Answer no_visit() {
    return fail("protocol", "there is no open visit for this request");
  }

  void drop_visit() {
    if (end_) {
      end_->cancel();
      end_.reset();
    }
    if (context_.restore_listener) {
      context_.restore_listener();
    }
  }

  session::Channel& channel_;
  const ResponderContext& context_;
  std::string interface_;
  std::optional<HostMeter> meter_;
  std::optional<InterfaceMtu> mtu_;
  plugin::TransportCache transports_;
  Duty duty_ = Duty::serve;
  std::unique_ptr<VisitEnd> end_;
};

}  // namespace

Status serve_client(session::Channel& channel, const ResponderContext& context) {
  return Responder(channel, context).serve();
}

}  // namespace netbench::measure
