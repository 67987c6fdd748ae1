#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

namespace netbench::test {

/// Compares `text` with the file tests/golden/<name>. NETBENCH_UPDATE_GOLDEN=1 in the environment
/// writes the file instead; the change then shows in the diff.
inline void expect_golden(const std::string& text, const std::string& name) {
  const std::string path = std::string(NETBENCH_GOLDEN_FOLDER) + "/" + name;
  const char* update = std::getenv("NETBENCH_UPDATE_GOLDEN");
  if (update != nullptr && std::string(update) == "1") {
    std::ofstream(path, std::ios::binary) << text;
    return;
  }
  std::ostringstream golden;
  golden << std::ifstream(path, std::ios::binary).rdbuf();
  EXPECT_EQ(text, golden.str()) << "differs from " << path
                                << "; NETBENCH_UPDATE_GOLDEN=1 rewrites it";
}

}  // namespace netbench::test
