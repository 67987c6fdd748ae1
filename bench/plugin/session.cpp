#include "bench/plugin/session.hpp"

#include <fmt/format.h>

#include <utility>

#include "bench/plugin/c_bridge.hpp"

namespace netbench::plugin {

namespace {

constexpr std::size_t kMaxBlobBytes = 64 * 1024;  // nb_blob in nb_transport.h

/// Where effective values are collected, with the table that says what a number means.
struct EffectiveContext {
  const plan::TransportSpec& spec;
  std::vector<EffectiveValue> values;
};

plan::Level effective_level(const plan::TransportSpec& spec, const char* name, std::int64_t number,
                            const char* text) {
  if (number == NB_AUTO) {
    return plan::Level::automatic();
  }
  plan::Level level{number, text == nullptr ? "" : text, false};
  const plan::Tunable* tunable = spec.find_tunable(name);
  if (level.text.empty() && tunable != nullptr && tunable->type == plan::ValueType::boolean) {
    level.text = number != 0 ? "on" : "off";
  }
  return level;
}

nb_effective_sink collect_into(EffectiveContext& values) {
  nb_effective_sink sink{};
  sink.struct_size = sizeof(nb_effective_sink);
  sink.context = &values;
  sink.value = [](void* context, const char* name, std::int64_t number, const char* text,
                  std::uint32_t flags, const char* note) {
    auto& into = *static_cast<EffectiveContext*>(context);
    into.values.push_back({.name = name,
                           .level = effective_level(into.spec, name, number, text),
                           .capped = (flags & NB_EFFECTIVE_CAPPED) != 0,
                           .note = note == nullptr ? "" : note});
  };
  return sink;
}

Status to_status(const Transport& transport, nb_status status, const nb_error& error,
                 const char* call) {
  if (status == NB_OK) {
    return {};
  }
  return tl::unexpected(to_error(status, error, fmt::format("{}: {}", transport.name(), call)));
}

}  // namespace

Result<Blob> TransportSession::describe() {
  nb_blob blob{};
  nb_error error = empty_error();
  const nb_status status = transport_.table()->describe(session_.get(), &blob, &error);
  if (auto done = to_status(transport_, status, error, "describe"); !done) {
    return tl::unexpected(done.error());
  }
  if (blob.size > kMaxBlobBytes || (blob.data == nullptr && blob.size != 0)) {
    return fail("plugin-invalid",
                fmt::format("{} describes itself with {} bytes, at most {} can be",
                            transport_.name(), blob.size, kMaxBlobBytes));
  }
  return blob.size == 0 ? Blob{} : Blob(blob.data, blob.data + blob.size);
}

Status TransportSession::connect(const Blob& peer) { return connect(std::span(&peer, 1)); }

Status TransportSession::connect(std::span<const Blob> peers) {
  std::vector<nb_blob> blobs;
  blobs.reserve(peers.size());
  for (const Blob& peer : peers) {
    blobs.push_back({peer.data(), peer.size()});
  }
  nb_error error = empty_error();
  const nb_status status =
      transport_.table()->connect(session_.get(), blobs.data(), blobs.size(), &error);
  return to_status(transport_, status, error, "connect");
}

Result<std::vector<EffectiveValue>> TransportSession::effective() {
  EffectiveContext values{transport_.spec(), {}};
  const nb_effective_sink sink = collect_into(values);
  nb_error error = empty_error();
  const nb_status status = transport_.table()->effective(session_.get(), &sink, &error);
  if (auto done = to_status(transport_, status, error, "effective values"); !done) {
    return tl::unexpected(done.error());
  }
  return std::move(values.values);
}

std::string TransportSession::method() {
  const char* text = transport_.table()->method(session_.get());
  return text == nullptr ? "" : text;
}

Result<BatchResult> TransportSession::run(const Batch& batch, std::span<std::uint64_t> samples_ns) {
  const nb_batch request{sizeof(nb_batch), batch.iterations, batch.duration_ns};
  nb_batch_result result{};
  result.struct_size = sizeof(nb_batch_result);
  result.samples_ns = samples_ns.data();
  result.sample_capacity = samples_ns.size();
  nb_error error = empty_error();
  const nb_status status = transport_.table()->run(session_.get(), &request, &result, &error);
  if (auto done = to_status(transport_, status, error, "run"); !done) {
    return tl::unexpected(done.error());
  }
  return BatchResult{.sample_count = result.sample_count,
                     .bytes = result.bytes,
                     .messages = result.messages,
                     .begin_ns = result.begin_ns,
                     .end_ns = result.end_ns};
}

Status TransportSession::stop(std::int64_t timeout_ns) {
  nb_error error = empty_error();
  const nb_status status = transport_.table()->stop(session_.get(), timeout_ns, &error);
  return to_status(transport_, status, error, "stop");
}

void TransportSession::cancel() { transport_.table()->cancel(session_.get()); }

Result<Readings> TransportSession::counters() {
  Readings readings;
  const nb_sink sink = plugin::collect_into(readings);
  nb_error error = empty_error();
  const nb_status status = transport_.table()->counters(session_.get(), &sink, &error);
  if (auto done = to_status(transport_, status, error, "counters"); !done) {
    return tl::unexpected(done.error());
  }
  return readings;
}

}  // namespace netbench::plugin
