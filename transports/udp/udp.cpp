#include <sys/socket.h>

#include <cerrno>
#include <cstdint>
#include <fstream>
#include <memory>

#include "transports/sdk/error.hpp"
#include "transports/sdk/export.hpp"
#include "transports/udp/options.hpp"
#include "transports/udp/session.hpp"
#include "transports/udp/socket.hpp"
#include "transports/udp/tables.hpp"

namespace netbench::udp {
namespace {

void tell_limit(sdk::Sink sink, const char* name, const char* path) {
  std::int64_t value = 0;
  if (std::ifstream(path) >> value) {
    sink.number(name, static_cast<double>(value));
  }
}

/// UDP through the kernel's sockets.
struct Udp {
  using Session = UdpSession;
  static constexpr const char* kName = "udp";
  static constexpr const char* kSummary =
      "UDP through the kernel: paced datagrams, loss, reordering, duplicates, jitter";
  static constexpr const char* kVersion = "1.0.0";
  static constexpr const auto& kWorkloads = kWorkloadRows;
  static constexpr const auto& kTunables = kTunableRows;

  static void probe(sdk::Host /*host*/, sdk::Sink sink) {
    const Fd v4(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    const int error = errno;
    const Fd v6(::socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    if (!v4.valid() && !v6.valid()) {
      throw sdk::Error(NB_UNAVAILABLE, "udp-no-sockets",
                       "this process gets no UDP sockets: " + sdk::errno_text(error), "", error);
    }
    sink.number("udp.ipv4", v4.valid() ? 1 : 0);
    sink.number("udp.ipv6", v6.valid() ? 1 : 0);
    tell_limit(sink, "udp.rmem_max_bytes", "/proc/sys/net/core/rmem_max");
    tell_limit(sink, "udp.wmem_max_bytes", "/proc/sys/net/core/wmem_max");
  }

  static void check(const nb_open_args& args) { check_options(parse_options(args)); }

  static std::unique_ptr<Session> open(sdk::Host host, const nb_open_args& args) {
    const Options options = parse_options(args);
    check_options(options);
    if (options.role == NB_INITIATOR && options.peer.length == 0) {
      throw sdk::Error(NB_INVALID, "no-peer-address", "the agent's address is not known");
    }
    return make_session(host, options);
  }
};

}  // namespace
}  // namespace netbench::udp

NB_EXPORT_TRANSPORT(netbench::udp::Udp)
