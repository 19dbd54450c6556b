// An analyzer of which only the version is right.
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
