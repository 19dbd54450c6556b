// Copies of one call that are in the same place of the source, as after unrolling, are one site.
// RUN: %clang -g -O2 -S -emit-llvm %s -o - | FileCheck %s
// RUN: %clang -g -O2 -c %s -o %t.o && %sites %t.o | FileCheck --check-prefix=TABLE %s
// CHECK-COUNT-4: call {{.*}}@__msl_gate.malloc(
// TABLE: rows=1
#include "keep.h"
#include <stdlib.h>

void four(void) {
#pragma clang loop unroll(full)
  for (int i = 0; i < 4; ++i)
    keep(malloc(8));
}
