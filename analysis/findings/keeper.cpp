#include "analysis/findings/keeper.h"

#include "analysis/base/text.h"
#include "analysis/places/driver_library.h"
#include "analysis/places/python_code.h"
#include "msleaks/abi/python_file.h"

#include <algorithm>

namespace msleaks::analysis::inline findings {

bool allocatesForCallers(std::string_view library) {
  const std::string_view name = baseName(library);
  return name.starts_with("libc.so") || name.starts_with("libstdc++.so") || name.starts_with("libc++");
}

namespace {

// The search for a closed library along a path, from the innermost call outwards.
class LibrarySearch {
public:
  std::string_view found;

  // Looks at the next call, a Site or a SiteText. Returns whether the search ends.
  template <class AnySite> bool look(const AnySite &call) {
    if (call.origin == SiteOrigin::Python)
      return lookAtPython(call);
    const bool is_system = call.origin == SiteOrigin::Hook && isSystemImage(call.library);
    if (found.empty() && is_system && !allocatesForCallers(call.library))
      found = call.library;
    return found.empty() && !is_system;
  }

private:
  // A library that the user's Python code calls allocates for this code. But a driver keeps contexts, code and work
  // space for itself, and an import allocates for itself.
  template <class AnySite> bool lookAtPython(const AnySite &call) {
    const bool is_own = abi::isUsersPython(call.file);
    if (is_own && !isDriverLibrary(found))
      found = {};
    return is_own || isImport(call.origin, call.file);
  }
};

} // namespace

std::string_view closedLibraryOf(SiteId site, SiteCatalog &catalog) {
  LibrarySearch search;
  uint32_t node = catalog.innermostNodeOf(site);
  if (!SiteCatalog::isNode(node))
    search.look(catalog.describe(site));
  bool is_over = false;
  for (; SiteCatalog::isNode(node) && !is_over; node = catalog.pathNode(node).outer)
    is_over =
        search.look(catalog.describe(catalog.pathNode(node).call)) || (!search.found.empty() && !catalog.hasPython());
  return search.found;
}

std::string_view closedLibraryOf(const PathLine &path) {
  LibrarySearch search;
  for (const auto &call : path.calls)
    if (search.look(*call))
      break;
  return search.found;
}

Keeper keeperOf(SiteId site, const Place &place, const Account &account, SiteCatalog &catalog) {
  const std::string_view library = closedLibraryOf(site, catalog);
  return library.empty() ? Keeper{{}, place.keyIn(catalog), account} : Keeper{library, {}, account};
}

std::optional<KeptPlace> ownKeeperOf(const Cohort &cohort, Conclusion &conclusion) {
  const Place place = conclusion.lines.places().of(cohort.site);
  if (!place.own || ruleFor(conclusion.catalog, cohort.site, conclusion.question.suppressions))
    return std::nullopt;
  // The samples of all sizes are one account.
  const Account account{cohort.heap, cohort.heap == abi::Heap::Python ? uint8_t{0} : cohort.device};
  return KeptPlace{keeperOf(cohort.site, place, account, conclusion.catalog), place};
}

std::optional<std::pair<Keeper, SharesOfPlace>> keeperOfMost(const std::vector<CohortShare> &shares,
                                                             Conclusion &conclusion) {
  std::map<Keeper, SharesOfPlace> places;
  for (const CohortShare &share : shares)
    if (const auto kept = ownKeeperOf(conclusion.cohorts[share.cohort], conclusion)) {
      SharesOfPlace &at = places[kept->keeper];
      at.place = kept->place;
      at.cohorts.push_back(share);
      at.bytes += share.bytes;
    }
  const auto most = std::max_element(places.begin(), places.end(),
                                     [](const auto &a, const auto &b) { return a.second.bytes < b.second.bytes; });
  return most == places.end() ? std::nullopt : std::optional(*most);
}

void KeptBlocks::add(CohortId cohort, uint64_t bytes, uint64_t from_ns, uint64_t to_ns) {
  cohorts.push_back({cohort, bytes, 1});
  absence.blocks.push_back({cohort, static_cast<int64_t>(bytes), from_ns, to_ns});
  longest_ns = std::max(longest_ns, to_ns - from_ns);
  byte_ns += byteNsOf(bytes, to_ns - from_ns);
}

Draft<Finding> draftOf(const FindingKind &kind, const Keeper &keeper, const Place &place,
                       const std::vector<CohortShare> &blocks, Conclusion &conclusion) {
  auto draft = conclusion.lines.lineOf<Finding>({place, bySite(blocks, conclusion.cohorts)}, Lines::Paths::Shown);
  Finding &finding = draft.line;
  setKind(finding, kind);
  finding.closed_library = keeper.closed_library;
  finding.confidence = keeper.closed_library.empty() ? Confidence::Likely : Confidence::Hint;
  finding.heap = keeper.account.heap;
  finding.device = keeper.account.device;
  conclusion.nameOwner(finding, blocks);
  return draft;
}

} // namespace msleaks::analysis::inline findings
