#include "analysis/findings/keeper.h"

#include "analysis/base/base_name.h"

namespace msleaks::analysis {

namespace {

// libc.so.6, libstdc++.so.6, libc++.so.1, libc++abi.so.1
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
  std::string_view library = libraryOf(catalog.innermostCallOf(site));
  uint32_t node = catalog.innermostNodeOf(site);
  while (allocatesForCallers(library)) {
    node = SiteCatalog::isNode(node) ? catalog.pathNode(node).outer : node;
    library = SiteCatalog::isNode(node) ? libraryOf(catalog.pathNode(node).call) : std::string_view();
  }
  return library;
}

Keeper keeperOf(SiteId site, const Place &place, const Account &account, SiteCatalog &catalog) {
  const std::string_view library = closedLibraryOf(site, catalog);
  return library.empty() ? Keeper{{}, place.keyIn(catalog), account} : Keeper{library, {}, account};
}

} // namespace msleaks::analysis
