// A finding in a sentence that names the program's own things.
#pragma once

#include "analysis/result/result.h"

#include <optional>
#include <string>
#include <string_view>

namespace msleaks::analysis::inline text {

// "leak: nothing points to 100 blocks of `struct node` (2.34 KiB) any more (proved)"
std::string titleOf(const Finding &);
// "Saves 2.34 KiB of the host peak."; empty where there is nothing to save.
std::string savingOf(const Finding &);

// A value of a finding's evidence; nothing where it has none of that name.
std::optional<uint64_t> numberIn(const Finding &, std::string_view name);
std::string textIn(const Finding &, std::string_view name);
// The way to the largest block, from the variable that holds it: "global cache (a.c:4) → 12 × struct node (a.c:20) +8
// .next".
std::string holdersOf(const Finding &);

} // namespace msleaks::analysis::inline text
