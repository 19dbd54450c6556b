// Findings grouped by their place, so that a finding is compared only with findings about the same place.
#pragma once

#include "analysis/findings/savings.h"
#include "analysis/result/result.h"

#include <cstddef>
#include <map>
#include <string>
#include <tuple>
#include <vector>

namespace msleaks::analysis::inline findings {

inline Account accountOf(const Finding &finding) { return {finding.heap, finding.device}; }

// Whether both findings may be about the same paths to a place. A finding that names callers is only about the paths
// through these callers.
inline bool mayBeOfOneWay(const Finding &a, const Finding &b) {
  return a.callers.empty() || b.callers.empty() || a.callers == b.callers;
}

// The numbers of findings, by place or closed library. Findings of a user's analyzer have groups of their own, because
// they do not replace ours. An unrolled loop has several calls in one line, with different ids. So the id counts only
// if there is no line.
class PlaceGroups {
public:
  void add(const Finding &finding, size_t number) { groups_[keyOf(finding)].push_back(number); }
  const std::vector<size_t> &of(const Finding &finding) const {
    static const std::vector<size_t> kNone;
    const auto found = groups_.find(keyOf(finding));
    return found == groups_.end() ? kNone : found->second;
  }

private:
  using Key = std::tuple<Account, std::string, std::string, uint64_t, std::string, std::string, uint32_t, uint32_t>;
  static Key keyOf(const Finding &finding) {
    if (!finding.closed_library.empty())
      return {accountOf(finding), finding.analyzer, finding.closed_library, 0, "", "", 0, 0};
    const SiteText &site = finding.site;
    const uint64_t id = site.file.empty() ? site.id : 0;
    return {accountOf(finding), finding.analyzer, "", id, site.file, site.function, site.line, site.column};
  }

  std::map<Key, std::vector<size_t>> groups_;
};

} // namespace msleaks::analysis::inline findings
