// Launches the kernels of a module through CUDA's driver (or, renamed, HIP's):  module_host MODULE LAUNCHES [how...]
//   library   the kernels come from a library, as CUDA's runtime loads them
//   packed    arguments behind each other in memory
//   config    by cuLaunchKernelEx
//   reload    the module is loaded again for each launch
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef unsigned long long CUdeviceptr;
struct config {
  unsigned grid[3], block[3], shared;
  void *stream, *attributes;
  unsigned count;
};
int cuModuleLoad(void **, const char *), cuModuleUnload(void *), cuModuleGetFunction(void **, void *, const char *);
int cuMemAlloc_v2(CUdeviceptr *, size_t), cuMemFree_v2(CUdeviceptr);
int cuMemcpyHtoDAsync_v2(CUdeviceptr, const void *, size_t, void *), cuMemcpyDtoHAsync_v2(void *, CUdeviceptr, size_t, void *);
int cuStreamCreate(void **, unsigned), cuStreamSynchronize(void *), cuStreamDestroy_v2(void *);
int cuLaunchKernel(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **, void **);
#ifndef HIP
int cuCtxCreate_v2(void **, unsigned, int), cuCtxDestroy_v2(void *);
int cuLaunchKernelEx(const struct config *, void *, void **, void **);
int cuLibraryLoadFromFile(void **, const char *, int *, void **, unsigned, int *, void **, unsigned);
int cuLibraryGetKernel(void **, void *, const char *), cuKernelGetFunction(void **, void *);
#endif

enum { kSize = 1000, kBlock = 64, kBlocks = (kSize + kBlock - 1) / kBlock };
static int is_library, is_packed, is_config, is_reloaded;
static void *stream;

static void must(int status, const char *what) {
  if (status == 0)
    return;
  printf("%s: %d\n", what, status);
  exit(1);
}

static void load(void **module, const char *file) {
#ifndef HIP
  if (is_library) {
    must(cuLibraryLoadFromFile(module, file, NULL, NULL, 0, NULL, NULL, 0), "library");
    return;
  }
#endif
  must(cuModuleLoad(module, file), "module");
}

static void *find(void *module, const char *name) {
  void *function;
#ifndef HIP
  if (is_library) {
    must(cuLibraryGetKernel(&function, module, name), name);
    must(cuKernelGetFunction(&function, function), name);
    return function;
  }
#endif
  must(cuModuleGetFunction(&function, module, name), name);
  return function;
}

static void launch(void *function, void **each, char *bytes, size_t size) {
  void *packed[] = {(void *)1, bytes, (void *)2, &size, NULL};
#ifndef HIP
  if (is_config) {
    struct config config = {{kBlocks, 1, 1}, {kBlock, 1, 1}, 0, stream, NULL, 0};
    must(cuLaunchKernelEx(&config, function, each, NULL), "launch");
    return;
  }
#endif
  must(cuLaunchKernel(function, kBlocks, 1, 1, kBlock, 1, 1, 0, stream, is_packed ? NULL : each, is_packed ? packed : NULL),
       "launch");
}

int main(int count, char **words) {
  for (int i = 3; i < count; ++i) {
    is_library |= strcmp(words[i], "library") == 0;
    is_packed |= strcmp(words[i], "packed") == 0;
    is_config |= strcmp(words[i], "config") == 0;
    is_reloaded |= strcmp(words[i], "reload") == 0;
  }
#ifndef HIP
  void *context;
  must(cuCtxCreate_v2(&context, 0, 0), "context");
#endif
  void *module = NULL;
  unsigned values[kSize] = {0};
  CUdeviceptr memory;
  must(cuMemAlloc_v2(&memory, sizeof values), "memory");
  must(cuStreamCreate(&stream, 1), "stream");
  must(cuMemcpyHtoDAsync_v2(memory, values, sizeof values, stream), "write");
  unsigned char first = 1;
  int size = kSize;
  char bytes[16];
  for (int i = 0; i < atoi(words[2]); ++i) {
    if (module == NULL || is_reloaded)
      load(&module, words[1]);
    memcpy(bytes, &memory, 8);
    memcpy(bytes + 8, &first, 1);
    memcpy(bytes + 12, &size, 4);
    launch(find(module, "collatz"), (void *[]){&memory, &first, &size}, bytes, 16);
    memcpy(bytes + 8, &size, 4);
    launch(find(module, "choose"), (void *[]){&memory, &size}, bytes, 12);
    if (is_reloaded) {
      must(cuStreamSynchronize(stream), "wait");
      must(cuModuleUnload(module), "unload");
    }
  }
  must(cuMemcpyDtoHAsync_v2(values, memory, sizeof values, stream), "read");
  must(cuStreamSynchronize(stream), "wait");
  unsigned sum = 0;
  for (int i = 0; i < kSize; ++i)
    sum = sum * 31 + values[i];
  printf("%u\n", sum);
  must(cuMemFree_v2(memory), "free");
  must(cuStreamDestroy_v2(stream), "stream");
#ifndef HIP
  must(cuCtxDestroy_v2(context), "context");
#endif
  return 0;
}
