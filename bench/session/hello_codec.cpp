#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "bench/session/hello.hpp"

namespace netbench::session {

namespace {

using Json = nlohmann::json;

constexpr std::size_t kMaxText = 256;
constexpr std::size_t kMaxMessage = 1000;
constexpr std::size_t kMaxPlugins = 64;

std::optional<Json> parse_object(const Message& message) {
  Json json = Json::parse(message.body, nullptr, false);
  return json.is_object() ? std::optional(std::move(json)) : std::nullopt;
}

std::string text_of(const Json& json, const char* key, std::size_t limit = kMaxText) {
  const auto found = json.find(key);
  return found != json.end() && found->is_string()
             ? printable(found->get_ref<const std::string&>(), limit)
             : std::string();
}

bool flag_of(const Json& json, const char* key) {
  const auto found = json.find(key);
  return found != json.end() && found->is_boolean() && found->get<bool>();
}

std::optional<int> number_of(const Json& json, const char* key) {
  const auto found = json.find(key);
  if (found == json.end() || !found->is_number_integer()) {
    return std::nullopt;
  }
  const auto value = found->get<std::int64_t>();
  return value >= 0 && value <= 1'000'000 ? std::optional(static_cast<int>(value)) : std::nullopt;
}

tl::unexpected<Error> bad_message(const Message& message) {
  return fail("bad-message", fmt::format("the message \"{}\" cannot be read: \"{}\"",
                                         printable(message.type), printable(message.body)));
}

std::vector<Hello::Plugin> plugins_of(const Json& json) {
  std::vector<Hello::Plugin> plugins;
  const auto found = json.find("plugins");
  if (found == json.end() || !found->is_array()) {
    return plugins;
  }
  for (const Json& entry : *found) {
    if (entry.is_object() && plugins.size() < kMaxPlugins) {
      plugins.push_back(
          {text_of(entry, "name"), text_of(entry, "version"), text_of(entry, "tunables_hash")});
    }
  }
  return plugins;
}

// Texts of this host (a host name, an error) need not be UTF-8: what is not, is replaced.
std::string dump(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

Message encode_hello(const Hello& hello) {
  Json plugins = Json::array();
  for (const Hello::Plugin& plugin : hello.plugins) {
    plugins.push_back({{"name", plugin.name},
                       {"version", plugin.version},
                       {"tunables_hash", plugin.tunables_hash}});
  }
  return {kHelloType, dump({{"protocol", hello.protocol},
                            {"version", hello.version},
                            {"host_name", hello.host_name},
                            {"plugins", std::move(plugins)},
                            {"no_wait", hello.no_wait},
                            {"allow_knobs", hello.allow_knobs},
                            {"insecure", hello.insecure},
                            {"boot_id", hello.boot_id}})};
}

Message encode_queued(const Queued& queued) {
  return {kQueuedType, dump({{"position", queued.position}, {"holder", queued.holder}})};
}

Message encode_refused(const Error& error) {
  return {kRefusedType,
          dump({{"slug", error.slug}, {"message", error.message}, {"remedy", error.remedy}})};
}

Result<Hello> decode_hello(const Message& message) {
  const auto json = parse_object(message);
  const auto protocol = json ? number_of(*json, "protocol") : std::nullopt;
  if (message.type != kHelloType || !protocol) {
    return bad_message(message);
  }
  Hello hello;
  hello.protocol = *protocol;
  hello.version = text_of(*json, "version");
  hello.host_name = text_of(*json, "host_name");
  hello.plugins = plugins_of(*json);
  hello.no_wait = flag_of(*json, "no_wait");
  hello.allow_knobs = flag_of(*json, "allow_knobs");
  hello.insecure = flag_of(*json, "insecure");
  hello.boot_id = text_of(*json, "boot_id");
  return hello;
}

Result<Queued> decode_queued(const Message& message) {
  const auto json = parse_object(message);
  const auto position = json ? number_of(*json, "position") : std::nullopt;
  if (message.type != kQueuedType || !position) {
    return bad_message(message);
  }
  return Queued{*position, text_of(*json, "holder")};
}

Error decode_refused(const Message& message) {
  const auto json = parse_object(message);
  const std::string slug = json ? text_of(*json, "slug", 40) : std::string();
  if (slug.empty()) {
    return Error{"agent-refused",
                 "the agent refused without a readable reason",
                 {},
                 ExitClass::nothing_measured};
  }
  return Error{slug, text_of(*json, "message", kMaxMessage), text_of(*json, "remedy", kMaxMessage),
               ExitClass::nothing_measured};
}

}  // namespace netbench::session
