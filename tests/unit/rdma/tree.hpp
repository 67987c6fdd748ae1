#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace netbench::rdma {

/// A root directory of a test's own, removed at its end.
class Tree {
 public:
  Tree() : root_(std::filesystem::path(::testing::TempDir()) / name()) {
    std::filesystem::remove_all(root_);
    std::filesystem::create_directories(root_);
  }
  Tree(const Tree&) = delete;
  Tree& operator=(const Tree&) = delete;
  ~Tree() { std::filesystem::remove_all(root_); }

  [[nodiscard]] std::string root() const { return root_.string(); }
  Tree& file(const std::string& path, const std::string& text) {
    const std::filesystem::path whole = root_ / path;
    std::filesystem::create_directories(whole.parent_path());
    std::ofstream(whole) << text;
    return *this;
  }

 private:
  static std::string name() {
    const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
    return "rdma." + std::to_string(::getpid()) + "." + test->test_suite_name() + "." +
           test->name();
  }
  std::filesystem::path root_;
};

}  // namespace netbench::rdma
