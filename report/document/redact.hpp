#pragma once

#include "bench/model/document.hpp"

namespace netbench::report {

/// The document without what identifies its hosts: host names, IP and MAC addresses, UUIDs and boot
/// ids, serial numbers, GUIDs, user names in home directories and ssh targets. Equal texts get
/// equal stand-ins (`host-0`, `address-1`, `id-2`), so that "the same machine" stays readable.
/// Loopback addresses stay. Fact keys and interface names stay.
[[nodiscard]] Document redact(Document document);

}  // namespace netbench::report
