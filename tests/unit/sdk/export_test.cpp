#include "transports/sdk/export.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <vector>

#include "transports/sdk/table.hpp"

namespace netbench::sdk {
namespace {

int live_sessions = 0;

/// A session whose run() throws what the batch's iterations name.
struct FakeSession {
  FakeSession() { ++live_sessions; }
  ~FakeSession() { --live_sessions; }
  nb_blob describe() { return {nullptr, 0}; }
  void connect(std::span<const nb_blob>) {}
  void effective(EffectiveSink sink) { sink.capped("level", 5, "because"); }
  const char* method() { return "method"; }
  void run(const nb_batch& batch, nb_batch_result&) {
    switch (batch.iterations) {
      case 1:
        throw Error(NB_TIMED_OUT, "slug", "message", "remedy", 110);
      case 2:
        throw std::bad_alloc();
      case 3:
        throw std::runtime_error("surprise");
      case 4:
        throw 42;
      default:
        break;
    }
  }
  void stop(std::int64_t) {}
  void cancel() noexcept {}
  void counters(Sink sink) { sink.number("count", 3); }
};

constexpr nb_choice kChoices[] = {{"a", "first"}, {"b", "second"}};

struct Fake {
  using Session = FakeSession;
  static constexpr const char* kName = "fake";
  static constexpr const char* kSummary = "summary";
  static constexpr const char* kVersion = "7";
  static constexpr nb_workload kWorkloads[] = {
      row(Workload{.name = "ping", .summary = "s", .max_message_bytes = 100}),
      row(Workload{.name = "stream",
                   .summary = "s",
                   .pattern = NB_STREAM,
                   .directions = NB_FORWARD | NB_REVERSE})};
  static constexpr nb_tunable kTunables[] = {
      row(Integer{.name = "level",
                  .help = "h",
                  .allows_auto = true,
                  .minimum = 1,
                  .maximum = 9,
                  .default_number = NB_AUTO}),
      row(Boolean{.name = "flag", .help = "h", .default_value = true}),
      row(Choice{.name = "way", .help = "h", .choices = kChoices, .choice_count = 2}),
      row(Text{.name = "label", .help = "h"})};
  static void probe(Host, Sink) { throw Error(NB_UNAVAILABLE, "fake-unavailable", "no device"); }
  static void check(const nb_open_args&) {}
  static std::unique_ptr<FakeSession> open(Host, const nb_open_args&) {
    return std::make_unique<FakeSession>();
  }
};

constexpr nb_transport kTable = make_table<Fake>();

nb_error empty_error() {
  nb_error error{};
  error.struct_size = sizeof error;
  return error;
}

nb_open_args legal_args() {
  nb_open_args args{};
  args.struct_size = sizeof args;
  args.message_bytes = 10;
  args.direction = NB_FORWARD;
  return args;
}

TEST(ExportedTable, TellsNameVersionAndRows) {
  EXPECT_EQ(kTable.struct_size, sizeof(nb_transport));
  EXPECT_EQ(kTable.abi_version, NB_ABI_VERSION);
  EXPECT_STREQ(kTable.name, "fake");
  EXPECT_EQ(kTable.workload_count, 2u);
  EXPECT_EQ(kTable.tunable_count, 4u);
  EXPECT_EQ(kTable.tunables[0].flags, NB_TUNABLE_ALLOWS_AUTO);
  EXPECT_EQ(kTable.tunables[2].choice_count, 2u);
  EXPECT_STREQ(kTable.tunables[3].default_text, "auto");
  EXPECT_EQ(kTable.extension("nb.none/1"), nullptr);
}

TEST(ExportedTable, ReportsUnavailabilityWithItsReason) {
  nb_error error = empty_error();
  EXPECT_EQ(kTable.probe(nullptr, nullptr, &error), NB_UNAVAILABLE);
  EXPECT_STREQ(error.slug, "fake-unavailable");
  EXPECT_STREQ(error.message, "no device");
}

TEST(ExportedTable, OwnsTheSessionUntilClose) {
  const nb_open_args args = legal_args();
  nb_session* session = nullptr;
  ASSERT_EQ(kTable.open(nullptr, &args, &session, nullptr), NB_OK);
  EXPECT_EQ(live_sessions, 1);
  EXPECT_STREQ(kTable.method(session), "method");
  kTable.close(session);
  EXPECT_EQ(live_sessions, 0);
}

struct Thrown {
  std::int64_t iterations;
  nb_status status;
  const char* slug;
};
class ThrownErrors : public testing::TestWithParam<Thrown> {};

TEST_P(ThrownErrors, BecomeStatusAndText) {
  const nb_open_args args = legal_args();
  nb_session* session = nullptr;
  ASSERT_EQ(kTable.open(nullptr, &args, &session, nullptr), NB_OK);
  nb_error error = empty_error();
  nb_batch_result result{};
  const nb_batch batch{sizeof batch, GetParam().iterations, 0};
  EXPECT_EQ(kTable.run(session, &batch, &result, &error), GetParam().status);
  EXPECT_STREQ(error.slug, GetParam().slug);
  EXPECT_EQ(kTable.run(session, &batch, &result, nullptr), GetParam().status);
  kTable.close(session);
}

INSTANTIATE_TEST_SUITE_P(Sdk, ThrownErrors,
                         testing::Values(Thrown{0, NB_OK, ""}, Thrown{1, NB_TIMED_OUT, "slug"},
                                         Thrown{2, NB_FAILED, "out-of-memory"},
                                         Thrown{3, NB_FAILED, "transport-internal"},
                                         Thrown{4, NB_FAILED, ""}));

TEST(ErrorStruct, CutsLongTextAndKeepsItTerminated) {
  nb_error error = empty_error();
  const std::string text(1000, 'x');
  EXPECT_EQ(fill(&error, {NB_FAILED, text, text, text, 5}), NB_FAILED);
  EXPECT_EQ(std::string(error.slug).size(), sizeof error.slug - 1);
  EXPECT_EQ(std::string(error.message).size(), sizeof error.message - 1);
  EXPECT_EQ(error.sys_errno, 5);
}

TEST(ErrorStruct, LeavesAStructOfAnotherSizeAlone) {
  nb_error error = empty_error();
  error.struct_size = sizeof error.struct_size;
  EXPECT_EQ(fill(&error, {NB_FAILED, "slug", "message"}), NB_FAILED);
  EXPECT_STREQ(error.slug, "");
}

TEST(OpenArguments, AreValidatedBeforeTheTransportSeesThem) {
  const auto slug_of = [](const nb_open_args& args) {
    nb_error error = empty_error();
    return kTable.check(&args, &error) == NB_OK ? std::string() : std::string(error.slug);
  };
  EXPECT_EQ(slug_of(legal_args()), "");
  nb_open_args args = legal_args();
  args.workload = 2;
  EXPECT_EQ(slug_of(args), "unknown-workload");
  args = legal_args();
  args.message_bytes = 101;
  EXPECT_EQ(slug_of(args), "invalid-message-size");
  args = legal_args();
  args.workload = 1;
  args.direction = NB_BOTH;
  EXPECT_EQ(slug_of(args), "invalid-direction");
  args = legal_args();
  args.struct_size = 8;
  EXPECT_EQ(slug_of(args), "abi-mismatch");
}

class ValuesOfAPoint : public testing::Test {
 protected:
  [[nodiscard]] Values with(std::vector<nb_value> values) {
    given_ = std::move(values);
    args_.values = given_.data();
    args_.value_count = given_.size();
    return {Fake::kTunables, args_};
  }

 private:
  std::vector<nb_value> given_;
  nb_open_args args_ = legal_args();
};

TEST_F(ValuesOfAPoint, FallBackToTheDefaultsOfTheTable) {
  const Values values = with({});
  EXPECT_EQ(values.number("level"), NB_AUTO);
  EXPECT_EQ(values.integer("level"), std::nullopt);
  EXPECT_TRUE(values.flag("flag"));
  EXPECT_EQ(values.number("way"), 0);
  EXPECT_EQ(values.text("label"), "auto");
  EXPECT_EQ(values.text_unless_auto("label"), std::nullopt);
}

TEST_F(ValuesOfAPoint, TakeWhatWasAskedFor) {
  const Values values =
      with({{"level", 4, nullptr}, {"flag", 0, nullptr}, {"way", 1, nullptr}, {"label", 0, "x"}});
  EXPECT_EQ(values.integer("level"), 4);
  EXPECT_FALSE(values.flag("flag"));
  EXPECT_EQ(values.number("way"), 1);
  EXPECT_EQ(values.text_unless_auto("label"), "x");
}

TEST_F(ValuesOfAPoint, NameTheTunableThatIsIllegal) {
  const auto message_of = [this](nb_value value) -> std::string {
    try {
      with({value}).validate();
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), NB_INVALID);
      return error.message();
    }
    return {};
  };
  EXPECT_EQ(message_of({"level", 0, nullptr}), "level: 0 is outside 1..9");
  EXPECT_EQ(message_of({"way", 2, nullptr}), "way: 2 is outside 0..1");
  EXPECT_EQ(message_of({"flag", NB_AUTO, nullptr}), "flag: `auto` is not a level of it");
  EXPECT_EQ(message_of({"other", 1, nullptr}), "other: no such tunable");
  EXPECT_EQ(message_of({"level", NB_AUTO, nullptr}), "");
}

}  // namespace
}  // namespace netbench::sdk
