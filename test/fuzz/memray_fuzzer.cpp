// Fuzzes the importer of files of memray.
#include "fuzzed_import.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size) {
  msleaks::importFuzzed("memray", input, size);
  return 0;
}
