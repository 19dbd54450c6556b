// Launches a module's kernel `rounds` by CUDA's driver, and prints the results. For HIP, the test renames functions.
//   sampled_host MODULE LAUNCHES GRID×3 BLOCK×3 SIZE×3 [threads]
//   threads   HIP only: GRID counts threads, so the last thread block of a row may be smaller than the others
#include "module_driver.h"

#include <string.h>

enum { kMost = 1 << 16, kTable = 16 };
static unsigned values[kMost], table[kTable];

static CUdeviceptr memory(const void *content, size_t bytes, void *stream) {
  CUdeviceptr made;
  must(cuMemAlloc_v2(&made, bytes), "memory");
  must(cuMemcpyHtoDAsync_v2(made, content, bytes, stream), "write");
  return made;
}

static void launch(void *function, const unsigned *sizes, int is_threads, void *stream, void **each) {
#ifdef HIP
  if (is_threads) {
    must(hipExtModuleLaunchKernel(function, sizes[0], sizes[1], sizes[2], sizes[3], sizes[4], sizes[5], 0, stream, each,
                                  NULL, NULL, NULL, 0),
         "launch");
    return;
  }
#endif
  must(is_threads, "CUDA has no grids in threads");
  must(cuLaunchKernel(function, sizes[0], sizes[1], sizes[2], sizes[3], sizes[4], sizes[5], 0, stream, each, NULL),
       "launch");
}

int main(int count, char **words) {
  unsigned sizes[9];
  for (int i = 0; i < 9; ++i)
    sizes[i] = (unsigned)atoi(words[3 + i]);
  for (int i = 0; i < kTable; ++i)
    table[i] = (unsigned)i * 7;
#ifndef HIP
  void *context;
  must(cuCtxCreate_v2(&context, 0, 0), "context");
#endif
  void *module, *function, *stream;
  must(cuStreamCreate(&stream, 1), "stream");
  CUdeviceptr out = memory(values, sizeof values, stream), from = memory(table, sizeof table, stream);
  must(cuModuleLoad(&module, words[1]), "module");
  must(cuModuleGetFunction(&function, module, "rounds"), "rounds");
  for (int i = 0; i < atoi(words[2]); ++i)
    launch(function, sizes, count > 12 && strcmp(words[12], "threads") == 0, stream,
           (void *[]){&out, &from, &sizes[6], &sizes[7], &sizes[8]});
  printSum(out, values, kMost, stream);
  must(cuMemFree_v2(out), "free");
  must(cuMemFree_v2(from), "free");
  must(cuStreamDestroy_v2(stream), "stream");
#ifndef HIP
  must(cuCtxDestroy_v2(context), "context");
#endif
  return 0;
}
