#pragma once

#include "bench/model/document.hpp"

namespace netbench::report {

/// A copy fit for verdicts, whose sentences and commands repeat what a host said of itself. Texts
/// are cut (200 characters of a host, 1000 elsewhere), and in those of hosts each character by
/// which a shell ends a word or begins another command is '_'. For documents and hosts of others;
/// what is written to files stays as it was measured.
[[nodiscard]] Document defused(Document document);

}  // namespace netbench::report
