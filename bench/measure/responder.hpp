#pragma once

#include <functional>
#include <string>

#include "bench/core/result.hpp"
#include "bench/plugin/host.hpp"
#include "bench/plugin/host_services.hpp"
#include "bench/session/channel.hpp"
#include "bench/session/messages.hpp"

namespace netbench::measure {

/// What the agent lends to the client it serves. Everything must outlive serve_client().
struct ResponderContext {
  const plugin::PluginHost& plugins;
  const plugin::HostServices& services;
  bool allow_knobs = false;
  /// /proc/sys/kernel/random/boot_id of the client, from its hello.
  std::string client_boot_id;
  /// Its host name, from there too.
  std::string client_host_name;
  /// Undoes what a point set on the listening socket; called after its connections are made and at
  /// the end of each visit.
  std::function<void()> restore_listener;
  /// Allows UDP path probes for this client, and ends that.
  std::function<session::PathProbeReply()> allow_path_probes;
  std::function<void()> forbid_path_probes;
};

/// Serves one client until it says goodbye, goes away or breaks the protocol; every visit, MTU and
/// listener option is given back before it returns. The error says how the client was lost; an
/// orderly end is a success. [control-thread of the agent]
[[nodiscard]] Status serve_client(session::Channel& channel, const ResponderContext& context);

}  // namespace netbench::measure
