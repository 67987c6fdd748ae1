#pragma once

#include <span>
#include <string>

#include "bench/core/result.hpp"
#include "bench/plugin/host.hpp"
#include "bench/session/hello.hpp"

namespace netbench::cli {

/// The hello of this process: version, host, boot, and the named plug-ins that load.
[[nodiscard]] session::Hello make_hello(const plugin::PluginHost& plugins,
                                        std::span<const std::string> transports);

}  // namespace netbench::cli
