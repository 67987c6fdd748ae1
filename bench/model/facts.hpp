#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "bench/model/value.hpp"

namespace netbench {

/// One thing known, or not known, about a host. `key` is dotted and carries its unit
/// (`if.eth0.mtu_bytes`, `kernel.release`); `source` is the file, ioctl, netlink attribute or
/// socket option it was read from; `unknown_because` is set where value is null.
struct Fact {
  std::string key;
  Value value;
  std::string source;
  std::string unknown_because;

  friend bool operator==(const Fact&, const Fact&) = default;
};

/// The facts of one host.
struct HostInfo {
  std::string name;                    // host name
  std::vector<std::string> addresses;  // the address used in this run first
  std::string boot_id;                 // /proc/sys/kernel/random/boot_id; equal: the same machine
  std::string interface;               // the interface that carries the test traffic, "" if unknown
  std::vector<Fact> facts;

  friend bool operator==(const HostInfo&, const HostInfo&) = default;
};

/// The fact of that key, or null.
[[nodiscard]] const Fact* find_fact(const HostInfo& host, std::string_view key);

}  // namespace netbench
