// Initialises NVIDIA's management library NVML. Allocates by CUDA's runtime library or, if USES_DRIVER
// is defined, by CUDA's driver. With an argument the program does not initialise NVML.
#include <stdio.h>
#include <stdlib.h>

extern int nvmlInit_v2(void);

static void must(int status) {
  if (status != 0) {
    printf("status %d\n", status);
    exit(1);
  }
}

#ifdef USES_DRIVER
extern int cuCtxCreate_v2(void **context, unsigned flags, int device);
extern int cuMemAlloc_v2(void **block, size_t bytes);
extern int cuMemFree_v2(void *block);
static void *context;
static void use(int device) { must(cuCtxCreate_v2(&context, 0, device)); }
static void take(void **block, size_t bytes) { must(cuMemAlloc_v2(block, bytes)); }
static void give(void *block) { must(cuMemFree_v2(block)); }
#else
extern int cudaSetDevice(int device);
extern int cudaMalloc(void **block, size_t bytes);
extern int cudaFree(void *block);
static void use(int device) { must(cudaSetDevice(device)); }
static void take(void **block, size_t bytes) { must(cudaMalloc(block, bytes)); }
static void give(void *block) { must(cudaFree(block)); }
#endif

int main(int count, char **arguments) {
  (void)arguments;
  if (count == 1)
    must(nvmlInit_v2());
  use(1);
  void *block = NULL;
  take(&block, 8 << 20);
  give(block);
  puts("done");
  return 0;
}
