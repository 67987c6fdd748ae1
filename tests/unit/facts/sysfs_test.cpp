#include "bench/facts/sysfs.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "bench/facts/slot_siblings.hpp"

namespace netbench::facts {
namespace {

TEST(CpuList, IsReadAndWrittenAsTheKernelDoes) {
  EXPECT_EQ(cpu_list_text(parse_cpu_list("0-3,8,10-11\n")), "0-3,8,10-11");
  EXPECT_EQ(cpu_list_text(parse_cpu_mask("00000001,0000010f\n")), "0-3,8,32");
  EXPECT_EQ(cpu_list_text({}), "none");
}

TEST(CpuList, LeavesOutWhatIsNone) {
  EXPECT_TRUE(parse_cpu_list("all,x-3,7-2").empty());
  EXPECT_EQ(parse_cpu_list("0-99999999999").size(), 65536U);
  EXPECT_TRUE(parse_cpu_mask("").empty());
}

TEST(SysfsPath, NamesEveryPciFunctionOnTheWay) {
  const auto functions =
      pci_functions("/sys/devices/pci0000:40/0000:40:01.1/0000:41:00.0/virtio3/net/eth0");
  ASSERT_EQ(functions.size(), 2U);
  EXPECT_EQ(functions[0].address, "0000:40:01.1");
  EXPECT_EQ(functions[1].folder, "/sys/devices/pci0000:40/0000:40:01.1/0000:41:00.0");
  EXPECT_TRUE(pci_functions("/sys/devices/virtual/net/veth0").empty());
}

TEST(SysfsPath, LeadsNowhereOutsideTheRoot) {
  const std::string trees = NETBENCH_FACTS_TREES;
  EXPECT_EQ(real_path(trees + "/server", "/sys/class/net/eth0/device"),
            "/sys/devices/pci0000:40/0000:40:01.1/0000:41:00.0");
  EXPECT_EQ(real_path(trees + "/server", "/../peer"), "");
  EXPECT_EQ(real_path(trees + "/server", "/none"), "");
}

TEST(Siblings, AreDevicesBelowABridgeBesideTheCardItself) {
  const std::filesystem::path root = std::filesystem::path(testing::TempDir()) / "siblings";
  std::filesystem::remove_all(root);
  const auto device = [&](const std::string& path, const char* device_class) {
    const auto folder = root / ("sys/devices/pci0000:40/0000:40:01.1/" + path);
    std::filesystem::create_directories(folder);
    std::ofstream(folder / "class") << device_class << '\n';
    std::ofstream(folder / "current_link_speed") << "16.0 GT/s PCIe\n";
    std::ofstream(folder / "current_link_width") << "8\n";
  };
  device("0000:41:00.0", "0x020000");
  device("0000:41:00.1", "0x020000");               // the card's other port
  device("0000:42:00.0/0000:43:00.0", "0x030200");  // a GPU behind another bridge
  device("0000:42:00.0", "0x060400");
  device("0000:44:00.0", "0x0c0330");  // a USB controller
  const auto found = siblings_below(root, "/sys/devices/pci0000:40/0000:40:01.1", "0000:41:00.0");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].address, "0000:43:00.0");
  EXPECT_EQ(found[0].kind, "display");
  EXPECT_EQ(found[0].gigatransfers, 16);
  EXPECT_EQ(found[0].lanes, 8);
  std::filesystem::remove_all(root);
}

}  // namespace
}  // namespace netbench::facts
