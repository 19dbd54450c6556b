// The files of this folder are the analyzers. Each file ends with
//
//   MSL_REGISTER_ANALYZER(stem_of_the_file, TheAnalyzer)
//
// Each report makes all of them. To add or remove an analyzer, only add or remove its file.
#pragma once

#include "analysis/stream/analyzer.h"

#include <memory>
#include <vector>

#define MSL_REGISTER_ANALYZER(stem, Type)                                                                              \
  std::unique_ptr<Analyzer> makeAnalyzer_##stem() { return std::make_unique<Type>(); }

namespace msleaks::analysis::inline analyzers {

// Makes one of each, in the order of the files' names.
std::vector<std::unique_ptr<Analyzer>> makeAnalyzers();

} // namespace msleaks::analysis::inline analyzers
