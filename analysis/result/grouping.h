// Sums of blocks by what a user asks for: --group-by. Every grouping is one of the same cohorts, so all have one total.
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
};
const char *nameOf(Dimension);
std::optional<Dimension> dimensionNamed(std::string_view name);
std::string namesOfDimensions(); // "site, path, ..."

// Facts of the trace about threads and processes.
struct Names {
  std::function<std::string(uint32_t process)> process;
  std::function<std::string(uint32_t process, uint32_t stream)> thread;
};

// What a cohort's blocks are grouped under, as text; for Dimension::Site see bySite. Of one dimension: it remembers the
// text of each site.
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

// Columns: the dimension, bytes, count; most bytes first.
Section groupBy(Dimension, std::span<const CohortShare>, Lines &, const Cohorts &, const Names &);

} // namespace msleaks::analysis::inline result
