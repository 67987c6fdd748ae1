#include "transports/rdma/verbs_table.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace netbench::rdma {
namespace {

int something = 0;

Resolver all_but(std::set<std::string> absent) {
  return [absent = std::move(absent)](const char* name, const char* /*version*/) -> void* {
    return absent.contains(name) ? nullptr : &something;
  };
}

TEST(VerbsTable, NamesTheFirstRequiredSymbolThatIsAbsent) {
  const auto table = fill_verbs_table(all_but({"ibv_create_qp", "ibv_destroy_ah"}));
  ASSERT_FALSE(table);
  EXPECT_EQ(table.error().slug(), "rdma-library-too-old");
  EXPECT_EQ(table.error().status(), NB_UNAVAILABLE);
  EXPECT_NE(table.error().message().find("ibv_create_qp@IBVERBS_1.1"), std::string::npos);
}

TEST(VerbsTable, DoesWithoutTheSymbolsThatOlderLibrariesLack) {
  const auto table = fill_verbs_table(all_but({"ibv_reg_mr_iova2", "_ibv_query_gid_table",
                                               "ibv_reg_dmabuf_mr", "ibv_query_qp_data_in_order"}));
  ASSERT_TRUE(table);
  EXPECT_EQ(table->reg_mr_iova2, nullptr);
  EXPECT_EQ(table->query_gid_table, nullptr);
  EXPECT_EQ(table->reg_dmabuf_mr, nullptr);
  EXPECT_EQ(table->query_qp_data_in_order, nullptr);
  EXPECT_NE(table->create_qp, nullptr);
}

TEST(VerbsTable, AsksForTheVersionOfEachSymbol) {
  std::set<std::string> versions;
  const auto table = fill_verbs_table([&](const char* name, const char* version) -> void* {
    versions.insert(std::string(name) + "@" + version);
    return &something;
  });
  ASSERT_TRUE(table);
  EXPECT_TRUE(versions.contains("ibv_query_port@IBVERBS_1.1"));
  EXPECT_TRUE(versions.contains("ibv_create_comp_channel@IBVERBS_1.0"));
  EXPECT_TRUE(versions.contains("ibv_reg_dmabuf_mr@IBVERBS_1.12"));
}

TEST(VerbsTable, SaysWhichPackageHasTheLibraryThatIsAbsent) {
  const auto table = load_verbs_table("libibverbs-that-is-not-there.so.1");
  ASSERT_FALSE(table);
  EXPECT_EQ(table.error().slug(), "rdma-no-library");
  EXPECT_EQ(table.error().status(), NB_UNAVAILABLE);
  EXPECT_NE(table.error().message().find("cannot open shared object"), std::string::npos);
  EXPECT_NE(table.error().remedy().find("libibverbs1"), std::string::npos);
}

TEST(VerbsTable, FindsEverySymbolInTheLibrariesOfThisHost) {
  const auto verbs = load_verbs_table();
  if (!verbs && verbs.error().slug() == "rdma-no-library") {
    GTEST_SKIP() << verbs.error().message();
  }
  ASSERT_TRUE(verbs) << verbs.error().message();
  const auto cm = load_cm_table();
  if (!cm && cm.error().slug() == "rdma-no-library") {
    GTEST_SKIP() << cm.error().message();
  }
  ASSERT_TRUE(cm) << cm.error().message();
}

TEST(CmTable, NamesTheFirstSymbolThatIsAbsent) {
  const auto table = fill_cm_table(all_but({"rdma_listen"}));
  ASSERT_FALSE(table);
  EXPECT_NE(table.error().message().find("rdma_listen@RDMACM_1.0"), std::string::npos);
}

}  // namespace
}  // namespace netbench::rdma
