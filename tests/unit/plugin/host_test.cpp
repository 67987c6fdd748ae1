#include "bench/plugin/host.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>

namespace netbench::plugin {
namespace {

namespace fs = std::filesystem;

/// A directory of empty files, removed at the end.
class Directory {
 public:
  Directory() {
    std::string name = fs::temp_directory_path() / "netbench-plugin-XXXXXX";
    path_ = mkdtemp(name.data());
  }
  Directory(const Directory&) = delete;
  Directory& operator=(const Directory&) = delete;
  ~Directory() { fs::remove_all(path_); }

  void add(const std::string& file) const { std::ofstream(path_ / file) << "not a library"; }
  [[nodiscard]] const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

TEST(PluginHostNames, AreThoseOfMatchingFilesSorted) {
  const Directory directory;
  for (const char* file : {"netbench_transport_udp.so", "netbench_transport_tcp.so",
                           "netbench_transport_.so", "libother.so", "netbench_transport_x.txt"}) {
    directory.add(file);
  }
  EXPECT_EQ(PluginHost({directory.path()}).names(), (std::vector<std::string>{"tcp", "udp"}));
}

TEST(PluginHostFind, PrefersTheFirstDirectory) {
  const Directory first;
  const Directory second;
  first.add("netbench_transport_tcp.so");
  second.add("netbench_transport_tcp.so");
  const auto found = PluginHost({first.path(), second.path()}).find("tcp");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->parent_path(), first.path());
}

TEST(PluginHostFind, NamesTheNearestWhereThereIsNone) {
  const Directory directory;
  directory.add("netbench_transport_verbs.so");
  const auto found = PluginHost({directory.path()}).find("verb");
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().slug, "plugin-missing");
  EXPECT_NE(found.error().message.find("did you mean \"verbs\""), std::string::npos);
  EXPECT_NE(found.error().remedy.find(directory.path().string()), std::string::npos);
}

TEST(PluginHostFind, DoesNotLeaveItsDirectories) {
  const Directory directory;
  directory.add("netbench_transport_tcp.so");
  EXPECT_FALSE(PluginHost({directory.path()}).find("x/../../tcp"));
}

TEST(PluginHostLoad, RefusesAFileThatIsNoLibrary) {
  const Directory directory;
  directory.add("netbench_transport_tcp.so");
  const auto transport = PluginHost({directory.path()}).load("tcp");
  ASSERT_FALSE(transport);
  EXPECT_EQ(transport.error().slug, "plugin-unloadable");
  EXPECT_NE(transport.error().message.find("netbench_transport_tcp.so"), std::string::npos);
}

TEST(DefaultDirectories, BeginWithTheEnvironmentAndHaveTheOneBesideTheBinary) {
  setenv("NETBENCH_TRANSPORT_PATH", "/first:/second::", 1);
  const auto directories = default_directories();
  unsetenv("NETBENCH_TRANSPORT_PATH");
  ASSERT_GE(directories.size(), 4U);
  EXPECT_EQ(directories[0], "/first");
  EXPECT_EQ(directories[1], "/second");
  EXPECT_EQ(directories[2], fs::read_symlink("/proc/self/exe").parent_path() / "transports");
  EXPECT_NE(std::ranges::find(directories, fs::path("/usr/local/lib/netbench/transports")),
            directories.end());
}

}  // namespace
}  // namespace netbench::plugin
