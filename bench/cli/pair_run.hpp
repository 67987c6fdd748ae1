#pragma once

#include <span>

#include "bench/cli/interrupt.hpp"
#include "bench/cli/pair_options.hpp"
#include "bench/cli/pair_output.hpp"
#include "bench/core/result.hpp"
#include "bench/model/document.hpp"
#include "bench/plugin/host.hpp"

namespace netbench::cli {

/// A document with what is known before anything was tried; its error is `unfinished`, as it stays
/// in the document that a killed run leaves.
[[nodiscard]] Document new_document(const PairOptions& options, std::span<char* const> words);

/// Connects, plans and measures; fills the document as it goes, so that it is worth writing
/// whatever happens. The error is what ended the run early.
[[nodiscard]] Status run_measurements(const PairOptions& options, const plugin::PluginHost& plugins,
                                      Interrupt& interrupt, Document& document, PairOutput& output);

}  // namespace netbench::cli
