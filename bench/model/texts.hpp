#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "bench/model/document.hpp"

namespace netbench {

/// Called with the JSON key nearest to a text (elements of a list: the list's key; values of a
/// map: their key in the map; the value of a fact: the fact's key) and the text, which it may
/// change.
using TextVisitor = std::function<void(std::string_view key, std::string& text)>;

/// Visits every text value of a document, map keys excepted.
void for_each_text(Document& document, const TextVisitor& visit);

}  // namespace netbench
