#pragma once

#include <cstdint>
#include <vector>

#include "transports/abi/nb_transport.h"

namespace netbench::plugin {

/// A sound table of two workloads and a few tunables, to be spoilt by a test.
struct TableBuilder {
  std::vector<nb_workload> workloads{
      {sizeof(nb_workload), "latency", "round trips", NB_PING_PONG, 0, 1, 1 << 20, "64,1K", "64"},
      {sizeof(nb_workload), "bandwidth", "bytes", NB_STREAM, NB_FORWARD | NB_BOTH, 1, 1 << 30,
       "128K", "128K"}};
  std::vector<nb_tunable> tunables{
      {sizeof(nb_tunable), "sndbuf", "send buffer", NB_TYPE_INTEGER, NB_UNIT_BYTES,
       NB_SCALE_POWER_OF_TWO, NB_SCOPE_CONNECTION, NB_TUNABLE_ALLOWS_AUTO, 4096, 1 << 28, NB_AUTO,
       nullptr, nullptr, 0, 2, "256K,4M", 0},
      {sizeof(nb_tunable), "nodelay", "no Nagle", NB_TYPE_BOOLEAN, NB_UNIT_NONE, NB_SCALE_LINEAR,
       NB_SCOPE_CONNECTION, 0, 0, 1, 1, nullptr, nullptr, 0, 0, nullptr, 0},
      {sizeof(nb_tunable), "mode", "how", NB_TYPE_CHOICE, NB_UNIT_NONE, NB_SCALE_LINEAR,
       NB_SCOPE_CONNECTION, 0, 0, 1, 1, nullptr, kModes, 2, 0, nullptr, 0},
      {sizeof(nb_tunable), "bind", "address", NB_TYPE_TEXT, NB_UNIT_NONE, NB_SCALE_LINEAR,
       NB_SCOPE_CONNECTION, 0, 0, 0, 0, "auto", nullptr, 0, 0, nullptr, 0}};

  [[nodiscard]] nb_transport build() const {
    nb_transport table{};
    table.struct_size = sizeof table;
    table.abi_version = NB_ABI_VERSION;
    table.name = "demo";
    table.summary = "a demonstration";
    table.version = "1";
    table.workloads = workloads.data();
    table.workload_count = workloads.size();
    table.tunables = tunables.data();
    table.tunable_count = tunables.size();
    set_calls(table);
    return table;
  }

 private:
  static constexpr nb_choice kModes[] = {{"copy", "by copying"}, {"sendfile", "from a file"}};

  static void set_calls(nb_transport& table) {
    table.probe = [](const nb_host*, const nb_sink* sink, nb_error*) {
      sink->number(sink->context, "devices", 2);
      sink->text(sink->context, "driver", "demo");
      return NB_OK;
    };
    table.check = [](const nb_open_args*, nb_error*) { return NB_OK; };
    table.open = [](const nb_host*, const nb_open_args*, nb_session**, nb_error*) {
      return NB_FAILED;
    };
    table.describe = [](nb_session*, nb_blob*, nb_error*) { return NB_FAILED; };
    table.connect = [](nb_session*, const nb_blob*, size_t, nb_error*) { return NB_FAILED; };
    table.effective = [](nb_session*, const nb_effective_sink*, nb_error*) { return NB_FAILED; };
    table.method = [](nb_session*) { return ""; };
    table.run = [](nb_session*, const nb_batch*, nb_batch_result*, nb_error*) { return NB_FAILED; };
    table.stop = [](nb_session*, int64_t, nb_error*) { return NB_FAILED; };
    table.cancel = [](nb_session*) {};
    table.counters = [](nb_session*, const nb_sink*, nb_error*) { return NB_FAILED; };
    table.close = [](nb_session*) {};
    table.extension = [](const char*) -> const void* { return nullptr; };
  }
};

}  // namespace netbench::plugin
