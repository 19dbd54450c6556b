// Blocks of device memory that are idle in a part of their lives, as findings.
#pragma once

#include "analysis/findings/keeper.h"
#include "analysis/live/use.h"
#include "analysis/result/finding_kinds.h"

#include <cstdint>
#include <vector>

namespace msleaks::analysis::inline analyzers {

// A part of a block's life in which the program could do without it.
struct Idle {
  FindingKind kind;
  LifePart part;
  const char *use, *kernel; // at its end that is a use, and what was launched there
};
inline constexpr Idle kEarly{finding_kinds::kEarlyAllocation, LifePart::NotUsed, "first_use", "first_use_kernel"};
inline constexpr Idle kLate{finding_kinds::kLateFree, LifePart::Late, "last_use", "last_use_kernel"};
inline constexpr Idle kUnused{finding_kinds::kUnused, LifePart::Unused, nullptr, nullptr};
inline constexpr Idle kBetweenUses{finding_kinds::kIdle, LifePart::InUse, "last_use", "last_use_kernel"};

// Sums over a cohort's blocks.
struct Idleness {
  uint64_t bytes = 0, count = 0;
  uint64_t longest_ns = 0;
  SiteId use; // of the block that was idle longest
  ByteNs byte_ns = 0;
  LabelId kernel{}; // that used it so; none: a copy or a fill did, or nobody has told its name

  Idleness &operator+=(const Idleness &other) {
    bytes += other.bytes;
    count += other.count;
    byte_ns += other.byte_ns;
    if (other.longest_ns >= longest_ns) {
      longest_ns = other.longest_ns;
      use = other.use;
      kernel = other.kernel;
    }
    return *this;
  }
};

// The idle blocks of one keeper.
struct IdleBlocks {
  Keeper keeper;
  Place place;
  std::vector<CohortShare> cohorts;
  Idleness sum;
};

// Of blocks all of whose uses were seen, with the most bytes first.
std::vector<IdleBlocks> blocksOf(const std::vector<Idleness> &by_cohort, Conclusion &);
// That part of the lives of all blocks of these cohorts.
Absence absenceOf(const Idle &, const IdleBlocks &, const Conclusion &);
Draft<Finding> findingOf(const Idle &, const IdleBlocks &, Conclusion &);

} // namespace msleaks::analysis::inline analyzers
