#include "bench/model/pointer.hpp"

#include <gtest/gtest.h>

#include "tests/unit/model/sample/sample_document.hpp"

namespace netbench {
namespace {

TEST(Pointer, LeadsToValuesOfEveryDepth) {
  const Document document = test::sample_document();
  EXPECT_EQ(value_at(document, "/run/path_mtu/forward_bytes"), Value(std::int64_t{9000}));
  EXPECT_EQ(value_at(document, "/measurements/3/summary/goodput_bps"), Value(9.412e9));
  EXPECT_EQ(value_at(document, "/measurements/0/summary/rtt_ns/p50"), Value(22'400.0));
  EXPECT_EQ(value_at(document, "/findings/0/severity"), Value(std::string("warning")));
  EXPECT_EQ(value_at(document, "/measurements/3/direction"), Value(std::string("forward")));
}

TEST(Pointer, TakesKeysWithSlashesAndTildes) {
  Document document = test::sample_document();
  document.measurements[0].rounds[0].initiator.counters["a/b~c"] = 7;
  EXPECT_EQ(value_at(document, "/measurements/0/rounds/0/counters/initiator/a~1b~0c"), Value(7.0));
}

TEST(Pointer, LeadsNowhereWithoutACrash) {
  const Document document = test::sample_document();
  for (const char* pointer :
       {"", "/", "x", "/measurements", "/measurements/", "/measurements/99/id", "/measurements/-1",
        "/measurements/0x", "/hosts/h9/name", "/error/code", "/run/id/more", "/measurements/0~",
        "/measurements/3/rounds/0/forward/series/0/bytes"}) {
    EXPECT_FALSE(value_at(document, pointer).has_value()) << pointer;
  }
}

}  // namespace
}  // namespace netbench
