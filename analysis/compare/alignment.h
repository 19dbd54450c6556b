// Aligns two sequences of numbers by their longest common subsequence (Myers, "An O(ND) difference algorithm", in
// linear space).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace msleaks::analysis::compare {

// A stretch that is equal in both sequences.
struct EqualRun {
  size_t first = 0, second = 0; // where it begins
  size_t count = 0;
  bool operator==(const EqualRun &) const = default;
};

struct Alignment {
  std::vector<EqualRun> equal; // ascending in both sequences; no two of them touch in both
  // The sequences differ too much for an exact search: some elements that the longest common subsequence would contain
  // count as unequal.
  bool coarse = false;

  size_t equalCount() const;
};

// Bounds the time of a search. The time without a bound grows with the product of the length and the edits.
struct AlignmentBounds {
  uint64_t most_steps = 200'000'000; // visits of an element on a diagonal: about a second
  int32_t edits_behind = 128;        // once these are spent, no part is searched for more edits than twice this
};

// What both sequences begin with is aligned with itself, and so is what both end with. Memory: about 16 bytes for each
// element of both sequences. Each sequence has fewer than 2^30 elements.
Alignment align(std::span<const uint32_t> first, std::span<const uint32_t> second, AlignmentBounds = {});

} // namespace msleaks::analysis::compare
