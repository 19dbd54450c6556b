// Reads LLVM's indexed profiles (.profdata), which llvm-profdata merge of LLVM 19 and 22 writes. They contain how often
// each counter of each function was passed. The reader needs no library of LLVM.
#pragma once

#include "analysis/counts/profile.h"

#include <cstdint>
#include <span>

namespace msleaks::analysis::profiles {

bool isProfdata(std::span<const uint8_t> head);
// Whether the file is the raw file that a program writes, before llvm-profdata merges it.
bool isRawProfdata(std::span<const uint8_t> head);

// The profile has two counters. `counts` is the sum of a function's counters. `calls` is the function's first counter,
// and exists only if the file says that the first counter is the entry. Each line is one counter, and its address is
// the counter's number.
Result<Profile> readProfdata(std::span<const uint8_t> file);

} // namespace msleaks::analysis::profiles
