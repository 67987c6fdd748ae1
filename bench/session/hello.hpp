#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/core/result.hpp"
#include "bench/session/frame.hpp"

namespace netbench::session {

/// Version of the control protocol. Ends with different ones do not talk.
inline constexpr int kProtocol = 1;

/// What each end says about itself first.
struct Hello {
  struct Plugin {
    std::string name;
    std::string version;
    std::string tunables_hash;  // of the plug-in's workload and tunable tables
  };

  int protocol = kProtocol;
  std::string version;  // of netbench, "0.1.0"
  std::string host_name;
  std::vector<Plugin> plugins;
  bool no_wait = false;      // client: refuse instead of queueing
  bool allow_knobs = false;  // agent: host settings may be changed
  bool insecure = false;     // this end was started without a key
  std::string boot_id;       // /proc/sys/kernel/random/boot_id: equal on one machine
};

/// A hello of this host and boot, without plug-ins.
[[nodiscard]] Hello local_hello(std::string version);

/// `version-mismatch`, naming both versions, unless the protocols agree. `peer` is "the agent on
/// …".
[[nodiscard]] Status check_protocol(const Hello& own, const Hello& other, const std::string& peer);

/// `plugin-mismatch`, naming the plug-in and both versions, where they differ in version or tables.
[[nodiscard]] Status compare_plugins(const Hello::Plugin& own, const Hello::Plugin& other);
/// As above, by name; also where the other end, called `peer`, lacks the plug-in.
[[nodiscard]] Status compare_plugins(const Hello& own, const Hello& other, const std::string& name,
                                     const std::string& peer);

// Messages of the session itself. Bodies are JSON objects; unknown members are ignored.
inline constexpr const char* kHelloType = "hello";
inline constexpr const char* kQueuedType = "queued";
inline constexpr const char* kRefusedType = "refused";
inline constexpr const char* kHeartbeatType = "heartbeat";

struct Queued {
  int position = 1;    // 1 = next
  std::string holder;  // who holds the agent, "10.0.0.7 (node7)"
};

[[nodiscard]] Message encode_hello(const Hello& hello);
[[nodiscard]] Message encode_queued(const Queued& queued);
[[nodiscard]] Message encode_refused(const Error& error);

/// Errors: `bad-message`. Texts of the other end come out printable and bounded in length; only
/// `protocol` and `version` are needed, so that the versions of any two ends can be compared.
[[nodiscard]] Result<Hello> decode_hello(const Message& message);
[[nodiscard]] Result<Queued> decode_queued(const Message& message);
/// The error that the other end refused with, exit class nothing_measured.
[[nodiscard]] Error decode_refused(const Message& message);

}  // namespace netbench::session
