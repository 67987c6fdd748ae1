#pragma once

#include <memory>
#include <string>

#include "bench/core/unique_fd.hpp"

namespace netbench::facts {

/// A network namespace of its own that lives as long as this object and the sockets made in it; it
/// has no name, so nothing stays behind. The calling thread moves in and out.
class Namespace {
 public:
  /// Why tests cannot have namespaces here, "" if they can.
  [[nodiscard]] static std::string why_not();

  Namespace();  // with lo up

  /// Runs the shell command inside; fails the test if it does.
  void run(const std::string& command) const;
  /// What the command prints.
  [[nodiscard]] std::string output_of(const std::string& command) const;
  /// A path by which ip(8) can name this namespace.
  [[nodiscard]] std::string path() const;

  /// Inside while it lives.
  class Stay {
   public:
    explicit Stay(const Namespace& there);
    Stay(const Stay&) = delete;
    Stay& operator=(const Stay&) = delete;
    ~Stay();

   private:
    UniqueFd back_;
  };

 private:
  UniqueFd handle_;
};

/// A test that cannot have namespaces is skipped and says why.
#define SKIP_WITHOUT_NAMESPACES()                            \
  if (const auto why = Namespace::why_not(); !why.empty()) { \
    GTEST_SKIP() << why;                                     \
  }

}  // namespace netbench::facts
