// Tables of a page. Those of a report: places at the peak, leaks, all sections, and the environment.
#pragma once

#include "analysis/result/json_tree.h"
#include "analysis/result/report.h"

#include <string_view>
#include <vector>

namespace msleaks::analysis::inline page {

// Each table has only its first rows, and the number of its rows in all.
inline constexpr size_t kMostRows = 200;
inline constexpr size_t kPlaceColumns = 160; // characters of a place

Json tablesOf(const Report &);

struct TableColumn {
  std::string_view name;
  Unit unit;
};
Json tableJson(std::string_view name, std::string_view title, const std::vector<TableColumn> &columns, Json rows,
               size_t rows_in_all);

} // namespace msleaks::analysis::inline page
