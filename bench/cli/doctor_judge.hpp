#pragma once

#include "bench/model/document.hpp"

namespace netbench::cli {

/// Diagnoses a document that holds facts alone, into its findings: what is wrong already, before
/// any traffic. Of one host, every interface with a carrier is judged in turn, and the fastest
/// becomes the host's interface; findings that say that nothing was measured are left out. Pure.
void judge_facts(Document& document);

}  // namespace netbench::cli
