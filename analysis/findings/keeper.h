// The keeper of blocks: a place in the user's own code, or a closed library, which keeps the blocks for itself, whoever
// called it.
#pragma once

#include "analysis/findings/conclusion.h"
#include "analysis/places/place.h"
#include "analysis/result/finding_kinds.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace msleaks::analysis::inline findings {

struct Keeper {
  std::string_view closed_library; // its path; empty: the place is the keeper
  Place::Key place;                // empty if a closed library is the keeper
  Account account;
  bool operator<(const Keeper &other) const {
    return std::tie(closed_library, place, account) < std::tie(other.closed_library, other.place, other.account);
  }
};

// Whether the library is libc.so.6, libstdc++.so.6, libc++.so.1 or libc++abi.so.1.
bool allocatesForCallers(std::string_view library);

// The path of a closed library (of the system or an interpreter) that probably allocates at this site for itself. Empty
// if there is none: the C and the C++ library allocate for their callers. Valid while the catalog exists.
std::string_view closedLibraryOf(SiteId, SiteCatalog &);
// The same for a path in a result. Valid while the path exists.
std::string_view closedLibraryOf(const PathLine &);

// `place` must be the place of the site.
Keeper keeperOf(SiteId, const Place &place, const Account &, SiteCatalog &);

struct KeptPlace {
  Keeper keeper;
  Place place;
};
// The keeper of the cohort's blocks. None if they cannot be a finding: the place is not own code, or is suppressed.
std::optional<KeptPlace> ownKeeperOf(const Cohort &, Conclusion &);

// The blocks of one place among others.
struct SharesOfPlace {
  Place place;
  std::vector<CohortShare> cohorts;
  uint64_t bytes = 0;
};
// The keeper with most bytes of these blocks, and its blocks. None if no block can be a finding (ownKeeperOf).
std::optional<std::pair<Keeper, SharesOfPlace>> keeperOfMost(const std::vector<CohortShare> &, Conclusion &);

// Blocks of one keeper that become one finding.
struct KeptBlocks {
  Place place;
  std::vector<CohortShare> cohorts;
  Absence absence;
  uint64_t longest_ns = 0;
  ByteNs byte_ns = 0;

  // Adds a block that a fix would remove from `from_ns` to `to_ns`.
  void add(CohortId cohort, uint64_t bytes, uint64_t from_ns, uint64_t to_ns);
};

// Returns the blocks of the cohort's keeper, to add a block. Null if they cannot be a finding (ownKeeperOf).
template <class Blocks>
Blocks *ownBlocksOf(CohortId cohort, std::map<Keeper, Blocks> &by_keeper, Conclusion &conclusion) {
  const auto kept = ownKeeperOf(conclusion.cohorts[cohort], conclusion);
  if (!kept)
    return nullptr;
  Blocks &blocks = by_keeper[kept->keeper];
  blocks.place = kept->place;
  return &blocks;
}

// Adds a finding for the blocks of each keeper, if the finding is worth it. `draftOf` makes the draft from the keeper
// and its blocks.
template <class Blocks, class DraftOf>
void addFindings(std::map<Keeper, Blocks> &by_keeper, Conclusion &conclusion, DraftOf draftOf) {
  for (auto &[keeper, blocks] : by_keeper) {
    if (!conclusion.isWorthSaving(keeper.account, blocks.absence))
      continue;
    auto draft = draftOf(keeper, blocks);
    conclusion.add(std::move(draft), std::move(blocks.absence));
  }
}

// Makes the parts of a finding that do not depend on the analysis. `place` is the keeper's place. For a closed library,
// it is the caller that the report shows.
Draft<Finding> draftOf(const FindingKind &, const Keeper &, const Place &place, const std::vector<CohortShare> &,
                       Conclusion &);

} // namespace msleaks::analysis::inline findings
