// The data of a comparison, besides those of its two runs (tools/report/src/data.ts).
#pragma once

#include "analysis/compare/run_comparison.h"
#include "analysis/result/json_tree.h"

namespace msleaks::analysis::inline page {

Json comparisonData(const RunComparison &, const NameTable &names);

} // namespace msleaks::analysis::inline page
