// The analyzers are the files of this folder. Each ends with
//
//   MSL_REGISTER_ANALYZER(stem_of_the_file, TheAnalyzer)
//
// and is made for every report: adding a file adds an analyzer, and removing it leaves nothing behind.
#pragma once

#include "analysis/stream/analyzer.h"

#include <memory>
#include <vector>

#define MSL_REGISTER_ANALYZER(stem, Type)                                                                              \
  std::unique_ptr<Analyzer> makeAnalyzer_##stem() { return std::make_unique<Type>(); }

namespace msleaks::analysis::inline analyzers {

// One of each, in the order of the files' names.
std::vector<std::unique_ptr<Analyzer>> makeAnalyzers();

} // namespace msleaks::analysis::inline analyzers
