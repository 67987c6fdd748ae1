#include "report/render/layers.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "report/render/render.hpp"
#include "tests/golden/golden.hpp"
#include "tests/unit/model/sample/sample_document.hpp"

namespace netbench::report {
namespace {

Measurement verbs(Measurement row, const char* rail = "mlx5_0") {
  row.transport = "verbs";
  row.id = "verbs/" + row.id;
  row.tunables.requested.clear();
  row.tunables.effective_initiator = {{"verbs.device", std::string(rail)},
                                      {"verbs.op", std::string("write")}};
  row.tunables.effective_responder = row.tunables.effective_initiator;
  return row;
}

Document both_layers(bool software) {
  Document document = test::sample_document();
  document.measurements = {test::stream_row("tcp", 1 << 20, 4e9),
                           verbs(test::stream_row("write", 65536, 9.6e9))};
  for (const char* host : {"h0", "h1"}) {
    document.hosts[host].facts.push_back({"rdma.mlx5_0.software", software, "test", ""});
  }
  return document;
}

std::string text_of(const Document& document) {
  return fmt::format("{}", fmt::join(layer_texts(document), "\n"));
}

TEST(Layers, ComparesTheBestRowsOfBothWithAnInterval) {
  const std::string text = text_of(both_layers(false));
  EXPECT_NE(text.find("verbs carry 2.40 times ["), std::string::npos) << text;
  EXPECT_NE(text.find("9.600 Gb/s against 4.000 Gb/s"), std::string::npos) << text;
  EXPECT_EQ(text.find("software"), std::string::npos) << text;
}

TEST(Layers, LabelsSoftware) {
  const std::string text = text_of(both_layers(true));
  EXPECT_EQ(text.find("verbs: software RDMA, not comparable with hardware (mlx5_0 of "), 0U)
      << text;
}

TEST(Layers, ComparesTheRoundTripsOfTheSmallestMessages) {
  Document document = both_layers(false);
  Measurement row = test::stream_row("latency", 64, 0);
  row.workload = "latency";
  row.direction = Direction::none;
  row.summary.goodput_bps.reset();
  row.summary.rtt_p50_ns = 20000;
  Measurement fast = verbs(row);
  fast.summary.rtt_p50_ns = 3000;
  document.measurements.push_back(row);
  document.measurements.push_back(fast);
  const std::string text = text_of(document);
  EXPECT_NE(text.find("Half RTT of verbs is 0.150 times (no interval)"), std::string::npos) << text;
}

TEST(Layers, AreSilentWhereOneIsMissing) {
  Document document = both_layers(false);
  document.measurements.pop_back();
  EXPECT_TRUE(layer_texts(document).empty());
}

TEST(Layers, LookAsInTheGoldenText) {
  test::expect_golden(render_text(both_layers(true)), "render/layers.txt");
}

}  // namespace
}  // namespace netbench::report
