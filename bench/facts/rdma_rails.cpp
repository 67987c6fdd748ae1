#include "bench/facts/rdma_rails.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "bench/facts/rdma_text.hpp"
#include "bench/facts/sysfs.hpp"
#include "bench/facts/text_files.hpp"

namespace netbench::facts {

namespace {

constexpr const char* kClass = "/sys/class/infiniband";

/// RDMA devices hang on the PCI function of the network driver below them.
struct BusDriver {
  std::string_view bus;
  std::string_view rdma;
};
constexpr std::array<BusDriver, 14> kBusDrivers{{{"mlx5_core", "mlx5"},
                                                 {"mlx5_core.sf", "mlx5"},
                                                 {"mlx4_core", "mlx4"},
                                                 {"bnxt_en", "bnxt_re"},
                                                 {"ice", "irdma"},
                                                 {"i40e", "irdma"},
                                                 {"idpf", "irdma"},
                                                 {"efa", "efa"},
                                                 {"mana", "mana"},
                                                 {"hns3", "hns"},
                                                 {"cxgb4", "cxgb4"},
                                                 {"qede", "qedr"},
                                                 {"ionic", "ionic"},
                                                 {"erdma", "erdma"}}};

/// Drivers of cards that speak iWARP; any other that does is siw on top of a card.
constexpr std::array<std::string_view, 4> kIwarpCards{"irdma", "cxgb4", "qedr", "erdma"};

std::string last_part(const std::string& path) { return path.substr(path.rfind('/') + 1); }

std::string bus_driver(const std::string& root, const RdmaRail& rail) {
  const std::string bus = last_part(real_path(root, rail.device_folder() + "/device/driver"));
  const auto known = std::ranges::find(kBusDrivers, bus, &BusDriver::bus);
  return known == kBusDrivers.end() ? bus : std::string(known->rdma);
}

/// A software device takes its GUID from its interface's address (EUI-64, RFC 4291, appendix A).
std::string interface_of_guid(const std::string& root, const RdmaRail& rail) {
  const auto guid = read_line_file(root, rail.device_folder() + "/node_guid");
  for (const auto& device :
       guid ? list_directory(root, "/sys/class/net") : std::vector<std::string>{}) {
    const auto address = read_line_file(root, fmt::format("/sys/class/net/{}/address", device));
    if (address && !address->starts_with("00:00:00:00:00:00") &&
        guid_of_address(*address) == *guid) {
      return device;
    }
  }
  return {};
}

// "1: CA" or "4: RNIC" (enum rdma_node_type of the kernel's rdma/ib_verbs.h).
bool is_iwarp(const std::string& root, const RdmaRail& rail) {
  const auto type = read_line_file(root, rail.device_folder() + "/node_type");
  return type && type->find("RNIC") != std::string::npos;
}

}  // namespace

std::string RdmaRail::device_folder() const { return fmt::format("{}/{}", kClass, device); }

std::string RdmaRail::port_folder() const {
  return fmt::format("{}/ports/{}", device_folder(), port);
}

std::vector<RdmaRail> rdma_rails(const std::string& root) {
  std::vector<RdmaRail> rails;
  for (const auto& device : list_directory(root, kClass)) {
    const auto ports = list_directory(root, fmt::format("{}/{}/ports", kClass, device));
    for (const auto& text : ports) {
      const auto port = to_integer(text);
      if (port && *port > 0 && *port < 256) {  // a port number is one byte
        rails.push_back({ports.size() == 1 ? device : fmt::format("{}:{}", device, text), device,
                         static_cast<int>(*port)});
      }
    }
  }
  return rails;
}

RdmaDriver rdma_driver(const std::string& root, const RdmaRail& rail) {
  const std::string folder = rail.device_folder();
  const bool iwarp = is_iwarp(root, rail);
  if (read_line_file(root, folder + "/parent")) {  // an attribute of rxe alone
    return {"rxe", true, folder + "/parent"};
  }
  std::string name = bus_driver(root, rail);
  if (iwarp && std::ranges::find(kIwarpCards, name) == kIwarpCards.end()) {
    return {"siw", true, folder + "/node_type"};
  }
  if (name.empty() && real_path(root, folder).find("/devices/virtual/") != std::string::npos) {
    return {"rxe", true, folder};
  }
  return {std::move(name), false, folder + "/device/driver"};
}

std::string rdma_interface(const std::string& root, const RdmaRail& rail) {
  const std::string names = rail.port_folder() + "/gid_attrs/ndevs";
  for (const auto& index : list_directory(root, names)) {
    const auto name = read_line_file(root, fmt::format("{}/{}", names, index));
    if (name && !name->empty()) {
      return *name;
    }
  }
  if (const auto parent = read_line_file(root, rail.device_folder() + "/parent"); parent) {
    return *parent;
  }
  // dev_port counts a card's ports from 0 (Documentation/ABI/testing/sysfs-class-net).
  const std::string folder = rail.device_folder() + "/device/net";
  const auto devices = list_directory(root, folder);
  for (const auto& device : devices) {
    const auto port = read_line_file(root, fmt::format("{}/{}/dev_port", folder, device));
    if (devices.size() == 1 || (port && to_integer(*port) == rail.port - 1)) {
      return device;
    }
  }
  return interface_of_guid(root, rail);
}

}  // namespace netbench::facts
