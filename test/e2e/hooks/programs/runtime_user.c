// Calls a runtime by its symbols. The dynamic linker chooses it:
// it binds runtime_version and runtime_owns, which have no hook.
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
  fflush(stdout); // in a namespace of its own, it is that of another libc
}
