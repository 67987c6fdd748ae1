#include "transports/verbs/probe.hpp"

#include "transports/rdma/device.hpp"
#include "transports/rdma/preflight.hpp"

namespace netbench::verbs {
namespace {

void tell(const sdk::Sink& sink, const rdma::Rail& rail) {
  const std::string key = "rdma." + rdma::rail_name(rail.port) + ".";
  if (!rail.problem.empty()) {
    sink.text(key + "problem", rail.problem);
    return;
  }
  sink.text(key + "state", rdma::name_of(rail.port.state));
  sink.text(key + "link_layer", rdma::name_of(rail.port.link_layer));
  sink.number(key + "active_mtu_bytes", rail.port.active_mtu_bytes);
  sink.number(key + "max_mtu_bytes", rail.port.max_mtu_bytes);
  sink.number(key + "max_reads_out", rail.limits.max_reads_out);
  sink.number(key + "max_reads_in", rail.limits.max_reads_in);
  sink.text(key + "atomics", rail.limits.atomics ? "yes" : "no");
}

}  // namespace

void probe_rails(const rdma::VerbsTable& verbs, const sdk::Sink& sink, const std::string& root) {
  const auto rails = rdma::take(rdma::list_rails(verbs, root));
  if (rails.empty()) {
    throw rdma::why_no_device(root);
  }
  for (const rdma::Rail& rail : rails) {
    tell(sink, rail);
  }
  (void)rdma::take(rdma::choose_rail(rails, {}));
}

}  // namespace netbench::verbs
