// Locks existing host memory by CUDA's runtime library and driver, or by HIP: two blocks of
// malloc and a static table. Unlocks the blocks. Unlocks the table only with "mended".
#include <cuda_runtime_api.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef HIP
int cuMemHostRegister_v2(void *block, size_t size, unsigned flags);
int cuMemHostUnregister(void *block);
#endif

enum { kWeights = 4 << 20, kBatch = 1 << 16, kTable = 1 << 14 };
static char table[kTable];

static void expect(int status, int wanted, const char *what) {
  if (status != wanted)
    printf("%s: %d, not %d\n", what, status, wanted);
}

int main(int argc, char **argv) {
  const int mended = argc > 1 && strcmp(argv[1], "mended") == 0;
  char *weights = malloc(kWeights), *batch = malloc(kBatch);
  memset(weights, 1, kWeights);
  expect(cudaHostRegister(weights, kWeights, 0), 0, "weights");
  expect(cudaHostRegister(weights, kWeights, 0), cudaErrorHostMemoryAlreadyRegistered, "weights once more");
  expect(cudaGetLastError(), cudaErrorHostMemoryAlreadyRegistered, "last error");
  expect(cudaHostRegister(table, kTable, 0), 0, "table"); // forgotten
#ifndef HIP
  expect(cuMemHostRegister_v2(batch, kBatch, 0), 0, "batch");
  expect(cuMemHostUnregister(batch), 0, "batch no longer");
#else
  expect(cudaHostRegister(batch, kBatch, 0), 0, "batch");
  expect(cudaHostUnregister(batch), 0, "batch no longer");
#endif
  expect(cudaHostUnregister(batch), cudaErrorHostMemoryNotRegistered, "batch once more");
  expect(cudaHostUnregister(weights), 0, "weights no longer");
  if (mended)
    expect(cudaHostUnregister(table), 0, "table no longer");
  free(batch);
  free(weights);
  puts("done");
  return 0;
}
