#include "analysis/findings/harmless.h"

#include "analysis/base/text.h"
#include "analysis/places/place.h"

#include <algorithm>
#include <fnmatch.h>
#include <string>
#include <tuple>

namespace msleaks::analysis::inline findings {
namespace {

// Blocks of one process, site and heap. Or blocks of all sites with the same row and the same place.
struct Gathered {
  Remains sum;
  std::vector<CohortRemains> parts;

  void add(const Remains &remains, const std::vector<CohortRemains> &of) {
    sum.heap = remains.heap;
    sum += remains;
    parts.insert(parts.end(), of.begin(), of.end());
  }
  void moveTo(std::vector<CohortRemains> &to) const { to.insert(to.end(), parts.begin(), parts.end()); }
};

} // namespace

// Uses the innermost call and the calls in its library that led there. Ignores the callers of the library.
const Suppression *suppressionOf(SiteCatalog &catalog, SiteId of, const Remains &remains) {
  const CallPath path = shownPath(catalog, of);
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

SortedRemains withoutHarmless(SiteCatalog &catalog, const Cohorts &cohorts, const std::vector<CohortRemains> &left,
                              const std::vector<SuppressionRule> &rules) {
  std::map<std::tuple<uint32_t, SiteId, abi::Heap>, Gathered> sites; // by process, site and heap
  for (const CohortRemains &remains : left) {
    const Cohort &cohort = cohorts[remains.cohort];
    sites[{cohort.process, cohort.site, cohort.heap}].add(remains, {remains});
  }
  SortedRemains sorted;
  std::map<std::tuple<uint32_t, SiteId, abi::Heap, const Suppression *>, Gathered> rows; // by process, place, heap, row
  for (const auto &[key, gathered] : sites) {
    const auto &[process, site, heap] = key;
    if (const SuppressionRule *rule = ruleFor(catalog, site, rules)) {
      gathered.moveTo(sorted.harmless[rule->reason]);
      continue;
    }
    const SiteId place = innermostPlace(catalog, site).call;
    const Suppression *row = suppressionOf(catalog, site, gathered.sum);
    rows[{process, place, heap, row}].add(gathered.sum, gathered.parts);
  }
  for (const auto &[key, gathered] : rows) {
    const Suppression *row = std::get<const Suppression *>(key);
    gathered.moveTo(row && keepsNoMore(*row, gathered.sum) ? sorted.harmless[row->reason] : sorted.leaks);
  }
  std::sort(sorted.leaks.begin(), sorted.leaks.end(),
            [](const CohortRemains &a, const CohortRemains &b) { return a.cohort < b.cohort; });
  return sorted;
}

namespace {

constexpr Suppression kSuppressions[] = {
#define MSL_SUPPRESSION(library, function, smallest, largest, most, reason)                                            \
  {library, function, smallest, largest, most, reason},
#include "suppressions.def"
};

bool matches(const char *pattern, const std::string &name) { return fnmatch(pattern, name.c_str(), 0) == 0; }

// A pattern matches known names. The pattern "" matches only if no name is known.
bool isIn(const char *pattern, const Site &site, std::span<const std::string_view> functions) {
  const auto matchesName = [&](std::string_view name) { return matches(pattern, std::string(name)); };
  return matchesName(site.function) || (*pattern != 0 && std::any_of(functions.begin(), functions.end(), matchesName));
}

} // namespace

const Suppression *suppressionOf(const Site &site, std::span<const std::string_view> functions,
                                 const Remains &remains) {
  if (site.origin != SiteOrigin::Hook || site.library.empty() || remains.count == 0)
    return nullptr;
  const std::string library(baseName(site.library));
  for (const Suppression &row : kSuppressions) {
    // Compares the mean size instead of the smallest one: rows with sizes are for sites whose blocks have one size.
    const bool fits = remains.largest_bytes <= row.largest && remains.bytes / remains.count >= row.smallest;
    if (fits && matches(row.library, library) && isIn(row.function, site, functions))
      return &row;
  }
  return nullptr;
}

bool keepsNoMore(const Suppression &row, const Remains &remains) { return remains.count <= row.most; }

} // namespace msleaks::analysis::inline findings
