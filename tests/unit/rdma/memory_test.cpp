#include "transports/rdma/memory.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>

namespace netbench::rdma {
namespace {

static_assert(Memory<HostMemory>);

TEST(HostMemory, IsZeroAndOfWholePages) {
  const HostMemory memory = take(HostMemory::allocate({.bytes = 5000}));
  EXPECT_GE(memory.bytes(), 5000U);
  EXPECT_EQ(memory.bytes() % static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)), 0U);
  EXPECT_TRUE(std::ranges::all_of(memory.span(), [](std::byte b) { return b == std::byte{}; }));
  EXPECT_TRUE(memory.description().starts_with("host, "));
}

TEST(HostMemory, GivesBackWhatWasWritten) {
  HostMemory memory = take(HostMemory::allocate({.bytes = 4096}));
  constexpr std::array kText = {std::byte{1}, std::byte{2}, std::byte{3}};
  ASSERT_TRUE(memory.write(100, kText));
  std::array<std::byte, 3> read{};
  ASSERT_TRUE(memory.read(100, read));
  EXPECT_EQ(read, kText);
  ASSERT_TRUE(memory.fill(100, 2, std::byte{9}));
  ASSERT_TRUE(memory.read(100, read));
  EXPECT_EQ(read, (std::array{std::byte{9}, std::byte{9}, std::byte{3}}));
}

TEST(HostMemory, RefusesWhatLiesOutside) {
  HostMemory memory = take(HostMemory::allocate({.bytes = 4096}));
  std::array<std::byte, 2> two{};
  EXPECT_FALSE(memory.write(memory.bytes() - 1, two));
  EXPECT_FALSE(memory.read(memory.bytes() + 1, two));
  EXPECT_FALSE(memory.fill(SIZE_MAX, 2, std::byte{}));
}

TEST(HostMemory, MovesWithoutItsAddressChanging) {
  HostMemory first = take(HostMemory::allocate({.bytes = 4096}));
  const void* address = first.address();
  const HostMemory second = std::move(first);
  EXPECT_EQ(second.address(), address);
  EXPECT_EQ(first.address(), nullptr);  // NOLINT(bugprone-use-after-move): the contract
}

TEST(HostMemory, OfHugePagesIsThatOrAnErrorThatSaysHowManyToReserve) {
  const auto memory = HostMemory::allocate({.bytes = 1, .huge_pages = true});
  if (memory) {
    EXPECT_EQ(memory->bytes() % huge_page_bytes(), 0U);
    return;
  }
  EXPECT_EQ(memory.error().slug(), "rdma-no-huge-pages");
  EXPECT_NE(memory.error().remedy().find("vm.nr_hugepages="), std::string::npos);
}

TEST(HostMemory, OnANodeThatIsNotThereIsAnError) {
  for (const int node : {-1, 900, 4096}) {
    const auto memory = HostMemory::allocate({.bytes = 4096, .numa_node = node});
    ASSERT_FALSE(memory) << node;
    EXPECT_EQ(memory.error().slug(), "rdma-numa-node");
  }
}

TEST(HostMemory, OfMoreThanThereIsIsAnError) {
  const auto memory = HostMemory::allocate({.bytes = std::size_t{1} << 60});
  ASSERT_FALSE(memory);
  EXPECT_EQ(memory.error().slug(), "out-of-memory");
}

TEST(HugePages, HaveTheSizeThatTheKernelNames) {
  const std::filesystem::path root = ::testing::TempDir() + "/rdma-meminfo";
  std::filesystem::create_directories(root / "proc");
  std::ofstream(root / "proc/meminfo") << "MemTotal: 1 kB\nHugepagesize:       2048 kB\n";
  EXPECT_EQ(huge_page_bytes(root.string()), std::size_t{2} << 20);
  std::filesystem::remove_all(root);
  EXPECT_EQ(huge_page_bytes(root.string()), 0U);
}

}  // namespace
}  // namespace netbench::rdma
