#pragma once

#include <string>
#include <vector>

namespace netbench::facts {

/// A port of an RDMA device. The rail's name is the device's where that has one port, else
/// "<device>:<port>".
struct RdmaRail {
  std::string name;
  std::string device;
  int port = 1;

  /// "/sys/class/infiniband/mlx5_0", "/sys/class/infiniband/mlx5_0/ports/1".
  [[nodiscard]] std::string device_folder() const;
  [[nodiscard]] std::string port_folder() const;
};

/// Every rail below `root`, in the order of their names. [any-thread]
[[nodiscard]] std::vector<RdmaRail> rdma_rails(const std::string& root);

/// What drives a device: "mlx5", "bnxt_re", "irdma", "efa", "mana", "rxe", "siw" …; the bus
/// driver's own name where no RDMA driver of it is known, "" where nothing is. Software devices
/// have no hardware behind them: rxe (RoCE) and siw (iWARP).
struct RdmaDriver {
  std::string name;
  bool software = false;
  std::string source;  // the file that says so
};
[[nodiscard]] RdmaDriver rdma_driver(const std::string& root, const RdmaRail& rail);

/// The network interface of a rail: that of its first GID, of its parent, or of its device; ""
/// where it has none (InfiniBand without IPoIB). [any-thread]
[[nodiscard]] std::string rdma_interface(const std::string& root, const RdmaRail& rail);

}  // namespace netbench::facts
