#include "bench/facts/ethtool_ioctl.hpp"

#include <linux/sockios.h>
#include <net/if.h>
#include <sys/ioctl.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace netbench::facts {

int ethtool_ioctl(int socket, const std::string& interface, void* command) {
  ifreq request{};
  interface.copy(request.ifr_name, IFNAMSIZ - 1);
  request.ifr_data = static_cast<char*>(command);
  return ::ioctl(socket, SIOCETHTOOL, &request) == 0 ? 0 : errno;
}

std::string ethtool_refusal(int error_number) {
  return error_number == EOPNOTSUPP ? "the driver does not support this query"
                                    : std::string(std::strerror(error_number));
}

Fact known_fact(std::string key, Value value, std::string source) {
  return {std::move(key), std::move(value), std::move(source), {}};
}

Fact unknown_fact(std::string key, std::string source, std::string why) {
  return {std::move(key), {}, std::move(source), std::move(why)};
}

}  // namespace netbench::facts
