#include "bench/session/hello.hpp"

#include <gtest/gtest.h>

namespace netbench::session {
namespace {

Hello full_hello() {
  Hello hello;
  hello.version = "0.1.0";
  hello.host_name = "node7";
  hello.plugins = {{"tcp", "1.0", "abc"}, {"sim", "2.0", "def"}};
  hello.no_wait = true;
  hello.allow_knobs = true;
  hello.insecure = true;
  hello.boot_id = "0f";
  return hello;
}

TEST(Hello, SurvivesItsMessage) {
  const Hello sent = full_hello();
  const auto got = decode_hello(encode_hello(sent));
  ASSERT_TRUE(got);
  EXPECT_EQ(got->protocol, kProtocol);
  EXPECT_EQ(got->version, sent.version);
  EXPECT_EQ(got->host_name, sent.host_name);
  EXPECT_EQ(got->boot_id, sent.boot_id);
  EXPECT_TRUE(got->no_wait && got->allow_knobs && got->insecure);
  ASSERT_EQ(got->plugins.size(), 2U);
  EXPECT_EQ(got->plugins[1].name, "sim");
  EXPECT_EQ(got->plugins[1].version, "2.0");
  EXPECT_EQ(got->plugins[1].tunables_hash, "def");
}

TEST(Hello, OfAnotherProtocolCanStillBeCompared) {
  const auto got = decode_hello({"hello", R"({"protocol":2,"version":"9.1","plugins":17})"});
  ASSERT_TRUE(got);
  EXPECT_EQ(got->protocol, 2);
  EXPECT_EQ(got->version, "9.1");
}

TEST(Hello, HostileBodiesAreRefusedOrMadeHarmless) {
  for (const char* body : {"", "[", "[]", "null", "{}", R"({"protocol":"1"})",
                           R"({"protocol":1e99})", R"({"protocol":-1})", "\xff\xfe"}) {
    EXPECT_EQ(decode_hello({"hello", body}).error().slug, "bad-message") << body;
  }
  EXPECT_FALSE(decode_hello({"other", R"({"protocol":1})"}));
  const auto got = decode_hello({"hello", R"({"protocol":1,"host_name":"a\u001b[2Jb"})"});
  ASSERT_TRUE(got);
  EXPECT_EQ(got->host_name, "a\\x1b[2Jb");
}

TEST(Hello, HostNameThatIsNotUtf8IsSentNevertheless) {
  Hello hello = full_hello();
  hello.host_name = "n\xffode";
  EXPECT_TRUE(decode_hello(encode_hello(hello)));
}

TEST(Hello, LocalOneNamesHostAndBoot) {
  const Hello hello = local_hello("0.1.0");
  EXPECT_EQ(hello.version, "0.1.0");
  EXPECT_FALSE(hello.host_name.empty());
  EXPECT_EQ(hello.boot_id.size(), 36U);
}

TEST(CheckProtocol, MismatchNamesBothVersions) {
  const Hello own = full_hello();
  for (const int step : {-1, 1}) {
    Hello other = full_hello();
    other.protocol = kProtocol + step;
    other.version = "7.7.7";
    const auto same = check_protocol(own, other, "the agent on node8");
    ASSERT_FALSE(same);
    EXPECT_EQ(same.error().slug, "version-mismatch");
    EXPECT_EQ(same.error().exit_class, ExitClass::nothing_measured);
    for (const char* part : {"0.1.0", "7.7.7", "the agent on node8"}) {
      EXPECT_NE(same.error().message.find(part), std::string::npos) << part;
    }
  }
  EXPECT_TRUE(check_protocol(own, full_hello(), "the agent"));
}

TEST(ComparePlugins, NamesTheOneThatDiffers) {
  const Hello own = full_hello();
  Hello other = full_hello();
  other.plugins[1].version = "2.1";
  EXPECT_TRUE(compare_plugins(own, other, "tcp", "node8"));
  const auto version = compare_plugins(own, other, "sim", "node8");
  ASSERT_FALSE(version);
  EXPECT_EQ(version.error().slug, "plugin-mismatch");
  EXPECT_NE(version.error().message.find("sim"), std::string::npos);
  EXPECT_NE(version.error().message.find("2.1"), std::string::npos);
  other.plugins[1] = {"sim", "2.0", "xyz"};
  EXPECT_EQ(compare_plugins(own, other, "sim", "node8").error().slug, "plugin-mismatch");
  other.plugins.pop_back();
  const auto missing = compare_plugins(own, other, "sim", "node8");
  EXPECT_NE(missing.error().message.find("node8"), std::string::npos);
}

TEST(Refused, CarriesTheErrorAsNothingMeasured) {
  const Error sent{"peer-busy", "held by node9", "wait", ExitClass::error};
  const Error got = decode_refused(encode_refused(sent));
  EXPECT_EQ(got.slug, sent.slug);
  EXPECT_EQ(got.message, sent.message);
  EXPECT_EQ(got.remedy, sent.remedy);
  EXPECT_EQ(got.exit_class, ExitClass::nothing_measured);
  EXPECT_EQ(decode_refused({"refused", "{"}).slug, "agent-refused");
}

}  // namespace
}  // namespace netbench::session
