#include "bench/cli/plugins_hello.hpp"

#include <fmt/format.h>

#include "bench/core/log.hpp"

namespace netbench::cli {

session::Hello make_hello(const plugin::PluginHost& plugins,
                          std::span<const std::string> transports) {
  session::Hello hello = session::local_hello(NETBENCH_VERSION);
  for (const std::string& name : transports) {
    const auto transport = plugins.load(name);
    if (!transport) {
      log(LogLevel::warning, to_text(transport.error()));
      continue;
    }
    hello.plugins.push_back({transport->name(), transport->version(),
                             fmt::format("{:016x}", transport->tunables_hash())});
  }
  return hello;
}

}  // namespace netbench::cli
