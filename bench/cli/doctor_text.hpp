#pragma once

#include <string>

#include "bench/model/document.hpp"

namespace netbench::cli {

struct DoctorTextOptions {
  bool color = false;
  int width = 120;   // columns
  bool all = false;  // every fact with its source, or the reason why it is unknown
};

/// The facts of a document's hosts for a terminal: the important ones grouped by topic, the hosts
/// beside each other and what differs visible at a glance, on about half a screen; of one host
/// with several interfaces, these in a table. Pure.
[[nodiscard]] std::string doctor_text(const Document& document, const DoctorTextOptions& options);

/// A form filled in with facts of a host. "{key}" is a value with its unit, or nothing where it is
/// not known; in a key, "*" stands for `device`; "{@address}" is the host's first address.
/// "{key?text}" is the text where the value is true
/// or not 0; "{key!text}" is the value unless it reads so. What stands in "[ ]" is left out
/// where a key inside gives nothing; without any value the whole is "". Pure.
[[nodiscard]] std::string filled_in(std::string_view form, const HostInfo& host,
                                    const std::string& device);

}  // namespace netbench::cli
