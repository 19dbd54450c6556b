// The tables of a report's page: places at the peak, leaks, and all sections.
#pragma once

#include "analysis/result/json_tree.h"
#include "analysis/result/report.h"

namespace msleaks::analysis::inline page {

// Each table has only its first rows, and the number of its rows in all.
Json tablesOf(const Report &);

} // namespace msleaks::analysis::inline page
