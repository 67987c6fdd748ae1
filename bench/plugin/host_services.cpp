#include "bench/plugin/host_services.hpp"

#include <algorithm>

#include "bench/core/log.hpp"

namespace netbench::plugin {

namespace {

void log_from_plugin(const nb_host* /*host*/, int level, const char* text) {
  if (text != nullptr) {
    log(static_cast<LogLevel>(std::clamp(level, 0, static_cast<int>(LogLevel::debug))), text);
  }
}

}  // namespace

HostServices::HostServices() {
  host_.struct_size = sizeof(nb_host);
  host_.context = this;
  host_.log = log_from_plugin;
  host_.extension = [](const nb_host* host, const char* id) -> const void* {
    return id == nullptr ? nullptr : service_of(host, id).table;
  };
}

void HostServices::offer(std::string_view id, const void* service, void* state) {
  services_.insert_or_assign(std::string(id), Service{service, state});
}

void* HostServices::state_of(const nb_host* host, std::string_view id) {
  return service_of(host, id).state;
}

HostServices::Service HostServices::service_of(const nb_host* host, std::string_view id) {
  const auto& services = static_cast<const HostServices*>(host->context)->services_;
  const auto found = services.find(id);
  return found == services.end() ? Service{} : found->second;
}

}  // namespace netbench::plugin
