// Calls a runtime library. The dynamic linker chooses one of several loaded versions.
// runtime_version and runtime_owns have no hook, so their results show which version the linker chose.
#include <stddef.h>
#include <stdio.h>

int cudaMalloc(void **block, size_t bytes), cudaFree(void *block);
int cudaMallocManaged(void **block, size_t bytes, unsigned flags);
int runtime_version(void), runtime_owns(const void *block);

void use_runtime(size_t bytes) {
  void *kept = NULL, *gone = NULL, *managed = NULL;
  const int first = cudaMalloc(&kept, bytes), second = cudaMalloc(&gone, bytes + 1);
  cudaMallocManaged(&managed, bytes, 1);
  printf("version %d: %d %d, its own blocks: %d %d %d", runtime_version(), first, second, runtime_owns(kept),
         runtime_owns(gone), runtime_owns(managed));
  printf(", free: %d\n", cudaFree(gone));
  fflush(stdout); // needed in a new namespace, where the library uses a libc of its own
}
