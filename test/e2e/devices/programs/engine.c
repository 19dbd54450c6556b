// Linked with the driver, as an engine that is opened with RTLD_DEEPBIND.
#include <cuda_runtime_api.h>

int engine_run(void) {
  void *block;
  return cudaMalloc(&block, 4096) != 0 || cudaMemset(block, 1, 4096) != 0 || cudaFree(block) != 0;
}
