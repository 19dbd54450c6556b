// The user's realloc function throws. A free was recorded before the call. So the code for the exception calls `cancel`, which
// records that the block is alive again.
// RUN: echo 'realloc _Z4growPvm address=0 size=1 free=free heap=host' > %t.rows
// RUN: env MSLEAKS_PASS=rows=%t.rows %build_cxx -O0 && %plain | FileCheck --check-prefix=PLAIN %s && %logged | FileCheck %s
// RUN: env MSLEAKS_PASS=rows=%t.rows %build_cxx -O2 && %plain | FileCheck --check-prefix=PLAIN %s && %logged | FileCheck %s
#include "keep.h"
#include <cstdio>
#include <cstdlib>
#include <new>

__attribute__((noinline)) void *grow(void *block, size_t size) {
  if (size > 1000)
    throw std::bad_alloc();
  keep(block);
  return block;
}

__attribute__((noinline)) static int attempt(void *block, size_t size) {
  try {
    keep(grow(block, size));
    return 0;
  } catch (std::bad_alloc &) {
    return 1;
  }
}

int main() {
  char block[1];
  // CHECK: on_free user realloc flags=0x4 block size=0 | _Z4growPvm
  // CHECK-NEXT: on_alloc user realloc flags=0x4 block size=10 | _Z4growPvm
  // PLAIN: grown 0
  std::printf("grown %d\n", attempt(block, 10));
  // CHECK-NEXT: on_free user realloc flags=0x4 block size=0 | _Z4growPvm
  // CHECK-NEXT: cancel {{.*}} | _Z4growPvm
  // CHECK-NEXT: disarm
  // PLAIN: thrown 1
  std::printf("thrown %d\n", attempt(block, 2000));
}
