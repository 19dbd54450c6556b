// A library that calls CUDA's runtime library. The program opens it with RTLD_DEEPBIND, as some programs open plug-ins.
#include <cuda_runtime_api.h>

int engine_run(void) {
  void *block;
  return cudaMalloc(&block, 4096) != 0 || cudaMemset(block, 1, 4096) != 0 || cudaFree(block) != 0;
}
