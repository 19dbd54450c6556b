#include "analysis/findings/harmless.h"

#include "analysis/findings/suppressions.h"
#include "analysis/places/place.h"

#include <tuple>

namespace msleaks::analysis {
namespace {

// By the innermost call and the functions of its library that led there, whoever called that one.
const Suppression *suppressionOfRemains(SiteCatalog &catalog, const SiteRemains &remains) {
  const CallPath path = shownPath(catalog, remains.site);
  if (path.calls.empty())
    return nullptr;
  const Site &innermost = catalog.describe(path.calls.front());
  std::vector<std::string_view> functions;
  for (const SiteId call : path.calls) {
    const Site &site = catalog.describe(call);
    if (site.library != innermost.library) {
      functions.push_back(catalog.calleeOf(call));
      break;
    }
    functions.push_back(site.function);
    for (const InlineFrame &frame : site.inlined_at)
      functions.push_back(frame.function);
  }
  return suppressionOf(innermost, functions, remains);
}

} // namespace

SortedRemains withoutHarmless(SiteCatalog &catalog, const std::vector<SiteRemains> &left, size_t processes,
                              const std::vector<SuppressionRule> &rules) {
  SortedRemains sorted;
  struct Group {
    Remains remains;
    std::vector<SiteRemains> parts;
  };
  std::map<std::tuple<SiteId, abi::Heap, const Suppression *>, Group> groups;
  for (const SiteRemains &remains : left) {
    if (const SuppressionRule *rule = ruleFor(catalog, remains.site, rules)) {
      sorted.harmless[rule->reason].push_back(remains);
      continue;
    }
    const SiteId place = innermostPlace(catalog, remains.site).call;
    const auto [at, fresh] =
        groups.try_emplace({place, remains.heap, suppressionOfRemains(catalog, remains)}, Group{{remains.heap}, {}});
    at->second.remains += remains;
    at->second.parts.push_back(remains);
  }
  for (const auto &[key, group] : groups) {
    const Suppression *row = std::get<const Suppression *>(key);
    const bool keeps = row && keepsNoMore(*row, group.remains, processes);
    std::vector<SiteRemains> &to = keeps ? sorted.harmless[row->reason] : sorted.leaks;
    to.insert(to.end(), group.parts.begin(), group.parts.end());
  }
  return sorted;
}

} // namespace msleaks::analysis
