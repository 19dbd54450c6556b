// Makes the title of a finding: a sentence with the program's own names.
#pragma once

#include "analysis/result/result.h"

#include <optional>
#include <string>
#include <string_view>

namespace msleaks::analysis::inline text {

// Returns for example "leak: nothing points to 100 blocks of `struct node` (2.34 KiB) any more (proved)".
std::string titleOf(const Finding &);
// Returns for example "Saves 2.34 KiB of the host peak."; empty: the finding is not about memory or time.
std::string savingOf(const Finding &);

// Return a value of a finding's evidence. Without a value of this name, they return nothing, or an empty text.
std::optional<uint64_t> numberIn(const Finding &, std::string_view name);
std::string textIn(const Finding &, std::string_view name);
// Returns the way to the largest block, from the variable that holds it: "global cache (a.c:4) → 12 × struct node
// (a.c:20) +8 .next".
std::string holdersOf(const Finding &);

} // namespace msleaks::analysis::inline text
