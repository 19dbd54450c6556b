#include "analysis/findings/keeper.h"

#include "analysis/base/text.h"

namespace msleaks::analysis::inline findings {

namespace {

// Whether the library is libc.so.6, libstdc++.so.6, libc++.so.1 or libc++abi.so.1.
bool allocatesForCallers(std::string_view library) {
  const std::string_view name = baseName(library);
  return name.starts_with("libc.so") || name.starts_with("libstdc++.so") || name.starts_with("libc++");
}

} // namespace

std::string_view closedLibraryOf(SiteId site, SiteCatalog &catalog) {
  const auto libraryOf = [&](SiteId call) -> std::string_view {
    const Site &at = catalog.describe(call);
    return at.origin == SiteOrigin::Hook && isSystemImage(at.library) ? at.library : std::string_view();
  };
  uint32_t node = catalog.innermostNodeOf(site);
  if (!SiteCatalog::isNode(node)) {
    const std::string_view library = libraryOf(site);
    return allocatesForCallers(library) ? std::string_view() : library;
  }
  for (; SiteCatalog::isNode(node); node = catalog.pathNode(node).outer)
    if (const std::string_view library = libraryOf(catalog.pathNode(node).call); !allocatesForCallers(library))
      return library;
  return {};
}

std::string_view closedLibraryOf(const PathLine &path) {
  for (const auto &call : path.calls) {
    const bool is_system = call->origin == SiteOrigin::Hook && isSystemImage(call->library);
    if (const std::string_view library = is_system ? std::string_view(call->library) : std::string_view();
        !allocatesForCallers(library))
      return library;
  }
  return {};
}

Keeper keeperOf(SiteId site, const Place &place, const Account &account, SiteCatalog &catalog) {
  const std::string_view library = closedLibraryOf(site, catalog);
  return library.empty() ? Keeper{{}, place.keyIn(catalog), account} : Keeper{library, {}, account};
}

std::optional<KeptPlace> ownKeeperOf(const Cohort &cohort, Conclusion &conclusion) {
  const Place place = conclusion.lines.places().of(cohort.site);
  if (!place.own || ruleFor(conclusion.catalog, cohort.site, conclusion.question.suppressions))
    return std::nullopt;
  return KeptPlace{keeperOf(cohort.site, place, {cohort.heap, cohort.device}, conclusion.catalog), place};
}

void KeptBlocks::add(CohortId cohort, uint64_t bytes, uint64_t from_ns, uint64_t to_ns) {
  cohorts.push_back({cohort, bytes, 1});
  absence.add(cohort, static_cast<int64_t>(bytes), from_ns, to_ns);
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
  finding.owner = conclusion.ownerOf(blocks, finding.site);
  return draft;
}

} // namespace msleaks::analysis::inline findings
