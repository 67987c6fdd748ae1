#include "bench/facts/sysfs.hpp"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace netbench::facts
