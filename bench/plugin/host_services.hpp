#pragma once

#include <functional>
#include <map>
#include <string>

#include "transports/abi/nb_transport.h"

namespace netbench::plugin {

/// What the harness offers to a plug-in: its log (to bench/core/log.hpp) and optional services by
/// id. Fill the extensions before the first session; must outlive every session opened with it.
/// Not movable: plug-ins keep the address.
class HostServices {
 public:
  HostServices();
  HostServices(const HostServices&) = delete;
  HostServices& operator=(const HostServices&) = delete;

  /// Offers `service` (a table such as nb_rendezvous, borrowed) as `id`. [control-thread]
  void offer(std::string id, const void* service);

  /// The C view, valid as long as this object. A service gets it back in its calls.
  [[nodiscard]] const nb_host* get() const { return &host_; }

  /// The object behind a C view made by an instance of this class.
  [[nodiscard]] static const HostServices& from(const nb_host* host);

  /// Where a service keeps its own state: the `void*` given with set_state, by id.
  void set_state(std::string id, void* state);
  [[nodiscard]] void* state(const std::string& id) const;

 private:
  nb_host host_{};
  std::map<std::string, const void*, std::less<>> services_;
  std::map<std::string, void*, std::less<>> states_;
};

}  // namespace netbench::plugin
