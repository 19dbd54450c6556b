#include "analysis/result/grouping.h"

#include "analysis/live/owners.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>

namespace msleaks::analysis::inline result {
namespace {

constexpr const char *kNames[] = {"site",  "path",   "function", "file",   "type",    "variable",
                                  "owner", "thread", "process",  "device", "library", "module"};

std::vector<std::vector<Cell>> rowsBySite(std::span<const CohortShare> shares, Lines &lines, const Cohorts &cohorts) {
  const std::vector<CohortShare> all(shares.begin(), shares.end());
  std::vector<std::vector<Cell>> rows;
  for (const PlaceGroup &group : lines.byPlace(bySite(all, cohorts))) {
    const BlockSum sum = group.sum();
    rows.push_back({std::make_shared<const SiteText>(textOf(lines.catalog(), group.place)), sum.bytes, sum.count});
  }
  return rows;
}

std::vector<std::vector<Cell>> rowsByName(Dimension dimension, std::span<const CohortShare> shares, Lines &lines,
                                          const Cohorts &cohorts, const Names &names) {
  std::map<std::string, BlockSum> sums;
  GroupNames group_names(lines, names);
  for (const CohortShare &share : shares)
    sums[group_names.of(dimension, cohorts[share.cohort])] += {share.bytes, share.count};
  std::vector<std::vector<Cell>> rows;
  for (const auto &[name, sum] : sums)
    rows.push_back({name.empty() ? Cell() : Cell(name), sum.bytes, sum.count});
  return rows;
}

} // namespace

std::string GroupNames::of(Dimension dimension, const Cohort &cohort) {
  switch (dimension) {
  case Dimension::Thread:
    return names_.thread(cohort.process, cohort.stream);
  case Dimension::Process:
    return names_.process(cohort.process);
  case Dimension::Device:
    return abi::spaceOf(cohort.heap) == abi::AddressSpace::Accelerator
               ? fmt::format("{} {}", abi::nameOf(cohort.heap), cohort.device)
               : std::string(abi::nameOf(cohort.heap));
  case Dimension::Owner:
    if (const std::string_view owner = ownerOf(cohort, lines_.catalog()); !owner.empty())
      return std::string(owner);
    return ofSite(Dimension::Library, cohort.site);
  case Dimension::Module:
    return std::string(moduleOf(cohort, lines_.catalog()));
  default:
    return ofSite(dimension, cohort.site);
  }
}

const std::string &GroupNames::ofSite(Dimension dimension, SiteId site) {
  const auto [at, fresh] = by_site_.try_emplace(site);
  if (fresh)
    at->second = textOf(dimension, site);
  return at->second;
}

std::string GroupNames::textOf(Dimension dimension, SiteId site) {
  SiteCatalog &catalog = lines_.catalog();
  if (dimension == Dimension::Path)
    return pathText(site);
  if (dimension == Dimension::Library)
    return std::string(catalog.describe(site).library);
  if (dimension == Dimension::Type)
    return std::string(lines_.typeOf(site));
  if (dimension == Dimension::Variable)
    return std::string(catalog.describe(catalog.innermostCallOf(site)).variable);
  const SiteText place = analysis::textOf(catalog, lines_.places().of(site));
  return dimension == Dimension::File ? place.file : place.function;
}

// The calls of the path, innermost first.
std::string GroupNames::pathText(SiteId site) {
  SiteCatalog &catalog = lines_.catalog();
  std::string text;
  for (const SiteId call : shownPath(catalog, site).calls) {
    const SiteText place = analysis::textOf(catalog.describe(call));
    text += text.empty() ? "" : " < ";
    text += place.file.empty() ? fmt::format("{}+{:#x}", place.library, place.offset)
                               : fmt::format("{}:{}", place.file, place.line);
    text += place.function.empty() ? "" : " in " + place.function;
  }
  return text;
}

const char *nameOf(Dimension dimension) { return kNames[static_cast<size_t>(dimension)]; }

std::optional<Dimension> dimensionNamed(std::string_view name) {
  const auto at = std::find(std::begin(kNames), std::end(kNames), name);
  return at == std::end(kNames) ? std::nullopt : std::optional(static_cast<Dimension>(at - std::begin(kNames)));
}

std::string namesOfDimensions() { return fmt::format("{}", fmt::join(kNames, ", ")); }

Section groupBy(Dimension dimension, std::span<const CohortShare> shares, Lines &lines, const Cohorts &cohorts,
                const Names &names) {
  Section section;
  section.columns = {{nameOf(dimension), dimension == Dimension::Site ? Unit::Place : Unit::Text, Fold::Key},
                     {"bytes", Unit::Bytes},
                     {"count", Unit::Count}};
  section.rows = dimension == Dimension::Site ? rowsBySite(shares, lines, cohorts)
                                              : rowsByName(dimension, shares, lines, cohorts, names);
  std::stable_sort(section.rows.begin(), section.rows.end(),
                   [](const auto &a, const auto &b) { return std::get<uint64_t>(a[1]) > std::get<uint64_t>(b[1]); });
  return section;
}

} // namespace msleaks::analysis::inline result
