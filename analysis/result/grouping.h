// Sums of blocks by what a user asks for: --group-by. Every grouping is one of the same cohorts, so all have one total.
#pragma once

#include "analysis/live/cohorts.h"
#include "analysis/result/lines.h"
#include "analysis/result/section.h"

#include <functional>
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

// Columns: the dimension, bytes, count; most bytes first.
Section groupBy(Dimension, std::span<const CohortShare>, Lines &, const Cohorts &, const Names &);

} // namespace msleaks::analysis::inline result
