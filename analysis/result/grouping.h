// Sums of blocks in the groups of --group-by. All groupings contain the same cohorts, so they have the same total.
#pragma once

#include "analysis/live/cohorts.h"
#include "analysis/result/lines.h"
#include "analysis/result/section.h"

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace msleaks::analysis::inline result {

enum class Dimension : uint8_t {
  Site,
  Path,
  Function,
  File,
  Type,
  Variable,
  Owner,
  Thread,
  Process,
  Device,
  Library,
  Module,
};
const char *nameOf(Dimension);
std::optional<Dimension> dimensionNamed(std::string_view name);
std::string namesOfDimensions(); // "site, path, ..."

// Names of processes and threads, from the trace.
struct Names {
  std::function<std::string(uint32_t process)> process;
  std::function<std::string(uint32_t process, uint32_t stream)> thread;
};

// The name of a cohort's group, as text. For Dimension::Site, use bySite. An object is for one dimension only, because
// it stores the text of each site.
class GroupNames {
public:
  GroupNames(Lines &lines, const Names &names) : lines_(lines), names_(names) {}

  std::string of(Dimension, const Cohort &);

private:
  const std::string &ofSite(Dimension, SiteId);
  std::string textOf(Dimension, SiteId);
  std::string pathText(SiteId);

  Lines &lines_;
  const Names &names_;
  std::map<SiteId, std::string> by_site_;
};

// The columns are the dimension, bytes and count. The row with the most bytes comes first.
Section groupBy(Dimension, std::span<const CohortShare>, Lines &, const Cohorts &, const Names &);

} // namespace msleaks::analysis::inline result
