#pragma once

#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "transports/rdma/result.hpp"

/// libibverbs and librdmacm as structs of function pointers. They are opened at run time, so that a
/// plug-in runs, and says why RDMA is unavailable, where they are absent; a test fills its own.
/// Names are the libraries' without their prefix: ibv_open_device() is open_device. The calls of
/// the data path are in fast_path.hpp.
namespace netbench::rdma {

/// Semantics, threads and ownership are those of the manual page of the same name. Calls that are
/// optional are null where the library is older than they are.
struct VerbsTable {
  ibv_device** (*get_device_list)(int* count) = nullptr;
  void (*free_device_list)(ibv_device** list) = nullptr;
  const char* (*get_device_name)(ibv_device* device) = nullptr;
  ibv_context* (*open_device)(ibv_device* device) = nullptr;
  int (*close_device)(ibv_context* context) = nullptr;
  int (*get_async_event)(ibv_context* context, ibv_async_event* event) = nullptr;
  void (*ack_async_event)(ibv_async_event* event) = nullptr;

  int (*query_device)(ibv_context* context, ibv_device_attr* attributes) = nullptr;
  int (*query_port)(ibv_context* context, std::uint8_t port,
                    _compat_ibv_port_attr* attributes) = nullptr;
  int (*query_gid)(ibv_context* context, std::uint8_t port, int index, ibv_gid* gid) = nullptr;
  int (*query_pkey)(ibv_context* context, std::uint8_t port, int index, __be16* pkey) = nullptr;

  ibv_pd* (*alloc_pd)(ibv_context* context) = nullptr;
  int (*dealloc_pd)(ibv_pd* pd) = nullptr;
  ibv_mr* (*reg_mr)(ibv_pd* pd, void* address, std::size_t bytes, int access) = nullptr;
  int (*dereg_mr)(ibv_mr* mr) = nullptr;

  ibv_comp_channel* (*create_comp_channel)(ibv_context* context) = nullptr;
  int (*destroy_comp_channel)(ibv_comp_channel* channel) = nullptr;
  ibv_cq* (*create_cq)(ibv_context* context, int entries, void* cq_context,
                       ibv_comp_channel* channel, int vector) = nullptr;
  int (*destroy_cq)(ibv_cq* cq) = nullptr;
  int (*get_cq_event)(ibv_comp_channel* channel, ibv_cq** cq, void** cq_context) = nullptr;
  void (*ack_cq_events)(ibv_cq* cq, unsigned int count) = nullptr;

  ibv_qp* (*create_qp)(ibv_pd* pd, ibv_qp_init_attr* attributes) = nullptr;
  int (*modify_qp)(ibv_qp* qp, ibv_qp_attr* attributes, int mask) = nullptr;
  int (*query_qp)(ibv_qp* qp, ibv_qp_attr* attributes, int mask,
                  ibv_qp_init_attr* initial) = nullptr;
  int (*destroy_qp)(ibv_qp* qp) = nullptr;
  ibv_ah* (*create_ah)(ibv_pd* pd, ibv_ah_attr* attributes) = nullptr;
  int (*destroy_ah)(ibv_ah* ah) = nullptr;

  // Optional. With the release of rdma-core that brought each.
  ibv_mr* (*reg_mr_iova2)(ibv_pd* pd, void* address, std::size_t bytes, std::uint64_t iova,
                          unsigned int access) = nullptr;  // 28; needed for relaxed ordering
  ssize_t (*query_gid_table)(ibv_context* context, ibv_gid_entry* entries, std::size_t capacity,
                             std::uint32_t flags, std::size_t entry_bytes) = nullptr;  // 32
  ibv_mr* (*reg_dmabuf_mr)(ibv_pd* pd, std::uint64_t offset, std::size_t bytes, std::uint64_t iova,
                           int fd, int access) = nullptr;  // 34
  int (*query_qp_data_in_order)(ibv_qp* qp, ibv_wr_opcode operation,
                                std::uint32_t flags) = nullptr;  // 36
};

/// As VerbsTable, of librdmacm.
struct CmTable {
  rdma_event_channel* (*create_event_channel)() = nullptr;
  void (*destroy_event_channel)(rdma_event_channel* channel) = nullptr;
  int (*create_id)(rdma_event_channel* channel, rdma_cm_id** id, void* context,
                   rdma_port_space space) = nullptr;
  int (*destroy_id)(rdma_cm_id* id) = nullptr;
  int (*bind_addr)(rdma_cm_id* id, sockaddr* address) = nullptr;
  int (*resolve_addr)(rdma_cm_id* id, sockaddr* source, sockaddr* destination,
                      int timeout_ms) = nullptr;
  int (*resolve_route)(rdma_cm_id* id, int timeout_ms) = nullptr;
  int (*create_qp)(rdma_cm_id* id, ibv_pd* pd, ibv_qp_init_attr* attributes) = nullptr;
  void (*destroy_qp)(rdma_cm_id* id) = nullptr;
  int (*connect)(rdma_cm_id* id, rdma_conn_param* parameters) = nullptr;
  int (*listen)(rdma_cm_id* id, int backlog) = nullptr;
  int (*accept)(rdma_cm_id* id, rdma_conn_param* parameters) = nullptr;
  int (*reject)(rdma_cm_id* id, const void* data, std::uint8_t bytes) = nullptr;
  int (*disconnect)(rdma_cm_id* id) = nullptr;
  int (*get_cm_event)(rdma_event_channel* channel, rdma_cm_event** event) = nullptr;
  int (*ack_cm_event)(rdma_cm_event* event) = nullptr;
  __be16 (*get_src_port)(rdma_cm_id* id) = nullptr;
  int (*set_option)(rdma_cm_id* id, int level, int name, void* value, std::size_t bytes) = nullptr;
};

/// Address of a symbol, or null: dlvsym(3) in the libraries, anything in a test.
using Resolver = std::function<void*(const char* name, const char* version)>;

/// NB_UNAVAILABLE (`rdma-library-too-old`) naming the first symbol that is required and absent.
[[nodiscard]] Result<VerbsTable> fill_verbs_table(const Resolver& resolve);
[[nodiscard]] Result<CmTable> fill_cm_table(const Resolver& resolve);

/// Opens the library, for the rest of the process (providers cannot be unloaded).
/// NB_UNAVAILABLE (`rdma-no-library`) with the loader's reason and the package to install.
[[nodiscard]] Result<VerbsTable> load_verbs_table(const char* library = "libibverbs.so.1");
[[nodiscard]] Result<CmTable> load_cm_table(const char* library = "librdmacm.so.1");

}  // namespace netbench::rdma
