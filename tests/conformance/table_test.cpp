#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "bench/plan/levels.hpp"
#include "tests/conformance/pair.hpp"
#include "tests/conformance/transport_case.hpp"

namespace netbench::conformance {
namespace {

class Table : public TransportCase {};

std::string output_of(const std::string& command) {
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), pclose);
  std::string text;
  for (int c = 0; pipe != nullptr && (c = std::fgetc(pipe.get())) != EOF;) {
    text.push_back(static_cast<char>(c));
  }
  return text;
}

/// Arguments as a harness gives them, with one value; the raw call sees what no C++ wrapper stops.
nb_status raw_check(const plugin::Transport& transport, std::uint32_t workload,
                    const nb_value& value, nb_error& error) {
  const plan::Workload& row = transport.spec().workloads.at(workload);
  nb_open_args args{};
  args.struct_size = sizeof args;
  args.workload = workload;
  args.direction = NB_FORWARD;
  args.message_bytes = small_size(row);
  args.values = &value;
  args.value_count = 1;
  error = {};
  error.struct_size = sizeof error;
  return transport.table()->check(&args, &error);
}

std::uint32_t workload_of(const plugin::Transport& transport, const plan::Tunable& tunable) {
  std::uint32_t index = 0;
  while (!tunable.applies_to(transport.spec().workloads.at(index).name)) {
    ++index;
  }
  return index;
}

TEST_P(Table, IsNamedAsItsFile) { EXPECT_EQ(transport().name(), test_name(GetParam())); }

TEST_P(Table, IsTheOnlyExportedSymbol) {
  const std::string symbols = output_of("nm -D --defined-only " + GetParam().string());
  if (symbols.empty()) {
    GTEST_SKIP() << "nm (binutils) is not installed";
  }
  EXPECT_NE(symbols.find(NB_TRANSPORT_ENTRY_SYMBOL), std::string::npos);
  EXPECT_EQ(std::ranges::count(symbols, '\n'), 1) << symbols;
}

TEST_P(Table, HasHelpForEveryChoice) {
  for (const plan::Tunable& tunable : transport().spec().tunables) {
    for (const plan::Choice& choice : tunable.choices) {
      EXPECT_FALSE(choice.help.empty()) << tunable.full_name() << " " << choice.name;
    }
  }
}

TEST_P(Table, DefaultsAreReadBackFromTheirNotation) {
  for (const plan::Tunable& tunable : transport().spec().tunables) {
    if (tunable.type != plan::ValueType::text) {
      const auto level =
          plan::parse_level(tunable, plan::to_string(tunable.default_level, tunable.unit));
      ASSERT_TRUE(level) << level.error().message;
      EXPECT_EQ(*level, tunable.default_level) << tunable.full_name();
    }
  }
}

TEST_P(Table, DefaultsPassTheCheckOfEveryWorkload) {
  for (const plan::Workload& workload : transport().spec().workloads) {
    const auto checked = transport().check(plain_request(workload, first_direction(workload)));
    EXPECT_TRUE(checked) << workload.name << ": " << checked.error().message;
  }
}

TEST_P(Table, SweepsPassTheCheckOfTheirWorkloads) {
  for (const plan::Tunable& tunable : transport().spec().tunables) {
    if (tunable.sweep.empty()) {
      continue;
    }
    const std::uint32_t index = workload_of(transport(), tunable);
    const plan::Workload& workload = transport().spec().workloads.at(index);
    const auto levels = plan::parse_levels(tunable, tunable.sweep);
    for (const plan::Level& level : *levels) {
      plugin::OpenRequest request = plain_request(workload, first_direction(workload));
      request.tunables[tunable.name] = level;
      const auto checked = transport().check(request);
      EXPECT_TRUE(checked) << tunable.full_name() << ": " << checked.error().message;
    }
  }
}

TEST_P(Table, CheckNamesATunableThatIsOutOfRange) {
  for (const plan::Tunable& tunable : transport().spec().tunables) {
    const nb_tunable* rows = transport().table()->tunables;
    const nb_tunable& row = rows[&tunable - transport().spec().tunables.data()];
    const bool has_larger = row.maximum < std::numeric_limits<std::int64_t>::max();
    if (row.type == NB_TYPE_TEXT || !has_larger) {
      continue;
    }
    nb_error error{};
    const nb_value value{row.name, row.maximum + 1, nullptr};
    const auto workload = workload_of(transport(), tunable);
    EXPECT_EQ(raw_check(transport(), workload, value, error), NB_INVALID) << row.name;
    EXPECT_NE(std::strstr(error.message, row.name), nullptr) << error.message;
    EXPECT_NE(error.slug[0], '\0') << row.name;
  }
}

TEST_P(Table, CheckNamesAnUnknownTunable) {
  nb_error error{};
  const nb_value value{"no_such_tunable", 1, nullptr};
  EXPECT_EQ(raw_check(transport(), 0, value, error), NB_INVALID);
  EXPECT_NE(std::strstr(error.message, "no_such_tunable"), nullptr) << error.message;
}

TEST_P(Table, CheckRefusesAnUnknownWorkload) {
  nb_open_args args{};
  args.struct_size = sizeof args;
  args.workload = static_cast<std::uint32_t>(transport().spec().workloads.size());
  args.message_bytes = 1;
  args.direction = NB_FORWARD;
  EXPECT_EQ(transport().table()->check(&args, nullptr), NB_INVALID);
}

TEST_P(Table, ShortArgumentsAreRefusedAndLongOnesTaken) {
  struct Longer {
    nb_open_args args;
    std::uint64_t of_a_later_version[8];
  } longer{};
  longer.args.direction = NB_FORWARD;
  longer.args.message_bytes = small_size(transport().spec().workloads.front());
  longer.args.struct_size = sizeof longer;
  EXPECT_EQ(transport().table()->check(&longer.args, nullptr), NB_OK);
  longer.args.struct_size = offsetof(nb_open_args, values);
  EXPECT_EQ(transport().table()->check(&longer.args, nullptr), NB_INVALID);
}

TEST_P(Table, AShortErrorIsNotWrittenBeyondItsSize) {
  nb_error error{};
  error.struct_size = offsetof(nb_error, message);
  std::memset(error.message, 0x5a, sizeof error.message);
  std::memset(error.remedy, 0x5a, sizeof error.remedy);
  nb_open_args args{};
  args.struct_size = sizeof args;
  args.message_bytes = -1;
  EXPECT_EQ(transport().table()->check(&args, &error), NB_INVALID);
  EXPECT_EQ(static_cast<unsigned char>(error.message[0]), 0x5a);
  EXPECT_EQ(static_cast<unsigned char>(error.remedy[0]), 0x5a);
}

TEST_P(Table, ProbeAnswersWithinASecond) {
  const plugin::HostServices host;
  const auto begin = std::chrono::steady_clock::now();
  const auto readings = transport().probe(host);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(1));
  if (!readings) {
    EXPECT_FALSE(readings.error().message.empty());
  }
}

TEST_P(Table, UnknownExtensionsAreNull) {
  EXPECT_EQ(transport().table()->extension("nb.no-such-thing/1"), nullptr);
}

TEST_P(Table, IsolatedProbeAgreesWithTheProbe) {
  const plugin::PluginHost host({GetParam().parent_path()});
  const auto report = host.probe_isolated(transport().name());
  EXPECT_EQ(report.availability == plugin::Availability::available, unavailable().empty())
      << report.error.message;
}

TEST_P(Table, HashIsThatOfTheSameTable) {
  const auto again = plugin::load_file(GetParam());
  ASSERT_TRUE(again);
  EXPECT_EQ(again->tunables_hash(), transport().tunables_hash());
}

OVER_EVERY_TRANSPORT(Table);

}  // namespace
}  // namespace netbench::conformance
