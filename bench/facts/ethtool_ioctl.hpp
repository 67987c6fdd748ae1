#pragma once

#include <string>

#include "bench/model/facts.hpp"

namespace netbench::facts {

/// One ioctl of linux/ethtool.h: `command` is one of its structures with `cmd` set. Returns 0 or
/// the errno of the refusal.
[[nodiscard]] int ethtool_ioctl(int socket, const std::string& interface, void* command);

/// That errno as the reason of an unknown fact.
[[nodiscard]] std::string ethtool_refusal(int error_number);

[[nodiscard]] Fact known_fact(std::string key, Value value, std::string source);
[[nodiscard]] Fact unknown_fact(std::string key, std::string source, std::string why);

}  // namespace netbench::facts
