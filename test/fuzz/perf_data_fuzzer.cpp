// Fuzzes the reader of perf.data. The fuzzed reader opens only images that are files of this machine, and runs no
// objdump.
#include "analysis/counts/perf_profile.h"
#include "named_memory.h"

#include <string>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  using namespace msleaks;
  using namespace msleaks::analysis;
  static NamedMemory memory;
  const auto file = InputFile::open(memory.store({bytes, size}));
  if (!file)
    std::abort();
  std::vector<std::string> notes;
  profiles::PerfOptions options;
  options.text = false;
  const auto profile = profiles::readPerfProfile(*file, options, notes);
  if (!profile && profile.error().message.find('\n') != std::string::npos)
    std::abort();
  if (profile && !profiles::checkProfile(*profile))
    std::abort();
  return 0;
}
