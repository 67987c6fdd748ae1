#include <fmt/format.h>

#include <array>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "bench/model/codec.hpp"
#include "bench/session/body_reader.hpp"
#include "bench/session/messages.hpp"

namespace netbench::session {

namespace {

using Json = nlohmann::json;
using OrderedJson = nlohmann::ordered_json;

OrderedJson encode_level(const plan::Level& level) {
  return {{"number", level.number}, {"text", level.text}, {"auto", level.is_auto}};
}

Result<plan::Level> decode_level(const Json& json) {
  BodyReader reader("level", json);
  plan::Level level;
  level.number = reader.integer("number");
  level.text = reader.text("text");
  level.is_auto = reader.boolean("auto");
  return reader.finish(level);
}

Result<std::map<std::string, plan::Level>> decode_levels(const Json& json) {
  std::map<std::string, plan::Level> levels;
  for (const auto& [name, value] : json.items()) {
    auto level = decode_level(value);
    if (!level) {
      return tl::unexpected(level.error());
    }
    levels.emplace(name, std::move(*level));
  }
  return levels;
}

OrderedJson encode_point(const plan::TestPoint& point) {
  OrderedJson tunables = OrderedJson::object();
  for (const auto& [name, level] : point.tunables) {
    tunables[name] = encode_level(level);
  }
  return {{"transport", point.transport},
          {"workload", point.workload},
          {"pattern", plan::to_string(point.pattern)},
          {"direction", to_string(point.direction)},
          {"message_bytes", point.message_bytes},
          {"tunables", tunables},
          {"mtu_bytes", point.mtu_bytes}};
}

Result<plan::Pattern> decode_pattern(const std::string& text) {
  for (const auto pattern : {plan::Pattern::ping_pong, plan::Pattern::stream,
                             plan::Pattern::collective, plan::Pattern::rate}) {
    if (plan::to_string(pattern) == text) {
      return pattern;
    }
  }
  return misunderstood("open", fmt::format("the pattern \"{}\" is unknown", text));
}

Result<plan::TestPoint> decode_point(const Json& json) {
  BodyReader reader("open", json);
  plan::TestPoint point;
  point.transport = reader.text("transport");
  point.workload = reader.text("workload");
  point.message_bytes = reader.integer("message_bytes");
  point.mtu_bytes = reader.integer("mtu_bytes");
  point.tunables = reader.value("tunables", decode_levels);
  const auto pattern = decode_pattern(reader.text("pattern"));
  const auto direction = parse_direction(reader.text("direction"));
  if (!pattern || !direction) {
    reader.note((pattern ? direction.error() : pattern.error()).message);
    return reader.finish(point);
  }
  point.pattern = *pattern;
  point.direction = *direction;
  return reader.finish(point);
}

OrderedJson body_of(const HostRequest& value) {
  return {{"client_pid", value.client_pid}, {"lldp_wait_ns", value.lldp_wait_ns}};
}
OrderedJson body_of(const HostReply& value) {
  return {{"host", encode(value.host)},
          {"agent_pid", value.agent_pid},
          {"allow_knobs", value.allow_knobs},
          {"knobs_refused_because", value.knobs_refused_because}};
}
OrderedJson body_of(const ClockRequest&) { return OrderedJson::object(); }
OrderedJson body_of(const ClockReply& value) { return {{"utc_ns", value.utc_ns}}; }
OrderedJson body_of(const WitnessRequest& value) {
  return {
      {"client_address", value.client_address}, {"address", value.address}, {"port", value.port}};
}
OrderedJson body_of(const WitnessReply& value) {
  return {{"listens_on", value.listens_on},
          {"way_back", value.way_back},
          {"has_address", value.has_address},
          {"out_rsts", value.out_rsts},
          {"listen_overflows", value.listen_overflows},
          {"reverse_path_drops", value.reverse_path_drops}};
}
OrderedJson body_of(const PathProbeRequest&) { return OrderedJson::object(); }
OrderedJson body_of(const PathProbeReply& value) {
  OrderedJson echo_tokens = OrderedJson::array();
  for (const auto& token : value.echo_tokens) {
    echo_tokens.push_back(to_hex(token));
  }
  return {{"token", to_hex(value.token)},
          {"echo_tokens", echo_tokens},
          {"udp_port", value.udp_port},
          {"note", value.note}};
}
OrderedJson body_of(const MtuRequest& value) {
  return {{"mtu_bytes", value.mtu_bytes}, {"force", value.force}};
}
OrderedJson body_of(const MtuReply& value) {
  return {{"before_bytes", value.before_bytes}, {"now_bytes", value.now_bytes}};
}
OrderedJson body_of(const OpenRequest& value) {
  return {{"point", encode_point(value.point)},
          {"seed", value.seed},
          {"deadline_ns", value.deadline_ns}};
}
OrderedJson body_of(const OpenReply& value) { return {{"blob", to_hex(value.blob)}}; }
OrderedJson body_of(const ConnectRequest& value) { return {{"blob", to_hex(value.blob)}}; }
OrderedJson body_of(const ConnectReply& value) {
  return {{"effective", encode(value.effective)},
          {"notes", value.notes},
          {"capped", value.capped},
          {"method", value.method}};
}
OrderedJson body_of(const StartRequest& value) {
  return {{"min_time_ns", value.min_time_ns},
          {"max_time_ns", value.max_time_ns},
          {"precision", value.precision}};
}
OrderedJson body_of(const StartReply&) { return OrderedJson::object(); }
OrderedJson body_of(const Observed& value) {
  OrderedJson body = OrderedJson::object();
  if (value.stream) {
    body["stream"] = encode(*value.stream);
  }
  if (value.error) {
    body["error"] = encode(*value.error);
  }
  return body;
}
OrderedJson body_of(const StopRequest& value) { return {{"timeout_ns", value.timeout_ns}}; }
OrderedJson body_of(const StopReply& value) {
  return {{"end", encode(value.end)}, {"stop_error", value.stop_error}};
}
OrderedJson body_of(const AbortRequest&) { return OrderedJson::object(); }
OrderedJson body_of(const AbortReply&) { return OrderedJson::object(); }
OrderedJson body_of(const ErrorReply& value) { return {{"error", encode(value.error)}}; }

void read(BodyReader& reader, HostRequest& value) {
  value.client_pid = static_cast<int>(reader.integer("client_pid"));
  value.lldp_wait_ns = reader.integer("lldp_wait_ns");
}
void read(BodyReader& reader, HostReply& value) {
  value.host = reader.value("host", decode_host_info);
  value.agent_pid = static_cast<int>(reader.integer("agent_pid"));
  value.allow_knobs = reader.boolean("allow_knobs");
  value.knobs_refused_because = reader.text("knobs_refused_because");
}
void read(BodyReader&, ClockRequest&) {}
void read(BodyReader& reader, ClockReply& value) { value.utc_ns = reader.integer("utc_ns"); }
void read(BodyReader& reader, WitnessRequest& value) {
  value.client_address = reader.text("client_address");
  value.address = reader.text("address");
  value.port = static_cast<std::uint16_t>(reader.integer("port"));
}
void read(BodyReader& reader, WitnessReply& value) {
  value.listens_on = reader.text("listens_on");
  value.way_back = reader.text("way_back");
  value.has_address = reader.boolean("has_address");
  value.out_rsts = reader.integer("out_rsts");
  value.listen_overflows = reader.integer("listen_overflows");
  value.reverse_path_drops = reader.integer("reverse_path_drops");
}
void read(BodyReader&, PathProbeRequest&) {}
void read(BodyReader& reader, PathProbeReply& value) {
  value.token = reader.hex("token");
  for (const std::string& text : reader.texts("echo_tokens")) {
    value.echo_tokens.push_back(reader.from_hex("echo_tokens", text));
  }
  value.udp_port = static_cast<std::uint16_t>(reader.integer("udp_port"));
  value.note = reader.text("note");
}
void read(BodyReader& reader, MtuRequest& value) {
  value.mtu_bytes = reader.integer("mtu_bytes");
  value.force = reader.boolean("force");
}
void read(BodyReader& reader, MtuReply& value) {
  value.before_bytes = reader.integer("before_bytes");
  value.now_bytes = reader.integer("now_bytes");
}
void read(BodyReader& reader, OpenRequest& value) {
  value.point = reader.value("point", decode_point);
  value.seed = reader.unsigned_integer("seed");
  value.deadline_ns = reader.integer("deadline_ns");
}
void read(BodyReader& reader, OpenReply& value) { value.blob = reader.hex("blob"); }
void read(BodyReader& reader, ConnectRequest& value) { value.blob = reader.hex("blob"); }
void read(BodyReader& reader, ConnectReply& value) {
  value.effective = reader.value("effective", decode_value_map);
  value.notes = reader.texts("notes");
  value.capped = reader.boolean("capped");
  value.method = reader.text("method");
}
void read(BodyReader& reader, StartRequest& value) {
  value.min_time_ns = reader.integer("min_time_ns");
  value.max_time_ns = reader.integer("max_time_ns");
  value.precision = reader.number("precision");
}
void read(BodyReader&, StartReply&) {}
void read(BodyReader& reader, Observed& value) {
  value.stream = reader.optional("stream", decode_stream_record);
  value.error = reader.optional("error", decode_error);
}
void read(BodyReader& reader, StopRequest& value) {
  value.timeout_ns = reader.integer("timeout_ns");
}
void read(BodyReader& reader, StopReply& value) {
  value.end = reader.value("end", decode_end_record);
  value.stop_error = reader.text("stop_error");
}
void read(BodyReader&, AbortRequest&) {}
void read(BodyReader&, AbortReply&) {}
void read(BodyReader& reader, ErrorReply& value) {
  value.error = reader.value("error", decode_error);
}

template <class T>
Result<T> read_message(const Message& message) {
  const auto body = parse_json_text(message.body);
  if (!body) {
    return misunderstood(message.type, body.error().message);
  }
  if (!body->is_object()) {
    return misunderstood(message.type, "its body is not an object");
  }
  BodyReader reader(message.type, *body);
  T value{};
  read(reader, value);
  return reader.finish(std::move(value));
}

// Types of the messages on the wire.
const char* name_of(const HostRequest&) { return "host_request"; }
const char* name_of(const HostReply&) { return "host"; }
const char* name_of(const ClockRequest&) { return "clock_request"; }
const char* name_of(const ClockReply&) { return "clock"; }
const char* name_of(const WitnessRequest&) { return "witness_request"; }
const char* name_of(const WitnessReply&) { return "witness"; }
const char* name_of(const PathProbeRequest&) { return "path_probe_request"; }
const char* name_of(const PathProbeReply&) { return "path_probe"; }
const char* name_of(const MtuRequest&) { return "mtu_request"; }
const char* name_of(const MtuReply&) { return "mtu"; }
const char* name_of(const OpenRequest&) { return "open"; }
const char* name_of(const OpenReply&) { return "opened"; }
const char* name_of(const ConnectRequest&) { return "connect"; }
const char* name_of(const ConnectReply&) { return "connected"; }
const char* name_of(const StartRequest&) { return "start"; }
const char* name_of(const StartReply&) { return "started"; }
const char* name_of(const Observed&) { return "observed"; }
const char* name_of(const StopRequest&) { return "stop"; }
const char* name_of(const StopReply&) { return "stopped"; }
const char* name_of(const AbortRequest&) { return "abort"; }
const char* name_of(const AbortReply&) { return "aborted"; }
const char* name_of(const ErrorReply&) { return "error"; }

}  // namespace

template <class T>
Message Codec<T>::encode(const T& value) {
  return {name_of(value), to_json_text(body_of(value))};
}

template <class T>
Result<T> Codec<T>::decode(const Message& message) {
  if (message.type == name_of(T{})) {
    return read_message<T>(message);
  }
  if (message.type == name_of(ErrorReply{})) {
    auto reply = read_message<ErrorReply>(message);
    return tl::unexpected(reply ? reply->error : reply.error());
  }
  return misunderstood(message.type, fmt::format("a \"{}\" was due", name_of(T{})));
}

template <class T>
bool Codec<T>::matches(const Message& message) {
  return message.type == name_of(T{});
}

template struct Codec<HostRequest>;
template struct Codec<HostReply>;
template struct Codec<ClockRequest>;
template struct Codec<ClockReply>;
template struct Codec<WitnessRequest>;
template struct Codec<WitnessReply>;
template struct Codec<PathProbeRequest>;
template struct Codec<PathProbeReply>;
template struct Codec<MtuRequest>;
template struct Codec<MtuReply>;
template struct Codec<OpenRequest>;
template struct Codec<OpenReply>;
template struct Codec<ConnectRequest>;
template struct Codec<ConnectReply>;
template struct Codec<StartRequest>;
template struct Codec<StartReply>;
template struct Codec<Observed>;
template struct Codec<StopRequest>;
template struct Codec<StopReply>;
template struct Codec<AbortRequest>;
template struct Codec<AbortReply>;
template struct Codec<ErrorReply>;

}  // namespace netbench::session
