#include "bench/plugin/c_bridge.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "bench/plugin/session.hpp"

namespace netbench::plugin {

namespace {

struct StatusSlug {
  const char* slug;
  const char* meaning;
  bool always;  // whatever the plug-in says
};

/// By nb_status.
constexpr std::array<StatusSlug, 7> kStatusSlugs{{
    {kFailed, "failed without a status", false},
    {kUnavailable, "not available on this host", false},
    {kInvalid, "a value or combination that cannot be", false},
    {kFailed, "the operating system or the device refused", false},
    {kTimedOut, "timed out", false},
    {kPeerClosed, "the other end went away", true},
    {kCancelled, "cancelled", true},
}};

/// Text of a fixed array that a plug-in may have left without its zero.
template <std::size_t N>
std::string bounded(const char (&text)[N]) {
  return {text, strnlen(text, N)};
}

nb_direction to_c(Direction direction) {
  switch (direction) {
    case Direction::reverse:
      return NB_REVERSE;
    case Direction::both:
      return NB_BOTH;
    case Direction::none:
    case Direction::forward:
      break;
  }
  return NB_FORWARD;
}

nb_value to_c(const plan::TransportSpec& spec, const std::string& name, const plan::Level& level) {
  const plan::Tunable* tunable = spec.find_tunable(name);
  const bool is_text = tunable != nullptr && tunable->type == plan::ValueType::text;
  return {name.c_str(), level.is_auto ? NB_AUTO : level.number,
          is_text && !level.is_auto ? level.text.c_str() : nullptr};
}

}  // namespace

nb_error empty_error() {
  nb_error error{};
  error.struct_size = sizeof(nb_error);
  return error;
}

Error to_error(nb_status status, const nb_error& error, std::string_view what) {
  const auto index = static_cast<std::size_t>(status);
  const StatusSlug& row = kStatusSlugs[index < kStatusSlugs.size() ? index : 0];
  const std::string slug = bounded(error.slug);
  const std::string message = bounded(error.message);
  return {.slug = row.always || slug.empty() ? row.slug : slug,
          .message = fmt::format("{}: {}", what, message.empty() ? row.meaning : message),
          .remedy = bounded(error.remedy),
          .exit_class = status == NB_INVALID ? ExitClass::usage : ExitClass::error};
}

nb_sink collect_into(Readings& readings) {
  nb_sink sink{};
  sink.struct_size = sizeof(nb_sink);
  sink.context = &readings;
  sink.number = [](void* context, const char* name, double value) {
    static_cast<Readings*>(context)->numbers.insert_or_assign(name, value);
  };
  sink.text = [](void* context, const char* name, const char* value) {
    static_cast<Readings*>(context)->texts.insert_or_assign(name, value == nullptr ? "" : value);
  };
  return sink;
}

OpenArgs::OpenArgs(const plan::TransportSpec& spec, const OpenRequest& request) {
  const auto workload = std::ranges::find(spec.workloads, request.workload, &plan::Workload::name);
  for (const auto& [name, level] : request.tunables) {
    values_.push_back(to_c(spec, name, level));
  }
  args_ = {.struct_size = sizeof(nb_open_args),
           .role = request.role == Role::initiator ? NB_INITIATOR : NB_RESPONDER,
           .workload = static_cast<std::uint32_t>(workload - spec.workloads.begin()),
           .direction = to_c(request.direction),
           .message_bytes = request.message_bytes,
           .values = values_.data(),
           .value_count = values_.size(),
           .seed = request.seed,
           .peer_address = request.peer_address.data(),
           .peer_address_bytes = request.peer_address.size(),
           .local_address = request.local_address.data(),
           .local_address_bytes = request.local_address.size(),
           .deadline_ns = request.deadline_ns};
}

}  // namespace netbench::plugin
