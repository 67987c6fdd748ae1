#include "bench/session/hello.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <utility>

namespace netbench::session {

namespace {

constexpr const char* kSameVersion = "install the same netbench version on both hosts";

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "unknown";
}

std::string boot_id() {
  std::string id;
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::getline(file, id);
  return id;
}

const Hello::Plugin* find_plugin(const Hello& hello, const std::string& name) {
  const auto found = std::ranges::find(hello.plugins, name, &Hello::Plugin::name);
  return found != hello.plugins.end() ? &*found : nullptr;
}

tl::unexpected<Error> plugin_mismatch(std::string message) {
  return fail("plugin-mismatch", std::move(message), kSameVersion, ExitClass::nothing_measured);
}

}  // namespace

Hello local_hello(std::string version) {
  Hello hello;
  hello.version = std::move(version);
  hello.host_name = host_name();
  hello.boot_id = boot_id();
  return hello;
}

Status check_protocol(const Hello& own, const Hello& other, const std::string& peer) {
  if (own.protocol == other.protocol) {
    return {};
  }
  return fail("version-mismatch",
              fmt::format("this is netbench {} (protocol {}), {} is netbench {} (protocol {})",
                          own.version, own.protocol, peer, other.version, other.protocol),
              kSameVersion, ExitClass::nothing_measured);
}

Status compare_plugins(const Hello::Plugin& own, const Hello::Plugin& other) {
  if (own.version != other.version) {
    return plugin_mismatch(fmt::format("the transport {} has version {} here and {} on the peer",
                                       own.name, own.version, other.version));
  }
  if (own.tunables_hash != other.tunables_hash) {
    return plugin_mismatch(fmt::format(
        "the transport {} {} has other workloads or tunables here ({}) than on the peer "
        "({})",
        own.name, own.version, own.tunables_hash, other.tunables_hash));
  }
  return {};
}

Status compare_plugins(const Hello& own, const Hello& other, const std::string& name,
                       const std::string& peer) {
  const Hello::Plugin* here = find_plugin(own, name);
  const Hello::Plugin* there = find_plugin(other, name);
  if (here == nullptr) {
    return plugin_mismatch(fmt::format("the transport {} is not installed here", name));
  }
  if (there == nullptr) {
    return plugin_mismatch(fmt::format("the transport {} is not installed on {}", name, peer));
  }
  return compare_plugins(*here, *there);
}

}  // namespace netbench::session
