#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "bench/core/result.hpp"
#include "bench/plugin/report.hpp"
#include "bench/plugin/transport.hpp"
#include "transports/abi/nb_transport.h"

/// Between the values of this module and the structs of the C interface. Internal to bench/plugin.
namespace netbench::plugin {

/// An nb_error to be filled by a call.
[[nodiscard]] nb_error empty_error();

/// The harness's error for a call that returned `status`. `what` is "tcp: connect" and begins the
/// message; cancelled and peer-closed have the same slug for every transport.
[[nodiscard]] Error to_error(nb_status status, const nb_error& error, std::string_view what);

/// A sink that collects into `readings`, valid as long as it.
[[nodiscard]] nb_sink collect_into(Readings& readings);

/// The arguments of check() and open() with the storage they point to. Not movable.
class OpenArgs {
 public:
  OpenArgs(const plan::TransportSpec& spec, const OpenRequest& request);
  OpenArgs(const OpenArgs&) = delete;
  OpenArgs& operator=(const OpenArgs&) = delete;

  [[nodiscard]] const nb_open_args* get() const { return &args_; }

 private:
  std::vector<nb_value> values_;
  nb_open_args args_{};
};

}  // namespace netbench::plugin
