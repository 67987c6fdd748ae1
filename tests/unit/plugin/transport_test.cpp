#include "bench/plugin/transport.hpp"

#include <gtest/gtest.h>

#include <cstring>

#include "bench/plugin/session.hpp"
#include "tests/unit/plugin/table_builder.hpp"

namespace netbench::plugin {
namespace {

Result<Transport> loaded(const nb_transport& table) {
  return Transport::from_table(&table, "demo.so");
}

void expect_invalid(const TableBuilder& builder, const char* part_of_message) {
  const nb_transport table = builder.build();
  const auto transport = loaded(table);
  ASSERT_FALSE(transport);
  EXPECT_EQ(transport.error().slug, "plugin-invalid");
  EXPECT_NE(transport.error().message.find(part_of_message), std::string::npos)
      << transport.error().message;
}

TEST(TransportTable, BecomesValuesOfThePlan) {
  const TableBuilder builder;
  const nb_transport table = builder.build();
  const auto transport = loaded(table);
  ASSERT_TRUE(transport) << transport.error().message;
  const plan::TransportSpec& spec = transport->spec();
  EXPECT_EQ(spec.workloads[1].directions, (std::vector{Direction::forward, Direction::both}));
  EXPECT_EQ(spec.tunables[0].full_name(), "demo.sndbuf");
  EXPECT_TRUE(spec.tunables[0].default_level.is_auto);
  EXPECT_EQ(spec.tunables[0].workloads, std::vector<std::string>{"bandwidth"});
  EXPECT_EQ(plan::to_string(spec.tunables[1].default_level), "on");
  EXPECT_EQ(plan::to_string(spec.tunables[2].default_level), "sendfile");
  EXPECT_EQ(plan::to_string(spec.tunables[3].default_level), "auto");
}

TEST(TransportTable, WithAnUnsoundRowIsRefusedNamingIt) {
  TableBuilder empty_range;
  empty_range.tunables[0].minimum = std::int64_t{1} << 40;
  expect_invalid(empty_range, "\"sndbuf\": its range is empty");
  TableBuilder no_help;
  no_help.tunables[1].help = "";
  expect_invalid(no_help, "\"nodelay\": no help");
  TableBuilder bad_name;
  bad_name.tunables[1].name = "No-Delay";
  expect_invalid(bad_name, "\"No-Delay\": its name");
  TableBuilder bad_sweep;
  bad_sweep.tunables[0].sweep = "1K";
  expect_invalid(bad_sweep, "\"sndbuf\": its sweep");
  TableBuilder bad_choice;
  bad_choice.tunables[2].default_number = 2;
  expect_invalid(bad_choice, "\"mode\": its default");
  TableBuilder forbidden_auto;
  forbidden_auto.tunables[0].flags = 0;
  expect_invalid(forbidden_auto, "\"sndbuf\": its default");
}

TEST(TransportTable, WithAnUnsoundWorkloadIsRefusedNamingIt) {
  TableBuilder bad_sizes;
  bad_sizes.workloads[0].default_sizes = "64,2M";
  expect_invalid(bad_sizes, "\"latency\": a size of");
  TableBuilder twice;
  twice.workloads[1].name = "latency";
  expect_invalid(twice, "\"latency\": it is declared twice");
  TableBuilder none;
  none.workloads.clear();
  expect_invalid(none, "no workload");
  TableBuilder short_row;
  short_row.workloads[0].struct_size = 8;
  expect_invalid(short_row, "workload row 0");
}

TEST(TransportTable, OfALargerSizeIsTaken) {
  struct {
    nb_transport table;
    void* of_a_later_version;
  } longer{};
  const TableBuilder builder;
  longer.table = builder.build();
  longer.table.struct_size = sizeof longer;
  EXPECT_TRUE(loaded(longer.table));
}

TEST(TunablesHash, ChangesWithARangeButNotWithHelp) {
  const TableBuilder plain;
  TableBuilder other_help;
  other_help.tunables[0].help = "another text";
  TableBuilder other_range;
  other_range.tunables[0].maximum = 1 << 20;
  other_range.tunables[0].sweep = nullptr;
  const auto hash = [](const TableBuilder& builder) {
    const nb_transport table = builder.build();
    return loaded(table)->tunables_hash();
  };
  EXPECT_EQ(hash(plain), hash(other_help));
  EXPECT_NE(hash(plain), hash(other_range));
}

TEST(TransportProbe, CollectsWhatIsTold) {
  const TableBuilder builder;
  const nb_transport table = builder.build();
  const HostServices host;
  const auto readings = loaded(table)->probe(host);
  ASSERT_TRUE(readings);
  EXPECT_EQ(readings->numbers.at("devices"), 2);
  EXPECT_EQ(readings->texts.at("driver"), "demo");
}

TEST(TransportCheck, RefusesWhatTheTableDoesNotHave) {
  const TableBuilder builder;
  const nb_transport table = builder.build();
  const auto transport = loaded(table);
  OpenRequest request{.workload = "latency", .message_bytes = 64};
  EXPECT_TRUE(transport->check(request));
  request.tunables["sndbuf"] = plan::Level::integer(1);
  EXPECT_EQ(transport->check(request).error().slug, "bad-level");
  request.tunables = {{"sndbuff", plan::Level::integer(4096)}};
  EXPECT_EQ(transport->check(request).error().slug, "bad-tunable");
  request.tunables.clear();
  request.workload = "throughput";
  EXPECT_EQ(transport->check(request).error().slug, "bad-workload");
}

TEST(TransportOpen, CarriesThePluginsErrorWithItsName) {
  const TableBuilder builder;
  nb_transport table = builder.build();
  table.open = [](const nb_host*, const nb_open_args*, nb_session**, nb_error* error) {
    std::strcpy(error->slug, "demo-no-device");
    std::strcpy(error->message, "there is no device");
    std::strcpy(error->remedy, "Plug one in.");
    return NB_FAILED;
  };
  const HostServices host;
  const auto session = loaded(table)->open(host, {.workload = "latency", .message_bytes = 64});
  ASSERT_FALSE(session);
  EXPECT_EQ(session.error().slug, "demo-no-device");
  EXPECT_EQ(session.error().message, "demo: open: there is no device");
  EXPECT_EQ(session.error().remedy, "Plug one in.");
}

TEST(TransportOpen, PassesWorkloadDirectionAndValues) {
  const TableBuilder builder;
  nb_transport table = builder.build();
  table.open = [](const nb_host*, const nb_open_args* args, nb_session**, nb_error* error) {
    const bool as_asked = args->workload == 1 && args->direction == NB_BOTH &&
                          args->role == NB_RESPONDER && args->value_count == 2 &&
                          std::strcmp(args->values[0].text, "eth0") == 0 &&
                          args->values[1].number == NB_AUTO && args->seed == 9;
    std::strcpy(error->slug, as_asked ? "as-asked" : "otherwise");
    return NB_FAILED;
  };
  const HostServices host;
  OpenRequest request{.role = Role::responder,
                      .workload = "bandwidth",
                      .direction = Direction::both,
                      .message_bytes = 64,
                      .seed = 9};
  request.tunables["bind"] = {0, "eth0", false};
  request.tunables["sndbuf"] = plan::Level::automatic();
  EXPECT_EQ(loaded(table)->open(host, request).error().slug, "as-asked");
}

TEST(HostServices, GiveAPluginItsServiceAndTheServiceItsState) {
  HostServices host;
  int table = 0;
  int state = 0;
  host.offer("nb.demo/1", &table, &state);
  EXPECT_EQ(host.get()->extension(host.get(), "nb.demo/1"), &table);
  EXPECT_EQ(HostServices::state_of(host.get(), "nb.demo/1"), &state);
  EXPECT_EQ(host.get()->extension(host.get(), "nb.other/1"), nullptr);
}

}  // namespace
}  // namespace netbench::plugin
