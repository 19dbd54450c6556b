// Makes findings about blocks of device memory that are idle in a part of their lives.
#pragma once

#include "analysis/findings/keeper.h"
#include "analysis/live/use.h"
#include "analysis/result/finding_kinds.h"

#include <cstdint>
#include <vector>

namespace msleaks::analysis::inline analyzers {

// A part of a block's life in which the program does not need the block.
struct Idle {
  FindingKind kind;
  LifePart part;
  const char *use, *kernel; // keys in the evidence: of the use at its start or end, and of the kernel there
};
inline constexpr Idle kEarly{finding_kinds::kEarlyAllocation, LifePart::NotUsed, "first_use", "first_use_kernel"};
inline constexpr Idle kLate{finding_kinds::kLateFree, LifePart::Late, "last_use", "last_use_kernel"};
inline constexpr Idle kUnused{finding_kinds::kUnused, LifePart::Unused, nullptr, nullptr};
inline constexpr Idle kBetweenUses{finding_kinds::kIdle, LifePart::InUse, "last_use", "last_use_kernel"};

// The sums of a cohort's blocks.
struct Idleness {
  uint64_t bytes = 0, count = 0;
  uint64_t longest_ns = 0;
  SiteId use; // use of the block that was idle longest
  ByteNs byte_ns = 0;
  LabelId kernel{}; // kernel of that use; none: a copy, a fill, or a kernel without a known name

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

// Groups blocks by keeper, if all uses of their memory were seen. The keeper with the most bytes comes first.
std::vector<IdleBlocks> blocksOf(const std::vector<Idleness> &by_cohort, Conclusion &);
// The absence of these blocks, in this part of their lives.
Absence absenceOf(const Idle &, const IdleBlocks &, const Conclusion &);
Draft<Finding> findingOf(const Idle &, const IdleBlocks &, Conclusion &);

} // namespace msleaks::analysis::inline analyzers
