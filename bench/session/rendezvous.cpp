#include "bench/session/rendezvous.hpp"

#include <algorithm>
#include <type_traits>
#include <utility>

namespace netbench::session {

Rendezvous::Rendezvous(Acceptor& acceptor)
    : entry_{{.struct_size = sizeof(nb_rendezvous),
              .issue_token = issue_token,
              .take_connection = take_connection,
              .listener = listener},
             &acceptor} {}

Acceptor& Rendezvous::acceptor_of(const nb_host* host) {
  static_assert(std::is_standard_layout_v<Entry>);
  static_assert(kTokenBytes == NB_TOKEN_BYTES);
  const void* table = host->extension(host, NB_RENDEZVOUS_ID);
  return *static_cast<const Entry*>(table)->acceptor;
}

nb_status Rendezvous::issue_token(const nb_host* host, uint8_t token[NB_TOKEN_BYTES]) {
  const auto issued = acceptor_of(host).issue_token();
  if (!issued) {
    return NB_FAILED;
  }
  std::ranges::copy(*issued, token);
  return NB_OK;
}

nb_status Rendezvous::take_connection(const nb_host* host, const uint8_t token[NB_TOKEN_BYTES],
                                      int64_t timeout_ns, int* fd) {
  Token wanted{};
  std::copy_n(token, wanted.size(), wanted.begin());
  const Deadline deadline = Deadline::after(Nanoseconds(std::max<int64_t>(0, timeout_ns)));
  auto connection = acceptor_of(host).take_connection(wanted, deadline);
  if (!connection) {
    return connection.error().slug == "data-timeout" ? NB_TIMED_OUT : NB_INVALID;
  }
  *fd = connection->release();
  return NB_OK;
}

int Rendezvous::listener(const nb_host* host) { return acceptor_of(host).listener(); }

}  // namespace netbench::session
