#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>
#include <vector>

#include "transports/rdma/preflight.hpp"

namespace netbench::rdma {
namespace {

namespace fs = std::filesystem;

constexpr const char* kContainer =
    "in a container, pass /dev/infiniband (docker run --device=/dev/infiniband, or the RDMA device "
    "plug-in of Kubernetes); on a host, udev makes it";

std::vector<fs::path> entries_of(const fs::path& folder) {
  std::vector<fs::path> found;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    found.push_back(at->path());
  }
  std::ranges::sort(found);
  return found;
}

std::string first_line(const fs::path& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

/// "uverbs0" and the device behind it.
struct UserNode {
  std::string name;
  std::string device;
};

std::vector<UserNode> user_nodes(const fs::path& root) {
  std::vector<UserNode> found;
  for (const fs::path& entry : entries_of(root / "sys/class/infiniband_verbs")) {
    if (entry.filename().string().starts_with("uverbs")) {
      found.push_back({entry.filename().string(), first_line(entry / "ibdev")});
    }
  }
  return found;
}

/// What keeps this process from a node; nothing where it may use it.
std::optional<sdk::Error> obstacle(const UserNode& node, const fs::path& root) {
  const std::string path = "/dev/infiniband/" + node.name;
  const std::string real = (root / path.substr(1)).string();
  if (::access(real.c_str(), R_OK | W_OK) == 0) {
    return std::nullopt;
  }
  const int reason = errno;
  if (reason == ENOENT || reason == ENOTDIR) {
    return sdk::Error(NB_UNAVAILABLE, "rdma-no-device-node",
                      "the kernel has " + node.device + ", but there is no " + path, kContainer,
                      reason);
  }
  return sdk::Error(
      NB_UNAVAILABLE, "rdma-no-permission",
      "this process may not open " + path + " of " + node.device + ": " + sdk::errno_text(reason),
      "chmod 0666 " + path + ", or run as a user who may", reason);
}

std::string names_in(const std::vector<fs::path>& devices) {
  std::string text;
  for (const fs::path& device : devices) {
    text += (text.empty() ? "" : ", ") + device.filename().string();
  }
  return text;
}

}  // namespace

Check check_device_node(const std::string& device, const std::string& root) {
  const std::vector<UserNode> nodes = user_nodes(root);
  const auto node = std::ranges::find(nodes, device, &UserNode::device);
  if (node == nodes.end()) {
    return {"device-node", Verdict::unknown, "the device node of " + device + " is not in sysfs",
            "", ""};
  }
  const std::optional<sdk::Error> problem = obstacle(*node, root);
  if (!problem) {
    return {"device-node", Verdict::passed, "/dev/infiniband/" + node->name, "", ""};
  }
  return {"device-node", Verdict::failed, problem->message(), problem->remedy(), problem->slug()};
}

sdk::Error why_no_device(const std::string& root) {
  const std::vector<fs::path> devices = entries_of(fs::path(root) / "sys/class/infiniband");
  if (devices.empty()) {
    return {NB_UNAVAILABLE, "rdma-no-device-here", "this host has no RDMA device",
            "load its driver; for software RDMA: rdma link add rxe0 type rxe netdev eth0"};
  }
  const std::vector<UserNode> nodes = user_nodes(root);
  const std::string names = names_in(devices);
  if (nodes.empty()) {
    return {NB_UNAVAILABLE, "rdma-no-uverbs",
            "the kernel has " + names + ", but gives no access to programs", "modprobe ib_uverbs"};
  }
  for (const UserNode& node : nodes) {
    if (const std::optional<sdk::Error> problem = obstacle(node, root)) {
      return *problem;
    }
  }
  return {NB_UNAVAILABLE, "rdma-no-provider",
          "the kernel has " + names + ", but libibverbs has no provider for it",
          "apt-get install ibverbs-providers, of the release that fits the kernel's driver"};
}

sdk::Error why_not_opened(const std::string& device, int sys_errno, const std::string& root) {
  const std::vector<UserNode> nodes = user_nodes(root);
  const auto node = std::ranges::find(nodes, device, &UserNode::device);
  if (node != nodes.end()) {
    if (const std::optional<sdk::Error> problem = obstacle(*node, root)) {
      return *problem;
    }
  }
  return {NB_UNAVAILABLE, "rdma-open-failed",
          "opening RDMA device " + device + ": " + sdk::errno_text(sys_errno),
          "see the kernel's log", sys_errno};
}

}  // namespace netbench::rdma
