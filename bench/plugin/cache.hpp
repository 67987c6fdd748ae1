#pragma once

#include <map>
#include <string>

#include "bench/core/result.hpp"
#include "bench/plugin/host.hpp"
#include "bench/plugin/transport.hpp"

namespace netbench::plugin {

/// Transports by name, each loaded once. [one thread at a time]
class TransportCache {
 public:
  /// `host` must outlive this object.
  explicit TransportCache(const PluginHost& host) : host_(host) {}

  /// Errors: as PluginHost::load(); a failure is tried again next time.
  [[nodiscard]] Result<Transport> get(const std::string& name) {
    if (const auto found = loaded_.find(name); found != loaded_.end()) {
      return found->second;
    }
    auto loaded = host_.load(name);
    if (loaded) {
      loaded_.emplace(name, *loaded);
    }
    return loaded;
  }

 private:
  const PluginHost& host_;
  std::map<std::string, Transport> loaded_;
};

}  // namespace netbench::plugin
