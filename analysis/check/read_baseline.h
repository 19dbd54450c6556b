// The figures of a run, whether it is one, or a file that keeps them.
#pragma once

#include "analysis/check/figures.h"

#include <filesystem>

namespace msleaks::analysis {

// `baseline`: a run folder, a trace, a result file, or a file of formatFigures(). Runs are read with this question.
Result<RunFigures> readBaseline(const std::filesystem::path &baseline, const ReportQuestion &, const Progress &);

} // namespace msleaks::analysis
