#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <optional>
#include <string>

#include "bench/plugin/host.hpp"
#include "tests/conformance/built.hpp"

namespace netbench::conformance {

/// A test over one built plug-in; `transport()` is loaded and checked. Tests that open sessions
/// call skip_unless_available() first.
class TransportCase : public testing::TestWithParam<std::filesystem::path> {
 protected:
  void SetUp() override {
    auto loaded = plugin::load_file(GetParam());
    ASSERT_TRUE(loaded) << to_text(loaded.error());
    transport_ = std::move(*loaded);
  }

  [[nodiscard]] const plugin::Transport& transport() const { return *transport_; }

  /// The reason where the plug-in cannot be used here, else empty.
  [[nodiscard]] std::string unavailable() const {
    const plugin::HostServices host;
    const auto readings = transport_->probe(host);
    return readings ? "" : readings.error().message;
  }

 private:
  std::optional<plugin::Transport> transport_;
};

#define SKIP_UNLESS_AVAILABLE()                                    \
  if (const std::string reason = unavailable(); !reason.empty()) { \
    GTEST_SKIP() << reason;                                        \
  }

#define OVER_EVERY_TRANSPORT(suite)                                             \
  INSTANTIATE_TEST_SUITE_P(Built, suite, testing::ValuesIn(built_transports()), \
                           [](const auto& param) { return test_name(param.param); })

}  // namespace netbench::conformance
