// Fuzzes the reader of libraries in `msleaks doctor`: their symbols, their slots for addresses, and their code.
#include "analysis/second_run/library_file.h"
#include "named_memory.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  using namespace msleaks;
  static NamedMemory memory;
  const auto file = analysis::readLibraryFile(memory.store({bytes, size}), [](const std::string &) { return true; });
  if (!file)
    return file.error().message.find('\n') == std::string::npos ? 0 : (std::abort(), 0);
  for (const std::string &producer : file->producers)
    analysis::parseProducer(producer);
  return 0;
}
