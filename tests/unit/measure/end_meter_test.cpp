#include "bench/measure/end_meter.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

namespace netbench::measure {
namespace {

void spin_for(std::chrono::milliseconds time) {
  const auto end = std::chrono::steady_clock::now() + time;
  while (std::chrono::steady_clock::now() < end) {
  }
}

TEST(HostMeter, GivesWhatTheEndsAndTheLooksOfARowSaw) {
  HostMeter meter("lo", {});
  meter.begin_row();
  spin_for(std::chrono::milliseconds(250));
  const EndRecord record = meter.end_row();
  EXPECT_GE(record.elapsed_s, 0.25);
  EXPECT_GT(record.cpu_s, 0);
  EXPECT_TRUE(record.counters.contains("sockstat.tcp_mem_pages")) << "a look within the row";
  EXPECT_TRUE(record.counters.contains("packet_sockets.foreign")) << "a reading of its end";
  EXPECT_FALSE(record.counters.contains("qdisc.lo.drops")) << "lo has no queue";
}

TEST(HostMeter, MetersOneRowAfterAnother) {
  HostMeter meter("lo", {});
  meter.begin_row();
  spin_for(std::chrono::milliseconds(100));
  const EndRecord longer = meter.end_row();
  meter.begin_row();
  const EndRecord shorter = meter.end_row();
  EXPECT_LT(shorter.elapsed_s, longer.elapsed_s);
}

TEST(HostMeter, GivesUpARowThatDoesNotEnd) {
  HostMeter meter("lo", {});
  meter.begin_row();
  meter.drop_row();
  meter.drop_row();
  meter.begin_row();
  EXPECT_GE(meter.end_row().elapsed_s, 0);
}

}  // namespace
}  // namespace netbench::measure
