#include <memory>

#include "transports/rdma/verbs_table.hpp"
#include "transports/sdk/export.hpp"
#include "transports/verbs/options.hpp"
#include "transports/verbs/probe.hpp"
#include "transports/verbs/session.hpp"
#include "transports/verbs/tables.hpp"

namespace netbench::verbs {
namespace {

/// Opened by the first who needs it, for the rest of the process. Throws NB_UNAVAILABLE.
const rdma::VerbsTable& verbs_library() {
  static const rdma::Result<rdma::VerbsTable> library = rdma::load_verbs_table();
  if (!library) {
    throw sdk::Error(library.error());
  }
  return *library;
}

struct Verbs {
  using Session = verbs::Session;
  static constexpr const char* kName = "verbs";
  static constexpr const char* kSummary = "RDMA verbs: RoCE, InfiniBand and iWARP";
  static constexpr const char* kVersion = "1";
  static constexpr const auto& kWorkloads = kWorkloadRows;
  static constexpr const auto& kTunables = kTunableRows;

  static void probe(sdk::Host, sdk::Sink sink) { probe_rails(verbs_library(), sink); }

  static void check(const nb_open_args& args) { check_options(parse_options(args)); }

  static std::unique_ptr<Session> open(sdk::Host host, const nb_open_args& args) {
    Options options = parse_options(args);
    check_options(options);
    return make_session(host, std::move(options), {&verbs_library(), nullptr});
  }
};

}  // namespace
}  // namespace netbench::verbs

NB_EXPORT_TRANSPORT(netbench::verbs::Verbs)
