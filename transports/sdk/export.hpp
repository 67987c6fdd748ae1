#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <type_traits>

#include "transports/abi/nb_transport.h"
#include "transports/sdk/error.hpp"
#include "transports/sdk/host.hpp"
#include "transports/sdk/values.hpp"

/// From a C++ class to the C table. A plug-in is
///   struct Tcp {
///     using Session = TcpSession;                       // see TransportSession
///     static constexpr const char* kName = "tcp";       // also kSummary, kVersion
///     static constexpr nb_workload kWorkloads[] = {…};  // rows by table.hpp
///     static constexpr nb_tunable kTunables[] = {…};
///     static void probe(Host, Sink);                    // throws NB_UNAVAILABLE with the reason
///     static void check(const nb_open_args&);           // throws NB_INVALID naming the tunable
///     static std::unique_ptr<Session> open(Host, const nb_open_args&);
///   };
///   NB_EXPORT_TRANSPORT(Tcp)
/// Everything reports failure by throwing sdk::Error (any other exception becomes NB_FAILED).
/// Workload index, message size, direction and values are validated before check() and open() are
/// called. A class may add `static const void* extension(const char* id)`.
namespace netbench::sdk {

/// One end of one point; the threads of each call are those of nb_transport.
template <class S>
concept TransportSession = requires(S& session, std::span<const nb_blob> peers,
                                    EffectiveSink effective, Sink sink, const nb_batch& batch,
                                    nb_batch_result& result, std::int64_t timeout_ns) {
  { session.describe() } -> std::same_as<nb_blob>;
  { session.connect(peers) } -> std::same_as<void>;
  { session.effective(effective) } -> std::same_as<void>;
  { session.method() } -> std::same_as<const char*>;
  { session.run(batch, result) } -> std::same_as<void>;
  { session.stop(timeout_ns) } -> std::same_as<void>;
  { session.cancel() }
  noexcept->std::same_as<void>;
  { session.counters(sink) } -> std::same_as<void>;
};

template <class T>
concept Transport = TransportSession<typename T::Session> &&
    requires(Host host, Sink sink, const nb_open_args& args) {
  { T::kName } -> std::convertible_to<const char*>;
  { T::kSummary } -> std::convertible_to<const char*>;
  { T::kVersion } -> std::convertible_to<const char*>;
  {std::span<const nb_workload>(T::kWorkloads)};
  {std::span<const nb_tunable>(T::kTunables)};
  { T::probe(host, sink) } -> std::same_as<void>;
  { T::check(args) } -> std::same_as<void>;
  { T::open(host, args) } -> std::same_as<std::unique_ptr<typename T::Session>>;
};

/// The rules every transport shares: workload, message size and direction are in the tables, and
/// every value is inside its row. Throws NB_INVALID.
inline void validate_open_args(std::span<const nb_workload> workloads,
                               std::span<const nb_tunable> tunables, const nb_open_args& args) {
  if (!NB_HAS(nb_open_args, &args, deadline_ns)) {
    throw Error(NB_INVALID, "abi-mismatch", "nb_open_args is too short",
                "build the harness and the plug-in from the same release");
  }
  if (args.workload >= workloads.size()) {
    throw Error(
        NB_INVALID, "unknown-workload",
        "workload " + std::to_string(args.workload) + " of " + std::to_string(workloads.size()));
  }
  const nb_workload& workload = workloads[args.workload];
  if (args.message_bytes < workload.min_message_bytes ||
      args.message_bytes > workload.max_message_bytes) {
    throw Error(NB_INVALID, "invalid-message-size",
                "message size " + std::to_string(args.message_bytes) + " B is outside " +
                    std::to_string(workload.min_message_bytes) + ".." +
                    std::to_string(workload.max_message_bytes) + " of " + workload.name);
  }
  const auto direction = static_cast<std::uint32_t>(args.direction);
  if (workload.directions != 0 &&
      (!std::has_single_bit(direction) || (workload.directions & direction) == 0)) {
    throw Error(NB_INVALID, "invalid-direction",
                "direction " + std::to_string(direction) + " of " + workload.name);
  }
  Values(tunables, args).validate();
}

namespace detail {

template <Transport T>
struct Thunks {
  using Session = typename T::Session;

  static Session& from(nb_session* session) { return *reinterpret_cast<Session*>(session); }

  static nb_status probe(const nb_host* host, const nb_sink* sink, nb_error* error) {
    return guarded(error, [&] { T::probe(Host(host), Sink(sink)); });
  }
  static nb_status check(const nb_open_args* args, nb_error* error) {
    return guarded(error, [&] {
      validate_open_args(T::kWorkloads, T::kTunables, *args);
      T::check(*args);
    });
  }
  static nb_status open(const nb_host* host, const nb_open_args* args, nb_session** session,
                        nb_error* error) {
    *session = nullptr;
    return guarded(error, [&] {
      validate_open_args(T::kWorkloads, T::kTunables, *args);
      *session = reinterpret_cast<nb_session*>(T::open(Host(host), *args).release());
    });
  }
  static nb_status describe(nb_session* session, nb_blob* blob, nb_error* error) {
    return guarded(error, [&] { *blob = from(session).describe(); });
  }
  static nb_status connect(nb_session* session, const nb_blob* peers, std::size_t peer_count,
                           nb_error* error) {
    return guarded(error, [&] { from(session).connect(std::span(peers, peer_count)); });
  }
  static nb_status effective(nb_session* session, const nb_effective_sink* sink, nb_error* error) {
    return guarded(error, [&] { from(session).effective(EffectiveSink(sink)); });
  }
  static const char* method(nb_session* session) {
    const char* text = "";
    const nb_status status = guarded(nullptr, [&] { text = from(session).method(); });
    return status == NB_OK ? text : "";
  }
  static nb_status run(nb_session* session, const nb_batch* batch, nb_batch_result* result,
                       nb_error* error) {
    return guarded(error, [&] { from(session).run(*batch, *result); });
  }
  static nb_status stop(nb_session* session, std::int64_t timeout_ns, nb_error* error) {
    return guarded(error, [&] { from(session).stop(timeout_ns); });
  }
  static void cancel(nb_session* session) { from(session).cancel(); }
  static nb_status counters(nb_session* session, const nb_sink* sink, nb_error* error) {
    return guarded(error, [&] { from(session).counters(Sink(sink)); });
  }
  static void close(nb_session* session) {
    const std::unique_ptr<Session> owned(reinterpret_cast<Session*>(session));
  }
  static const void* extension(const char* id) {
    if constexpr (requires { T::extension(id); }) {
      return T::extension(id);
    } else {
      return nullptr;
    }
  }
};

}  // namespace detail

/// The C table of T, a constant.
template <Transport T>
[[nodiscard]] constexpr nb_transport make_table() {
  using Calls = detail::Thunks<T>;
  return {sizeof(nb_transport),
          NB_ABI_VERSION,
          T::kName,
          T::kSummary,
          T::kVersion,
          std::data(T::kWorkloads),
          std::size(T::kWorkloads),
          std::data(T::kTunables),
          std::size(T::kTunables),
          &Calls::probe,
          &Calls::check,
          &Calls::open,
          &Calls::describe,
          &Calls::connect,
          &Calls::effective,
          &Calls::method,
          &Calls::run,
          &Calls::stop,
          &Calls::cancel,
          &Calls::counters,
          &Calls::close,
          &Calls::extension};
}

}  // namespace netbench::sdk

/// Defines the plug-in's one exported symbol; once in a shared object, at namespace scope.
#define NB_EXPORT_TRANSPORT(T)                                                            \
  extern "C" {                                                                            \
  __attribute__((visibility("default"))) extern const nb_transport nb_transport_entry_v1; \
  constinit const nb_transport nb_transport_entry_v1 = ::netbench::sdk::make_table<T>();  \
  }
