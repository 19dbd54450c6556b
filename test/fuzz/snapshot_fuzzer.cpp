// Fuzzes the importer of PyTorch's memory snapshots.
#include "fuzzed_import.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size) {
  msleaks::importFuzzed("pytorch", input, size);
  return 0;
}
