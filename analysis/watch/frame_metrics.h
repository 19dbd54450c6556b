// A frame as numbers for dashboards, in OpenMetrics' text format
// (https://prometheus.io/docs/specs/om/open_metrics_spec).
#pragma once

#include "analysis/watch/frame.h"

#include <cstddef>
#include <string>

namespace msleaks::analysis::inline watch {

// At most `places` places have samples of their own, those with the most bytes. All others share the place "other". So
// the number of time series stays small. The same holds for processes, with `kMostProcesses`.
std::string metricsOf(const Frame &, size_t places);

inline constexpr size_t kMostProcesses = 64;

} // namespace msleaks::analysis::inline watch
