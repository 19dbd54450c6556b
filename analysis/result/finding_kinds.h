// The kinds of findings (finding_kinds.def).
#pragma once

#include "analysis/result/result.h"

#include <array>

namespace msleaks::analysis::inline result {

struct FindingKind {
  const char *name; // Finding::kind
  Concern concern;  // what a fix changes
};

namespace finding_kinds {
#define MSL_FINDING_KIND(kind, name, concern, page, subject)                                                           \
  inline constexpr FindingKind k##kind{name, Concern::concern};
#include "analysis/result/finding_kinds.def"
#undef MSL_FINDING_KIND
} // namespace finding_kinds

inline constexpr std::array kFindingKinds{
#define MSL_FINDING_KIND(kind, name, concern, page, subject) finding_kinds::k##kind,
#include "analysis/result/finding_kinds.def"
#undef MSL_FINDING_KIND
};

inline bool isOf(const Finding &finding, const FindingKind &kind) { return finding.kind == kind.name; }
// Whether the finding is about resident memory that is no part of the peak.
inline bool isOutsideOfPeak(const Finding &finding) {
  return isOf(finding, finding_kinds::kResident) || isOf(finding, finding_kinds::kUnshared);
}
// Whether a closed library keeps the blocks for itself. The parts of a pool's segments belong to the program, and
// blocks that grow from step to step are probably kept by it.
inline bool isKeptByLibrary(const Finding &finding) {
  return !finding.closed_library.empty() && !isOf(finding, finding_kinds::kFragmentation) &&
         !isOf(finding, finding_kinds::kGrowth);
}
inline void setKind(Finding &finding, const FindingKind &kind) {
  finding.kind = kind.name;
  finding.concern = kind.concern;
}

} // namespace msleaks::analysis::inline result
