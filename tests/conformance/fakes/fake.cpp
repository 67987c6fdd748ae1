/// A transport that does nothing, with one defect chosen by a FAKE_… define.
#include <unistd.h>

#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "transports/abi/nb_transport.h"

namespace {

nb_status probe(const nb_host* /*host*/, const nb_sink* /*sink*/, nb_error* error) {
  static_cast<void>(error);
#if defined(FAKE_CRASH)
  std::raise(SIGSEGV);
#elif defined(FAKE_HANG)
  while (true) {
    pause();
  }
#elif defined(FAKE_EXITS)
  _exit(7);
#elif defined(FAKE_UNAVAILABLE)
  constexpr char kReason[] = "libfake.so.1 not found";
  for (std::size_t i = 0; i < sizeof kReason; ++i) {
    error->message[i] = kReason[i];
  }
  return NB_UNAVAILABLE;
#endif
  return NB_OK;
}

nb_status check(const nb_open_args* /*args*/, nb_error* /*error*/) { return NB_OK; }
nb_status open(const nb_host* /*host*/, const nb_open_args* /*args*/, nb_session** /*session*/,
               nb_error* /*error*/) {
  return NB_FAILED;
}
nb_status describe(nb_session* /*session*/, nb_blob* /*blob*/, nb_error* /*error*/) {
  return NB_FAILED;
}
nb_status connect(nb_session* /*session*/, const nb_blob* /*peers*/, size_t /*count*/,
                  nb_error* /*error*/) {
  return NB_FAILED;
}
nb_status effective(nb_session* /*session*/, const nb_effective_sink* /*sink*/,
                    nb_error* /*error*/) {
  return NB_FAILED;
}
const char* method(nb_session* /*session*/) { return ""; }
[[maybe_unused]] nb_status run(nb_session* /*session*/, const nb_batch* /*batch*/,
                               nb_batch_result* /*result*/, nb_error* /*error*/) {
  return NB_FAILED;
}
nb_status stop(nb_session* /*session*/, int64_t /*timeout_ns*/, nb_error* /*error*/) {
  return NB_FAILED;
}
void cancel(nb_session* /*session*/) {}
nb_status counters(nb_session* /*session*/, const nb_sink* /*sink*/, nb_error* /*error*/) {
  return NB_FAILED;
}
void close(nb_session* /*session*/) {}
const void* extension(const char* /*id*/) { return nullptr; }

constexpr nb_workload kWorkloads[] = {
    {sizeof(nb_workload), "latency", "nothing", NB_PING_PONG, 0, 1, 64, "64", "64"}};

#if defined(FAKE_BAD_DEFAULT)
constexpr std::int64_t kDefault = 11;
#else
constexpr std::int64_t kDefault = 1;
#endif
constexpr nb_tunable number(const char* name) {
  return {sizeof(nb_tunable),
          name,
          "a number",
          NB_TYPE_INTEGER,
          NB_UNIT_NONE,
          NB_SCALE_LINEAR,
          NB_SCOPE_CONNECTION,
          0,
          0,
          10,
          kDefault,
          nullptr,
          nullptr,
          0,
          0,
          nullptr,
          0};
}
#if defined(FAKE_TWICE)
constexpr nb_tunable kTunables[] = {number("depth"), number("depth")};
#else
constexpr nb_tunable kTunables[] = {number("depth")};
#endif

#if defined(FAKE_WRONG_SIZE)
constexpr size_t kSize = offsetof(nb_transport, close);
#else
constexpr size_t kSize = sizeof(nb_transport);
#endif

#if defined(FAKE_WRONG_VERSION)
constexpr std::uint32_t kVersion = NB_ABI_VERSION + 1;
#else
constexpr std::uint32_t kVersion = NB_ABI_VERSION;
#endif

#if defined(FAKE_NO_RUN)
constexpr decltype(nb_transport::run) kRun = nullptr;
#else
constexpr decltype(nb_transport::run) kRun = run;
#endif

}  // namespace

#if defined(FAKE_NO_SYMBOL)
#define ENTRY some_other_symbol
#else
#define ENTRY nb_transport_entry_v1
#endif

extern "C" {
extern const nb_transport ENTRY;
const nb_transport ENTRY = {kSize,    kVersion,  FAKE_NAME,
                            "a fake", "0",       kWorkloads,
                            1,        kTunables, sizeof kTunables / sizeof kTunables[0],
                            probe,    check,     open,
                            describe, connect,   effective,
                            method,   kRun,      stop,
                            cancel,   counters,  close,
                            extension};
}
