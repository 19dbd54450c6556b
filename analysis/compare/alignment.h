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

// The common beginning and the common end of both sequences are aligned with each other. Memory: about 16 bytes for
// each element of both sequences. Each sequence has fewer than 2^30 elements.
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
