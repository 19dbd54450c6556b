// Whose blocks these are: those of a place in the user's own code, or of a closed library, which keeps them for itself
// whoever called it.
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
  std::string_view closed_library; // its path; empty: the place
  Place::Key place;                // empty with a closed library
  Account account;
  bool operator<(const Keeper &other) const {
    return std::tie(closed_library, place, account) < std::tie(other.closed_library, other.place, other.account);
  }
};

// The path of the library of the system, or of an interpreter, that allocates at this site for itself, as far as can be
// told; empty: none does. The C and the C++ library allocate for whoever called them. Valid while the catalog lives.
std::string_view closedLibraryOf(SiteId, SiteCatalog &);
// The same of a path in a result. Valid while the path lives.
std::string_view closedLibraryOf(const PathLine &);

// `place` is that of the site.
Keeper keeperOf(SiteId, const Place &place, const Account &, SiteCatalog &);

struct KeptPlace {
  Keeper keeper;
  Place place;
};
// Whose blocks the cohort's are; nothing where they can be no finding: the place is not the user's own, or suppressed.
std::optional<KeptPlace> ownKeeperOf(const Cohort &, Conclusion &);

// Blocks of one keeper that are one finding.
struct KeptBlocks {
  Place place;
  std::vector<CohortShare> cohorts;
  Absence absence;
  uint64_t longest_ns = 0;
  ByteNs byte_ns = 0;

  // Adds a block that would not be there from `from_ns` to `to_ns`.
  void add(CohortId cohort, uint64_t bytes, uint64_t from_ns, uint64_t to_ns);
};

// Adds a finding for the blocks of each keeper, if it is worth it. `draftOf` makes the draft of a keeper and its
// blocks.
template <class Blocks, class DraftOf>
void addFindings(std::map<Keeper, Blocks> &by_keeper, Conclusion &conclusion, DraftOf draftOf) {
  for (auto &[keeper, blocks] : by_keeper) {
    blocks.absence.sort();
    if (!conclusion.isWorthSaving(keeper.account, blocks.absence))
      continue;
    auto draft = draftOf(keeper, blocks);
    conclusion.add(std::move(draft), std::move(blocks.absence));
  }
}

// What is known of a finding about these blocks without the analysis that found them. `place`: the keeper's, or the one
// of a closed library's callers to show.
Draft<Finding> draftOf(const FindingKind &, const Keeper &, const Place &place, const std::vector<CohortShare> &,
                       Conclusion &);

} // namespace msleaks::analysis::inline findings
