#include "report/document/stream_event.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/unit/model/sample/sample_document.hpp"

namespace netbench::report {
namespace {

using nlohmann::json;

TEST(StreamEvent, ARoundIsOneLineWithUnitsInItsKeys) {
  const Measurement row = test::stream_row("tcp.bandwidth.1M", 1 << 20, 9.4e9);
  const std::string line = round_event(row, row.rounds[1]);
  EXPECT_EQ(line.find('\n'), std::string::npos);
  const json event = json::parse(line);
  EXPECT_EQ(event["event"], "round");
  EXPECT_EQ(event["id"], "tcp.bandwidth.1M");
  EXPECT_EQ(event["round"], 1);
  EXPECT_EQ(event["size_bytes"], 1 << 20);
  EXPECT_DOUBLE_EQ(event["goodput_forward_bps"].get<double>(), 9.4e9);
  EXPECT_EQ(event["stop_reason"], "converged");
  EXPECT_EQ(event["flags"], json({"foreign_load"}));
  EXPECT_FALSE(event.contains("goodput_reverse_bps"));
}

TEST(StreamEvent, ALatencyRoundShowsOnlyQuantilesItsSamplesCarry) {
  const Measurement row = test::latency_row("tcp.latency.64", 64, 22'400);
  const json event = json::parse(round_event(row, row.rounds[0]));
  EXPECT_DOUBLE_EQ(event["rtt_p50_ns"].get<double>(), 22'400);
  EXPECT_EQ(event["n_samples"], 1000);
  EXPECT_TRUE(event.contains("rtt_p99_ns"));
  EXPECT_FALSE(event.contains("rtt_p999_ns"));
  EXPECT_EQ(event["rtt_max_ns"], 255);
}

TEST(StreamEvent, AFailedPointAndTheEndCarryTheirErrors) {
  const Document document = test::sample_document();
  const json point = json::parse(point_event(document.measurements[7]));
  EXPECT_EQ(point["status"], "failed");
  EXPECT_EQ(point["error"]["code"], "peer-vanished");
  const json end = json::parse(finished_event(test::failed_document()));
  EXPECT_EQ(end["event"], "finished");
  EXPECT_EQ(end["status"], "failed");
  EXPECT_EQ(end["error"]["code"], "peer-refused");
  EXPECT_TRUE(json::parse(finished_event(document))["error"].is_null());
}

}  // namespace
}  // namespace netbench::report
