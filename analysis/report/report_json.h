// Parts of a report's JSON that other answers have, too (docs/report.md).
#pragma once

#include "analysis/report/report.h"

#include "site_json.h"

#include <vector>

namespace msleaks::analysis {

Json findingsJson(const std::vector<Finding> &);
Json remainsJson(const RemainsReport &);
Json placesJson(const std::vector<SiteLine> &);
Json processesJson(const Report &);
Json frameJson(const FrameText &);

} // namespace msleaks::analysis
