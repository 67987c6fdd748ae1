#include <array>
#include <memory>

#include "transports/sdk/export.hpp"
#include "transports/tcp/options.hpp"
#include "transports/tcp/session.hpp"
#include "transports/tcp/socket.hpp"
#include "transports/tcp/tables.hpp"

namespace netbench::tcp {
namespace {

struct Tcp {
  using Session = tcp::Session;
  static constexpr const char* kName = "tcp";
  static constexpr const char* kSummary = "TCP over IPv4 and IPv6";
  static constexpr const char* kVersion = "1";
  static constexpr const auto& kWorkloads = kWorkloadRows;
  static constexpr const auto& kTunables = kTunableRows;

  static void probe(sdk::Host, sdk::Sink sink) {
    const Fd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (!socket.valid()) {
      throw sdk::Error(NB_UNAVAILABLE, "tcp-unavailable",
                       "no TCP socket: " + sdk::errno_text(errno), "", errno);
    }
    sink.text("tcp.congestion", congestion_of(socket.get()));
  }

  static void check(const nb_open_args& args) { check_options(parse_options(args)); }

  static std::unique_ptr<Session> open(sdk::Host host, const nb_open_args& args) {
    static constexpr std::array kMakers = {&make_latency_session, &make_stream_session,
                                           &make_stream_session, &make_loaded_session,
                                           &make_connect_session};
    static_assert(kMakers.size() == kWorkloadRows.size());
    Options options = parse_options(args);
    check_options(options);
    return kMakers[args.workload](host, std::move(options));
  }
};

}  // namespace
}  // namespace netbench::tcp

NB_EXPORT_TRANSPORT(netbench::tcp::Tcp)
