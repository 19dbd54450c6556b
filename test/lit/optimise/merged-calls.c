// The optimiser merges malloc and memset into one calloc, as without msleaks. The new call has the place and the facts of the malloc.
// RUN: %clang -g -O2 -S -emit-llvm %s -o - | FileCheck %s
// RUN: %clang -g -O2 -c %s -o %t.o && %sites %t.o | FileCheck --check-prefix=TABLE %s
#include <stdlib.h>
#include <string.h>

// CHECK-LABEL: define{{.*}} @zeroed(
// CHECK: call {{.*}}ptr @__msl_gate.calloc(
// CHECK-NOT: @memset
// CHECK: ret ptr
// TABLE: merged-calls.c:[[#@LINE+2]]:{{[0-9]+}} zeroed calloc type='char' variable='p'
char *zeroed(size_t n) {
  char *p = malloc(n);
  if (p)
    memset(p, 0, n);
  return p;
}
