#include "analysis/findings/twins.h"

#include "analysis/findings/place_groups.h"
#include "analysis/result/finding_kinds.h"

#include <algorithm>

namespace msleaks::analysis::inline findings {
namespace {

bool isPool(const Finding &finding) { return isOf(finding, finding_kinds::kFragmentation); }
// Whether the finding is about a copy of another host block.
bool isHostCopy(const Finding &finding) {
  return std::any_of(finding.evidence.begin(), finding.evidence.end(),
                     [](const auto &named) { return named.first == "copied_from"; });
}
// A finding about memory that is no part of the peak replaces no other.
bool isSure(const Finding &finding) {
  return (finding.confidence < Confidence::Hint || isPool(finding)) && !isOutsideOfPeak(finding);
}
bool mayGiveWay(const Finding &finding) {
  return finding.confidence == Confidence::Hint && !isPool(finding) && !isHostCopy(finding);
}

} // namespace

// A hint is left out for a surer finding. A finding of kind `peak` only says that blocks are large. It is also left out
// for growth, or for free memory in a pool's segments. Findings about such free memory are always kept, as it is no
// leak. So are findings about copies: no other kind says that the content exists twice.
bool givesWay(const Finding &hint, const Finding &finding) {
  const bool says_more = isSure(finding) || (isOf(hint, finding_kinds::kPeak) && isOf(finding, finding_kinds::kGrowth));
  return mayGiveWay(hint) && says_more && finding.concern == hint.concern && finding.bytes >= hint.bytes / 2 &&
         mayBeOfOneWay(finding, hint);
}

std::vector<bool> twinsIn(std::span<Finding *const> findings,
                          const std::function<bool(const Finding &hint, const Finding &finding)> &gives_way) {
  PlaceGroups surer;
  for (size_t i = 0; i < findings.size(); ++i)
    if (isSure(*findings[i]) || isOf(*findings[i], finding_kinds::kGrowth))
      surer.add(*findings[i], i);
  std::vector<bool> twins;
  for (const Finding *hint : findings) {
    const auto isFor = [&](size_t other) { return gives_way(*hint, *findings[other]); };
    const std::vector<size_t> &others = surer.of(*hint);
    twins.push_back(mayGiveWay(*hint) && std::any_of(others.begin(), others.end(), isFor));
  }
  return twins;
}

} // namespace msleaks::analysis::inline findings
