#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>

#include "bench/plugin/host.hpp"
#include "tests/conformance/built.hpp"

namespace netbench::conformance {
namespace {

struct Broken {
  const char* name;
  const char* slug;
  const char* part_of_message;
};

class BrokenPlugin : public testing::TestWithParam<Broken> {};

TEST_P(BrokenPlugin, IsRefusedWithAMessage) {
  const plugin::PluginHost host({fake_directory()});
  const auto transport = host.load(GetParam().name);
  ASSERT_FALSE(transport);
  EXPECT_EQ(transport.error().slug, GetParam().slug);
  EXPECT_NE(transport.error().message.find(GetParam().part_of_message), std::string::npos)
      << transport.error().message;
}

TEST_P(BrokenPlugin, IsRefusedByTheIsolatedProbeAlike) {
  const plugin::PluginHost host({fake_directory()});
  const auto report = host.probe_isolated(GetParam().name);
  EXPECT_EQ(report.availability, plugin::Availability::broken);
  EXPECT_EQ(report.error.slug, GetParam().slug);
}

INSTANTIATE_TEST_SUITE_P(
    Fakes, BrokenPlugin,
    testing::Values(Broken{"wrong_size", "plugin-invalid", "bytes, at least"},
                    Broken{"wrong_version", "plugin-version", "version 2"},
                    Broken{"no_symbol", "plugin-invalid", "no symbol nb_transport_entry_v1"},
                    Broken{"no_run", "plugin-invalid", "no \"run\""},
                    Broken{"bad_default", "plugin-invalid", "\"depth\": its default"},
                    Broken{"twice", "plugin-invalid", "\"depth\": it is declared twice"},
                    Broken{"absent", "plugin-missing", "no transport \"absent\""}),
    [](const auto& param) { return std::string(param.param.name); });

TEST(IsolatedProbe, SurvivesAPluginThatCrashes) {
  const auto report = plugin::PluginHost({fake_directory()}).probe_isolated("crash");
  EXPECT_EQ(report.availability, plugin::Availability::broken);
  EXPECT_EQ(report.error.slug, "plugin-crashed");
  EXPECT_NE(report.error.message.find("crashed in its probe (signal 11)"), std::string::npos)
      << report.error.message;
}

TEST(IsolatedProbe, SurvivesAPluginThatExits) {
  const auto report = plugin::PluginHost({fake_directory()}).probe_isolated("exits");
  EXPECT_EQ(report.error.slug, "plugin-crashed");
  EXPECT_NE(report.error.message.find("exit status 7"), std::string::npos) << report.error.message;
}

TEST(IsolatedProbe, EndsAPluginThatHangs) {
  const auto begin = std::chrono::steady_clock::now();
  const auto report =
      plugin::PluginHost({fake_directory()}).probe_isolated("hang", std::chrono::milliseconds(300));
  EXPECT_EQ(report.error.slug, "plugin-hung");
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(2));
}

TEST(IsolatedProbe, GivesTheReasonOfAnUnavailablePlugin) {
  const auto report = plugin::PluginHost({fake_directory()}).probe_isolated("unavailable");
  EXPECT_EQ(report.availability, plugin::Availability::unavailable);
  EXPECT_EQ(report.error.slug, "transport-unavailable");
  EXPECT_NE(report.error.message.find("libfake.so.1 not found"), std::string::npos);
}

TEST(PluginHost, ListsWhatIsThereWithoutLoadingIt) {
  const auto names = plugin::PluginHost({fake_directory()}).names();
  EXPECT_NE(std::ranges::find(names, "crash"), names.end());
  EXPECT_NE(std::ranges::find(names, "no_symbol"), names.end());
}

}  // namespace
}  // namespace netbench::conformance
