#pragma once

#include "bench/model/document.hpp"

namespace netbench::cli {

/// Diagnoses a document that holds facts alone, into its findings: what is wrong already, before
/// any traffic. Of one host, every interface with a carrier is judged in turn, and the fastest
/// becomes the host's interface; where so little could be read that nothing can be said, a finding
/// says so. Pure.
void judge_facts(Document& document);

/// Whether the findings say that there is too little to tell. Pure.
[[nodiscard]] bool says_too_little(const Document& document);

}  // namespace netbench::cli
