#pragma once

#include "bench/session/acceptor.hpp"
#include "transports/abi/nb_transport.h"

namespace netbench::session {

/// The host extension "nb.rendezvous/1" over an acceptor. Who fills an nb_host returns table() from
/// its `extension` for NB_RENDEZVOUS_ID: the functions find their acceptor that way. The acceptor
/// outlives this object, which stays where it is.
class Rendezvous {
 public:
  explicit Rendezvous(Acceptor& acceptor);
  Rendezvous(const Rendezvous&) = delete;
  Rendezvous& operator=(const Rendezvous&) = delete;

  [[nodiscard]] const nb_rendezvous* table() const { return &entry_.table; }

 private:
  struct Entry {
    nb_rendezvous table;  // first: the functions get from its address to the entry's
    Acceptor* acceptor;
  };

  [[nodiscard]] static Acceptor& acceptor_of(const nb_host* host);
  static nb_status issue_token(const nb_host* host, uint8_t token[NB_TOKEN_BYTES]);
  static nb_status take_connection(const nb_host* host, const uint8_t token[NB_TOKEN_BYTES],
                                   int64_t timeout_ns, int* fd);
  static int listener(const nb_host* host);

  Entry entry_;
};

}  // namespace netbench::session
