// The compiler's own attributes declare these functions as allocators. They need no annotation.
// RUN: %build_c -O0 && %logged | FileCheck %s
// RUN: %build_c -O2 && %logged | FileCheck %s
#include "keep.h"
#include <stdlib.h>

__attribute__((malloc, alloc_size(1), noinline)) void *xmalloc(size_t size) { return malloc(size); }
__attribute__((alloc_size(2, 1), noinline)) void *xarray(size_t count, size_t size) { return malloc(count * size); }

int main(void) {
  // The call of malloc inside xmalloc is recorded first, because it returns first.
  // CHECK: before user wrap | xmalloc
  // CHECK: before heap alloc | malloc
  // CHECK: on_alloc heap alloc block size=24 | malloc
  // CHECK: on_alloc user wrap block size=24 | xmalloc at compiler-attributes.c:[[#@LINE+1]] in main variable=values type=float
  float *values = xmalloc(24);
  keep(values);
  // CHECK: on_alloc user wrap block size=42 | xarray at {{.*}} variable=array type=short
  short *array = xarray(7, 6);
  keep(array);
  free(values), free(array);
}
