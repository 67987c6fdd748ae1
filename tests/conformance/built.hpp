#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "bench/plugin/transport.hpp"

namespace netbench::conformance {

/// Shared objects of all transports of this build.
[[nodiscard]] std::vector<std::filesystem::path> built_transports();

/// Directory of the broken plug-ins made for these tests.
[[nodiscard]] std::filesystem::path fake_directory();

/// "netbench_transport_tcp" from its path: the parameter's name in the name of a test.
[[nodiscard]] std::string test_name(const std::filesystem::path& file);

}  // namespace netbench::conformance
