#include "bench/facts/text_files.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "bench/facts/counters.hpp"
#include "bench/facts/host_facts.hpp"

namespace netbench::facts {
namespace {

/// A recorded tree of one's own.
class TextFile : public testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directories(root_ + "/proc/net"); }
  void TearDown() override { std::filesystem::remove_all(root_); }

  [[nodiscard]] std::string why_not(const std::string& path) const {
    const auto text = read_text_file(root_, path);
    return text ? "was read" : text.error().message;
  }

  const std::string root_ = fmt::format("{}netbench-text-{}", testing::TempDir(), ::getpid());
};

TEST_F(TextFile, ThatIsAPipeIsNotWaitedFor) {
  ASSERT_EQ(::mkfifo((root_ + "/proc/stat").c_str(), 0600), 0);
  EXPECT_EQ(why_not("/proc/stat"), "/proc/stat: not a regular file");
}

TEST_F(TextFile, ThatIsADeviceOrAFolderIsNotRead) {
  for (const char* device : {"/dev/zero", "/dev/random", "/dev/tty"}) {
    const std::string link = root_ + "/proc/stat";
    std::filesystem::create_symlink(device, link);
    EXPECT_NE(why_not("/proc/stat"), "was read") << device;
    std::filesystem::remove(link);
  }
  EXPECT_EQ(why_not("/proc/net"), "/proc/net: not a regular file");
}

TEST_F(TextFile, IsReadUpToItsLimitAndNotBeyond) {
  std::ofstream(root_ + "/proc/stat") << "x";
  std::filesystem::resize_file(root_ + "/proc/stat", kMostFileBytes);
  EXPECT_EQ(read_text_file(root_, "/proc/stat").value().size(), kMostFileBytes);
  std::filesystem::resize_file(root_ + "/proc/stat", kMostFileBytes + 1);
  EXPECT_EQ(why_not("/proc/stat"), "/proc/stat: larger than 4 MiB");
}

TEST_F(TextFile, OfTheKernelIsRegular) {
  EXPECT_FALSE(read_line_file("/", "/proc/sys/kernel/osrelease").value().empty());
}

TEST_F(TextFile, ThatNeverEndsIsAnUnknownFact) {
  std::filesystem::create_directories(root_ + "/proc/sys/kernel");
  std::filesystem::create_symlink("/dev/zero", root_ + "/proc/sys/kernel/hostname");
  ASSERT_EQ(::mkfifo((root_ + "/proc/sys/kernel/osrelease").c_str(), 0600), 0);
  CollectOptions options;
  options.root = root_;
  const HostInfo host = collect_host(options);
  for (const char* key : {"host.name", "kernel.release"}) {
    const Fact* fact = find_fact(host, key);
    ASSERT_NE(fact, nullptr) << key;
    EXPECT_NE(fact->unknown_because.find("not a regular file"), std::string::npos) << key;
  }
}

TEST_F(TextFile, ThatNeverEndsIsAMissingCounter) {
  ASSERT_EQ(::mkfifo((root_ + "/proc/stat").c_str(), 0600), 0);
  std::filesystem::create_symlink("/dev/zero", root_ + "/proc/net/snmp");
  SnapshotOptions options;
  options.root = root_;
  const Snapshot snapshot = take_snapshot(options);
  EXPECT_TRUE(snapshot.snmp.empty());
  EXPECT_TRUE(snapshot.stat.empty());
  EXPECT_GE(snapshot.missing.size(), 2U);
}

}  // namespace
}  // namespace netbench::facts
