#include "transports/rdma/verbs_table.hpp"

#include <dlfcn.h>

namespace netbench::rdma {
namespace {

/// Fills one table, and remembers the first required symbol that is absent.
class Filler {
 public:
  explicit Filler(const Resolver& resolve) : resolve_(resolve) {}

  template <class Function>
  void optional(Function*& slot, const char* name, const char* version) {
    slot = reinterpret_cast<Function*>(resolve_(name, version));
  }
  template <class Function>
  void required(Function*& slot, const char* name, const char* version) {
    optional(slot, name, version);
    if (slot == nullptr && missing_.empty()) {
      missing_ = std::string(name) + "@" + version;
    }
  }
  template <class Table>
  [[nodiscard]] Result<Table> finish(const Table& table, const char* library) const {
    if (missing_.empty()) {
      return table;
    }
    return fail(NB_UNAVAILABLE, "rdma-library-too-old",
                std::string(library) + " has no " + missing_,
                "install the rdma-core packages of a supported release");
  }

 private:
  const Resolver& resolve_;
  std::string missing_;
};

void fill_devices(Filler& filler, VerbsTable& table) {
  filler.required(table.get_device_list, "ibv_get_device_list", "IBVERBS_1.1");
  filler.required(table.free_device_list, "ibv_free_device_list", "IBVERBS_1.1");
  filler.required(table.get_device_name, "ibv_get_device_name", "IBVERBS_1.1");
  filler.required(table.open_device, "ibv_open_device", "IBVERBS_1.1");
  filler.required(table.close_device, "ibv_close_device", "IBVERBS_1.1");
  filler.required(table.get_async_event, "ibv_get_async_event", "IBVERBS_1.1");
  filler.required(table.ack_async_event, "ibv_ack_async_event", "IBVERBS_1.1");
  filler.required(table.query_device, "ibv_query_device", "IBVERBS_1.1");
  filler.required(table.query_port, "ibv_query_port", "IBVERBS_1.1");
  filler.required(table.query_gid, "ibv_query_gid", "IBVERBS_1.1");
  filler.required(table.query_pkey, "ibv_query_pkey", "IBVERBS_1.1");
  filler.optional(table.query_gid_table, "_ibv_query_gid_table", "IBVERBS_1.11");
}

void fill_memory_and_completions(Filler& filler, VerbsTable& table) {
  filler.required(table.alloc_pd, "ibv_alloc_pd", "IBVERBS_1.1");
  filler.required(table.dealloc_pd, "ibv_dealloc_pd", "IBVERBS_1.1");
  filler.required(table.reg_mr, "ibv_reg_mr", "IBVERBS_1.1");
  filler.required(table.dereg_mr, "ibv_dereg_mr", "IBVERBS_1.1");
  filler.optional(table.reg_mr_iova2, "ibv_reg_mr_iova2", "IBVERBS_1.8");
  filler.optional(table.reg_dmabuf_mr, "ibv_reg_dmabuf_mr", "IBVERBS_1.12");
  filler.required(table.create_comp_channel, "ibv_create_comp_channel", "IBVERBS_1.0");
  filler.required(table.destroy_comp_channel, "ibv_destroy_comp_channel", "IBVERBS_1.0");
  filler.required(table.create_cq, "ibv_create_cq", "IBVERBS_1.1");
  filler.required(table.destroy_cq, "ibv_destroy_cq", "IBVERBS_1.1");
  filler.required(table.get_cq_event, "ibv_get_cq_event", "IBVERBS_1.1");
  filler.required(table.ack_cq_events, "ibv_ack_cq_events", "IBVERBS_1.1");
}

void fill_queue_pairs(Filler& filler, VerbsTable& table) {
  filler.required(table.create_qp, "ibv_create_qp", "IBVERBS_1.1");
  filler.required(table.modify_qp, "ibv_modify_qp", "IBVERBS_1.1");
  filler.required(table.query_qp, "ibv_query_qp", "IBVERBS_1.1");
  filler.required(table.destroy_qp, "ibv_destroy_qp", "IBVERBS_1.1");
  filler.required(table.create_ah, "ibv_create_ah", "IBVERBS_1.1");
  filler.required(table.destroy_ah, "ibv_destroy_ah", "IBVERBS_1.1");
  filler.optional(table.query_qp_data_in_order, "ibv_query_qp_data_in_order", "IBVERBS_1.14");
}

/// The loader's library, left open.
Result<Resolver> open_library(const char* library, const char* package) {
  void* handle = ::dlopen(library, RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* reason = ::dlerror();
    return fail(NB_UNAVAILABLE, "rdma-no-library",
                std::string("no ") + library + ": " + (reason != nullptr ? reason : "not found"),
                std::string("apt-get install ") + package);
  }
  return
      [handle](const char* name, const char* version) { return ::dlvsym(handle, name, version); };
}

}  // namespace

Result<VerbsTable> fill_verbs_table(const Resolver& resolve) {
  Filler filler(resolve);
  VerbsTable table;
  fill_devices(filler, table);
  fill_memory_and_completions(filler, table);
  fill_queue_pairs(filler, table);
  return filler.finish(table, "libibverbs");
}

Result<CmTable> fill_cm_table(const Resolver& resolve) {
  constexpr const char* kVersion = "RDMACM_1.0";
  Filler filler(resolve);
  CmTable table;
  filler.required(table.create_event_channel, "rdma_create_event_channel", kVersion);
  filler.required(table.destroy_event_channel, "rdma_destroy_event_channel", kVersion);
  filler.required(table.create_id, "rdma_create_id", kVersion);
  filler.required(table.destroy_id, "rdma_destroy_id", kVersion);
  filler.required(table.bind_addr, "rdma_bind_addr", kVersion);
  filler.required(table.resolve_addr, "rdma_resolve_addr", kVersion);
  filler.required(table.resolve_route, "rdma_resolve_route", kVersion);
  filler.required(table.create_qp, "rdma_create_qp", kVersion);
  filler.required(table.destroy_qp, "rdma_destroy_qp", kVersion);
  filler.required(table.connect, "rdma_connect", kVersion);
  filler.required(table.listen, "rdma_listen", kVersion);
  filler.required(table.accept, "rdma_accept", kVersion);
  filler.required(table.reject, "rdma_reject", kVersion);
  filler.required(table.disconnect, "rdma_disconnect", kVersion);
  filler.required(table.get_cm_event, "rdma_get_cm_event", kVersion);
  filler.required(table.ack_cm_event, "rdma_ack_cm_event", kVersion);
  filler.required(table.get_src_port, "rdma_get_src_port", kVersion);
  filler.required(table.set_option, "rdma_set_option", kVersion);
  return filler.finish(table, "librdmacm");
}

Result<VerbsTable> load_verbs_table(const char* library) {
  return open_library(library, "libibverbs1 ibverbs-providers").and_then(fill_verbs_table);
}

Result<CmTable> load_cm_table(const char* library) {
  return open_library(library, "librdmacm1").and_then(fill_cm_table);
}

}  // namespace netbench::rdma
