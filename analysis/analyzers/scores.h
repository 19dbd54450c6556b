// Numbers that judge a place or a pool at a glance (docs/analyses.md, scores).
#pragma once

#include <cstdint>

namespace msleaks::analysis::inline analyzers {

// The probability that the next block of a place is never freed, when `freed` of its `allocated` blocks were freed
// (rule of succession). 0.5 if nothing is known.
constexpr double leakScore(uint64_t allocated, uint64_t freed) {
  return 1 - (static_cast<double>(freed) + 1) / (static_cast<double>(allocated) + 2);
}

// The share of a pool's free bytes that cannot serve one request, because they are not in its largest hole. 0 if all
// free bytes are in one hole, or if none is free.
constexpr double fragmentationScore(uint64_t free_bytes, uint64_t largest_hole_bytes) {
  return largest_hole_bytes >= free_bytes
             ? 0
             : 1 - static_cast<double>(largest_hole_bytes) / static_cast<double>(free_bytes);
}

} // namespace msleaks::analysis::inline analyzers
