#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "bench/core/result.hpp"
#include "bench/plan/plan.hpp"
#include "bench/plan/tunable.hpp"
#include "bench/plugin/host_services.hpp"
#include "bench/plugin/report.hpp"
#include "transports/abi/nb_transport.h"

namespace netbench::plugin {

class TransportSession;

enum class Role { initiator, responder };

/// Everything one end needs to open its side of a point.
struct OpenRequest {
  Role role = Role::initiator;
  std::string workload{};
  Direction direction = Direction::none;
  std::int64_t message_bytes = 0;
  std::map<std::string, plan::Level> tunables{};  // names without the transport's prefix
  std::uint64_t seed = 0;                         // the same on both ends
  /// Bytes of a struct sockaddr, as in nb_open_args; may be empty.
  std::vector<std::uint8_t> peer_address{};
  std::vector<std::uint8_t> local_address{};
  std::int64_t deadline_ns = 10'000'000'000;  // for open and connect together
};

/// The request for one end of a planned point.
[[nodiscard]] OpenRequest open_request(const plan::TestPoint& point, Role role, std::uint64_t seed);

/// A loaded, checked transport. Cheap to copy; its table stays mapped until the process ends.
/// Calls are [control-thread].
class Transport {
 public:
  /// Checks the table and copies what it declares. `origin` names it in messages.
  /// Errors: `plugin-version`, `plugin-invalid`.
  [[nodiscard]] static Result<Transport> from_table(const nb_transport* table, std::string origin);

  [[nodiscard]] const std::string& name() const { return spec_->name; }
  [[nodiscard]] const std::string& version() const { return spec_->version; }
  [[nodiscard]] const plan::TransportSpec& spec() const { return *spec_; }

  /// FNV-1a of all workloads and tunables as declared: equal on two hosts if and only if both
  /// understand a plan alike (help texts and default sweeps do not count).
  [[nodiscard]] std::uint64_t tunables_hash() const;

  /// Usable on this host? In this process: see PluginHost::probe_isolated for plug-ins that may
  /// crash. Errors: the plug-in's, slug `transport-unavailable` where it gives none.
  [[nodiscard]] Result<Readings> probe(const HostServices& host) const;

  /// Is the combination legal? Also checks names and ranges against the table.
  /// Errors: `bad-level`, `bad-workload`, or the plug-in's own, naming the tunable.
  [[nodiscard]] Status check(const OpenRequest& request) const;

  /// Opens one end. `host` must outlive the session.
  [[nodiscard]] Result<TransportSession> open(const HostServices& host,
                                              const OpenRequest& request) const;

  [[nodiscard]] const nb_transport* table() const { return table_; }

 private:
  Transport(const nb_transport* table, std::shared_ptr<const plan::TransportSpec> spec)
      : table_(table), spec_(std::move(spec)) {}

  const nb_transport* table_;
  std::shared_ptr<const plan::TransportSpec> spec_;
};

}  // namespace netbench::plugin
