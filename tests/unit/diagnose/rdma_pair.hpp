#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "builder.hpp"

/// Two hosts with RDMA cards, for the rules of RDMA.
namespace netbench::report::test {

inline Value words(const char* text) { return std::string(text); }
inline Value whole(std::int64_t number) { return number; }

/// Two hosts with a healthy 200 Gb/s card each.
inline DocumentBuilder healthy() {
  DocumentBuilder builder;
  for (const auto& [key, value] : std::initializer_list<std::pair<const char*, Value>>{
           {"rdma.devices", whole(1)},
           {"rdma.memlock_bytes", whole(std::int64_t{1} << 40)},
           {"rdma.cap_ipc_lock", false},
           {"rdma.mlx5_0.driver", words("mlx5")},
           {"rdma.mlx5_0.software", false},
           {"rdma.mlx5_0.state", words("ACTIVE")},
           {"rdma.mlx5_0.phys_state", words("LinkUp")},
           {"rdma.mlx5_0.link_layer", words("Ethernet")},
           {"rdma.mlx5_0.rate_bps", 200e9},
           {"rdma.mlx5_0.lanes", words("4X HDR")},
           {"rdma.mlx5_0.board", words("MT_0000000224")},
           {"rdma.mlx5_0.firmware", words("20.39.1002")},
           {"rdma.mlx5_0.interface", words("eth0")},
           {"rdma.mlx5_0.interface_mtu_bytes", whole(9000)},
           {"rdma.mlx5_0.active_mtu_bytes", whole(4096)},
           {"rdma.mlx5_0.access", words("allowed")},
           {"rdma.mlx5_0.pkey", whole(0xffff)},
           {"rdma.mlx5_0.sm_lid", whole(0)},
           {"rdma.mlx5_0.gid.3.type", words("RoCE v2")},
           {"rdma.mlx5_0.iommu_group_type", words("identity")},
           {"rdma.mlx5_0.numa_node", whole(1)},
           {"rdma.mlx5_0.pcie.speed_gtps", 16.0},
           {"rdma.mlx5_0.pcie.max_speed_gtps", 16.0},
           {"rdma.mlx5_0.pcie.width_lanes", whole(16)},
           {"rdma.mlx5_0.pcie.max_width_lanes", whole(16)}}) {
    builder.fact(key, value);
  }
  builder.fact("h0", "rdma.mlx5_0.gid.3.address", words("::ffff:192.168.1.100"));
  builder.fact("h1", "rdma.mlx5_0.gid.3.address", words("::ffff:192.168.1.101"));
  return builder;
}

inline Document with(Document document, const std::string& host, const std::string& key,
                     Value value) {
  auto& facts = document.hosts.at(host).facts;
  std::erase_if(facts, [&](const Fact& fact) { return fact.key == key; });
  facts.push_back({key, std::move(value), "test", ""});
  return document;
}

inline Verdict of_hosts(std::string_view rule, const Document& document) {
  return judge(rdma_rules(), rule, document, -1);
}

inline Verdict of_row(std::string_view rule, const Document& document, int row = 0) {
  return judge(rdma_rules(), rule, document, row);
}

inline Document full_speed() {
  return healthy()
      .row(RowBuilder::verbs(193e9)
               .ceiling(195.9e9)
               .effective("verbs.gid_index", whole(3))
               .effective("verbs.tx_depth", whole(128)))
      .build();
}

inline Document software(bool with_card) {
  Document document = healthy().row(RowBuilder::verbs(1e9)).build();
  for (const char* host : {"h0", "h1"}) {
    document = with(std::move(document), host, "rdma.rxe0.driver", words("rxe"));
    document = with(std::move(document), host, "rdma.rxe0.software", true);
    document = with(std::move(document), host, "rdma.rxe0.state", words("ACTIVE"));
    if (!with_card) {
      std::erase_if(document.hosts.at(host).facts,
                    [](const Fact& fact) { return fact.key.starts_with("rdma.mlx5_0."); });
    }
  }
  auto& tunables = document.measurements[0].tunables;
  tunables.effective_initiator["verbs.device"] = words("rxe0");
  tunables.effective_responder["verbs.device"] = words("rxe0");
  return document;
}

}  // namespace netbench::report::test
