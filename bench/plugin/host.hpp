#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "bench/core/clock.hpp"
#include "bench/core/result.hpp"
#include "bench/plugin/report.hpp"
#include "bench/plugin/transport.hpp"

namespace netbench::plugin {

/// Where plug-ins are looked for, first wins: each of $NETBENCH_TRANSPORT_PATH (colon-separated),
/// `transports` beside the binary, ../lib*/netbench/transports from the binary, the install's
/// libdir.
[[nodiscard]] std::vector<std::filesystem::path> default_directories();

/// Finds `netbench_transport_<name>.so` and loads it when asked. Plug-ins are never unloaded
/// (dlclose is unsafe with CUDA, NCCL and thread-local destructors).
class PluginHost {
 public:
  explicit PluginHost(std::vector<std::filesystem::path> directories = default_directories());

  /// Names of all plug-ins found, sorted; nothing is loaded.
  [[nodiscard]] std::vector<std::string> names() const;

  /// Errors: `plugin-missing`, naming what is there and where it was looked for.
  [[nodiscard]] Result<std::filesystem::path> find(std::string_view name) const;

  /// Opens with RTLD_NOW|RTLD_LOCAL|RTLD_NODELETE and checks size, version and table.
  /// Errors: `plugin-missing`, `plugin-unloadable`, `plugin-version`, `plugin-invalid`.
  [[nodiscard]] Result<Transport> load(std::string_view name) const;

  /// Loads and probes in a child process, so that a plug-in that crashes or hangs costs nothing but
  /// `limit`: `plugin-crashed` "crashed in its probe (signal 11)", `plugin-hung`.
  /// Call before threads are started.
  [[nodiscard]] ProbeReport probe_isolated(std::string_view name,
                                           Nanoseconds limit = std::chrono::seconds(2)) const;

 private:
  std::vector<std::filesystem::path> directories_;
};

/// Opens one shared object. Errors as PluginHost::load.
[[nodiscard]] Result<Transport> load_file(const std::filesystem::path& file);

}  // namespace netbench::plugin
