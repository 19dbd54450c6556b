// Counts the blocks that begin and end in each part of a run, by place, and the launches there (result/pictures.h).
// Only a page asks for it, so it is no analyzer of every report.
#pragma once

#include "analysis/stream/analyzer.h"

#include <memory>

namespace msleaks::analysis::inline report {

// Its memory grows with places and kernels, and for each of them with the parts in which it changes.
std::unique_ptr<Analyzer> makeTurnover();

} // namespace msleaks::analysis::inline report
