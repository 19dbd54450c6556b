#include "analysis/analyzers/registry.h"

namespace msleaks::analysis::inline analyzers {

#define MSL_ENTRY(stem) std::unique_ptr<Analyzer> makeAnalyzer_##stem();
#include "analyzers.inc"
#undef MSL_ENTRY

std::vector<std::unique_ptr<Analyzer>> makeAnalyzers() {
  std::vector<std::unique_ptr<Analyzer>> analyzers;
#define MSL_ENTRY(stem) analyzers.push_back(makeAnalyzer_##stem());
#include "analyzers.inc"
#undef MSL_ENTRY
  return analyzers;
}

} // namespace msleaks::analysis::inline analyzers
