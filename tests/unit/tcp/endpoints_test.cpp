#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/tcp.h>

#include "transports/tcp/stream_endpoints.hpp"

namespace netbench::tcp {
namespace {

constexpr std::size_t kLarge = 64 << 10;

bool holds_partial_segments(int fd) {
  int corked = 0;
  socklen_t length = sizeof corked;
  EXPECT_EQ(::getsockopt(fd, IPPROTO_TCP, TCP_CORK, &corked, &length), 0);
  return corked != 0;
}

template <class Sender>
bool holds_partial_segments(std::size_t message_bytes) {
  const Fd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const Sender sender(fd.get(), message_bytes);
  return holds_partial_segments(fd.get());
}

TEST(StreamEndpoints, SendWithoutACopyInWholeSegmentsWhereMessagesAreLarge) {
  EXPECT_TRUE(holds_partial_segments<SendfileSender>(kLarge));
  EXPECT_TRUE(holds_partial_segments<VmspliceSender>(kLarge));
}

TEST(StreamEndpoints, SendSmallMessagesAtOnce) {
  EXPECT_FALSE(holds_partial_segments<SendfileSender>(kLarge - 1));
  EXPECT_FALSE(holds_partial_segments<VmspliceSender>(kLarge - 1));
}

TEST(StreamEndpoints, CopyMessagesAtOnceWhateverTheirSize) {
  EXPECT_FALSE(holds_partial_segments<CopySender>(kLarge));
}

}  // namespace
}  // namespace netbench::tcp
