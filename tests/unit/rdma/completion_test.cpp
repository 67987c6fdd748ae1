#include "transports/rdma/completion.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace netbench::rdma {
namespace {

ibv_wc with_status(ibv_wc_status status, std::uint32_t vendor_error = 0) {
  ibv_wc completion{};
  completion.status = status;
  completion.vendor_err = vendor_error;
  completion.qp_num = 42;
  return completion;
}

TEST(CompletionMeaning, IsThereForEveryStatusWithASlugOfItsOwn) {
  std::set<std::string> slugs;
  for (const CompletionMeaning& meaning : completion_meanings()) {
    EXPECT_TRUE(slugs.insert(meaning.slug).second) << meaning.slug;
    EXPECT_LT(std::string(meaning.slug).size(), 40U);
    EXPECT_EQ(&meaning_of(meaning.status), &meaning);
    if (meaning.status != IBV_WC_SUCCESS) {
      EXPECT_STRNE(meaning.hypotheses, "");
    }
  }
  EXPECT_EQ(slugs.size(), 22U);
  EXPECT_STREQ(meaning_of(static_cast<ibv_wc_status>(30)).slug, "rdma-unknown");
}

TEST(FirstFailure, IsTheFirstThatIsNoFlushAndCountsTheRest) {
  FirstFailure failure;
  failure.add(with_status(IBV_WC_WR_FLUSH_ERR));
  failure.add(with_status(IBV_WC_RETRY_EXC_ERR, 129));
  failure.add(with_status(IBV_WC_REM_ACCESS_ERR));
  failure.add(with_status(IBV_WC_WR_FLUSH_ERR));
  EXPECT_EQ(failure.first()->status, IBV_WC_RETRY_EXC_ERR);
  EXPECT_EQ(failure.errors(), 4U);
  EXPECT_EQ(failure.flushed(), 2U);
  const sdk::Error error = failure.error("write to 10.77.0.2");
  EXPECT_EQ(error.slug(), "rdma-retry-exceeded");
  EXPECT_EQ(error.message(),
            "write to 10.77.0.2: the peer did not acknowledge within all retries (RETRY_EXC_ERR, "
            "status 12, vendor error 129, queue pair 42; 3 more completions failed after it)");
  EXPECT_NE(error.remedy().find("UDP 4791"), std::string::npos);
}

TEST(FirstFailure, OfFlushesAloneSaysThatTheCauseLiesElsewhere) {
  FirstFailure failure;
  EXPECT_FALSE(failure.any());
  failure.add(with_status(IBV_WC_WR_FLUSH_ERR, 249));
  EXPECT_TRUE(failure.any());
  EXPECT_FALSE(failure.first());
  EXPECT_EQ(failure.error("send").slug(), "rdma-flushed");
  EXPECT_EQ(failure.error("send").status(), NB_PEER_CLOSED);
}

TEST(FirstFailure, OfSeveralThreadsIsThatOfTheFirstThatHasOne) {
  FirstFailure first;
  FirstFailure second;
  first.add(with_status(IBV_WC_WR_FLUSH_ERR));
  second.add(with_status(IBV_WC_LOC_PROT_ERR));
  first.merge(second);
  EXPECT_EQ(first.errors(), 2U);
  EXPECT_EQ(first.first()->status, IBV_WC_LOC_PROT_ERR);
}

}  // namespace
}  // namespace netbench::rdma
