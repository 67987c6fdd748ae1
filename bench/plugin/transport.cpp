#include "bench/plugin/transport.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "bench/plan/levels.hpp"
#include "bench/plugin/c_bridge.hpp"
#include "bench/plugin/session.hpp"
#include "bench/plugin/table_check.hpp"

namespace netbench::plugin {

namespace {

/// FNV-1a, 64 bit (draft-eastlake-fnv, section 5); fields are separated by a byte no text has.
class Fnv1a {
 public:
  void add(std::string_view text) {
    for (const char c : text) {
      add_byte(static_cast<unsigned char>(c));
    }
    add_byte(0xff);
  }
  void add(std::int64_t number) { add(fmt::format("{}", number)); }
  [[nodiscard]] std::uint64_t value() const { return hash_; }

 private:
  void add_byte(unsigned char byte) {
    hash_ ^= byte;
    hash_ *= 0x100000001b3ULL;
  }
  std::uint64_t hash_ = 0xcbf29ce484222325ULL;
};

void add_workload(Fnv1a& hash, const plan::Workload& workload) {
  hash.add(workload.name);
  hash.add(static_cast<std::int64_t>(workload.pattern));
  for (const Direction direction : workload.directions) {
    hash.add(static_cast<std::int64_t>(direction));
  }
  hash.add(workload.min_message_bytes);
  hash.add(workload.max_message_bytes);
}

void add_tunable(Fnv1a& hash, const plan::Tunable& tunable) {
  hash.add(tunable.name);
  hash.add(plan::to_string(tunable.type));
  hash.add(plan::to_string(tunable.unit));
  hash.add(plan::to_string(tunable.scope));
  hash.add(tunable.allows_auto ? "auto" : "");
  hash.add(tunable.minimum);
  hash.add(tunable.maximum);
  hash.add(plan::to_string(tunable.default_level));
  for (const plan::Choice& choice : tunable.choices) {
    hash.add(choice.name);
  }
  for (const std::string& workload : tunable.workloads) {
    hash.add(workload);
  }
}

Status check_level(const plan::TransportSpec& spec, const std::string& name,
                   const plan::Level& level) {
  const plan::Tunable* tunable = spec.find_tunable(name);
  if (tunable == nullptr) {
    return fail("bad-tunable", fmt::format("{} has no tunable \"{}\"", spec.name, name), {},
                ExitClass::usage);
  }
  if (tunable->type == plan::ValueType::text) {
    return {};
  }
  const auto again = plan::parse_level(*tunable, plan::to_string(level, tunable->unit));
  return again ? Status{} : tl::unexpected(again.error());
}

Status check_request(const plan::TransportSpec& spec, const OpenRequest& request) {
  if (spec.find_workload(request.workload) == nullptr) {
    return fail("bad-workload",
                fmt::format("{} has no workload \"{}\"", spec.name, request.workload), {},
                ExitClass::usage);
  }
  for (const auto& [name, level] : request.tunables) {
    if (auto legal = check_level(spec, name, level); !legal) {
      return legal;
    }
  }
  return {};
}

}  // namespace

OpenRequest open_request(const plan::TestPoint& point, Role role, std::uint64_t seed) {
  return {.role = role,
          .workload = point.workload,
          .direction = point.direction,
          .message_bytes = point.message_bytes,
          .tunables = point.tunables,
          .seed = seed};
}

Result<Transport> Transport::from_table(const nb_transport* table, std::string origin) {
  if (auto sound = check_layout(table, origin); !sound) {
    return tl::unexpected(sound.error());
  }
  auto spec = std::make_shared<const plan::TransportSpec>(copy_spec(*table));
  if (auto sound = check_spec(*spec, origin); !sound) {
    return tl::unexpected(sound.error());
  }
  return Transport(table, std::move(spec));
}

std::uint64_t Transport::tunables_hash() const {
  Fnv1a hash;
  hash.add(spec_->name);
  std::ranges::for_each(spec_->workloads, [&](const auto& row) { add_workload(hash, row); });
  std::ranges::for_each(spec_->tunables, [&](const auto& row) { add_tunable(hash, row); });
  return hash.value();
}

Result<Readings> Transport::probe(const HostServices& host) const {
  Readings readings;
  const nb_sink sink = collect_into(readings);
  nb_error error = empty_error();
  const nb_status status = table_->probe(host.get(), &sink, &error);
  if (status != NB_OK) {
    return tl::unexpected(to_error(status, error, name()));
  }
  return readings;
}

Status Transport::check(const OpenRequest& request) const {
  if (auto legal = check_request(*spec_, request); !legal) {
    return legal;
  }
  const OpenArgs args(*spec_, request);
  nb_error error = empty_error();
  const nb_status status = table_->check(args.get(), &error);
  return status == NB_OK ? Status{} : tl::unexpected(to_error(status, error, name()));
}

Result<TransportSession> Transport::open(const HostServices& host,
                                         const OpenRequest& request) const {
  if (auto legal = check_request(*spec_, request); !legal) {
    return tl::unexpected(legal.error());
  }
  const OpenArgs args(*spec_, request);
  nb_session* session = nullptr;
  nb_error error = empty_error();
  const nb_status status = table_->open(host.get(), args.get(), &session, &error);
  if (status != NB_OK || session == nullptr) {
    return tl::unexpected(to_error(status == NB_OK ? NB_FAILED : status, error, name() + ": open"));
  }
  return TransportSession(*this, session);
}

}  // namespace netbench::plugin
