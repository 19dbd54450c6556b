// Fuzzes the importer of files of heaptrack.
#include "fuzzed_import.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size) {
  msleaks::importFuzzed("heaptrack", input, size);
  return 0;
}
