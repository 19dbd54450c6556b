// An analyzer with the right version, but with an invalid name and without functions.
#include "msleaks/abi/analyzer.h"

extern "C" {
[[gnu::visibility("default")]] extern const msleaks::analyzer::Plugin __msl_analyzer;
const msleaks::analyzer::Plugin __msl_analyzer = {msleaks::analyzer::kAnalyzerVersion,
                                                  sizeof(msleaks::analyzer::Plugin),
                                                  "../name",
                                                  {},
                                                  {},
                                                  {},
                                                  {},
                                                  {},
                                                  {},
                                                  {},
                                                  {},
                                                  {}};
}
