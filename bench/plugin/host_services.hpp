#pragma once

#include <map>
#include <string>
#include <string_view>

#include "transports/abi/nb_transport.h"

namespace netbench::plugin {

/// What the harness offers to a plug-in: its log (to bench/core/log.hpp) and optional services by
/// id. Fill it before the first session; it must outlive every session opened with it. Not movable:
/// plug-ins keep the address.
class HostServices {
 public:
  HostServices();
  HostServices(const HostServices&) = delete;
  HostServices& operator=(const HostServices&) = delete;

  /// Offers `service` (a C table such as nb_rendezvous) as `id`; `state` is what its functions find
  /// with state_of(). Both borrowed; a null service withdraws it. [control-thread]
  void offer(std::string_view id, const void* service, void* state = nullptr);

  /// The C view, valid as long as this object.
  [[nodiscard]] const nb_host* get() const { return &host_; }

  /// For the functions of a service: the state it was offered with. `host` comes from get().
  [[nodiscard]] static void* state_of(const nb_host* host, std::string_view id);

 private:
  struct Service {
    const void* table = nullptr;
    void* state = nullptr;
  };

  [[nodiscard]] static Service service_of(const nb_host* host, std::string_view id);

  nb_host host_{};
  std::map<std::string, Service, std::less<>> services_;
};

}  // namespace netbench::plugin
