// Aligns two sequences of numbers by their longest common subsequence (Myers, "An O(ND) difference algorithm", in
// linear space).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace msleaks::analysis::inline compare {

// A stretch that is equal in both sequences.
struct EqualRun {
  size_t first = 0, second = 0; // where the run begins
  size_t count = 0;
  bool operator==(const EqualRun &) const = default;
};

struct Alignment {
  std::vector<EqualRun> equal; // in the order of both sequences; two neighbours do not touch in both
  // The sequences differ too much for an exact search. So some elements of the longest common subsequence count as
  // unequal.
  bool coarse = false;

  size_t equalCount() const;
};

// Limits the time of a search. Without a limit, the time grows with the product of the length and the number of edits.
struct AlignmentBounds {
  uint64_t most_steps = 200'000'000; // visits of elements on diagonals: about a second
  int32_t edits_behind = 128;        // after these steps, a part is searched with at most twice this number of edits
};

// Always aligns the common beginning and the common end of both sequences. Needs about 16 bytes of memory for each
// element of both sequences. Each sequence must have fewer than 2^30 elements.
Alignment align(std::span<const uint32_t> first, std::span<const uint32_t> second, AlignmentBounds = {});

// Calls f(first, second) for each pair of equal elements and for each unequal element, in the order of the sequences.
// For an unequal element, the other pointer is null. Before each pair, the unequal elements of `first` come first.
template <class T, class F>
void forEachAligned(const Alignment &alignment, std::span<const T> first, std::span<const T> second, F f) {
  size_t a = 0, b = 0;
  const auto passUnequal = [&](size_t until_a, size_t until_b) {
    while (a < until_a)
      f(&first[a++], static_cast<const T *>(nullptr));
    while (b < until_b)
      f(static_cast<const T *>(nullptr), &second[b++]);
  };
  for (const EqualRun &equal : alignment.equal) {
    passUnequal(equal.first, equal.second);
    for (size_t i = 0; i < equal.count; ++i)
      f(&first[a++], &second[b++]);
  }
  passUnequal(first.size(), second.size());
}

} // namespace msleaks::analysis::inline compare
