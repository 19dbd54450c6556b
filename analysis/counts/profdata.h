// LLVM's indexed profiles (.profdata), as llvm-profdata merge of LLVM 19 and 22 writes them: how often each counter of
// each function was passed. No library of LLVM is needed.
#pragma once

#include "analysis/counts/profile.h"

#include <cstdint>
#include <span>

namespace msleaks::analysis::profiles {

bool isProfdata(std::span<const uint8_t> head);
// The raw file of a program, before llvm-profdata merged it.
bool isRawProfdata(std::span<const uint8_t> head);

// Counters of the profile: `counts`, the sum of a function's counters, and `calls`, its first one, where the file says
// that this is the entry. A line is a counter; its address is the counter's number.
Result<Profile> readProfdata(std::span<const uint8_t> file);

} // namespace msleaks::analysis::profiles
