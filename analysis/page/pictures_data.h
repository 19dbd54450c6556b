// The pictures of a report (result/pictures.h), as the page reads them (tools/report/src/data.ts).
#pragma once

#include "analysis/result/json_tree.h"
#include "analysis/result/pictures.h"

namespace msleaks::analysis::inline page {

Json turnoverData(const Turnover &);
Json poolsData(const SegmentMaps &);

} // namespace msleaks::analysis::inline page
