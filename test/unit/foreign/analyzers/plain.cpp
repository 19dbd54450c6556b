// An analyzer without msleaks/analyzer.h. It has only the required functions, and does not catch exceptions.
#include "msleaks/abi/analyzer.h"

namespace {

using namespace msleaks::analyzer;

const char *make(void **) { return nullptr; }
void destroy(void *) {}
const char *conclude(void *, const Host *) { throw "out"; }

} // namespace

extern "C" {
[[gnu::visibility("default")]] extern const Plugin __msl_analyzer;
const Plugin __msl_analyzer = {kAnalyzerVersion, sizeof(Plugin), "plain", make,    destroy, nullptr,
                               nullptr,          nullptr,        nullptr, nullptr, nullptr, conclude};
}
