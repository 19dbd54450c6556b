// An analyzer that was built for a later version of the analyzer interface.
#include "msleaks/abi/analyzer.h"

extern "C" {
[[gnu::visibility("default")]] extern const uint32_t __msl_analyzer[64];
const uint32_t __msl_analyzer[64] = {msleaks::analyzer::kAnalyzerVersion + 1, 4096};
}
