#include "tests/conformance/built.hpp"

#include <algorithm>
#include <string_view>

namespace netbench::conformance {

std::vector<std::filesystem::path> built_transports() {
  std::vector<std::filesystem::path> files;
  std::string_view rest = NETBENCH_TRANSPORT_FILES;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find(':'), rest.size());
    files.emplace_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return files;
}

std::filesystem::path fake_directory() { return NETBENCH_FAKE_DIRECTORY; }

std::string test_name(const std::filesystem::path& file) {
  return file.stem().string().substr(std::string_view("netbench_transport_").size());
}

}  // namespace netbench::conformance
