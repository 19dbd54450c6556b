// Fuzzes the importer of heap profiles of pprof.
#include "fuzzed_import.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size) {
  msleaks::importFuzzed("pprof", input, size);
  return 0;
}
