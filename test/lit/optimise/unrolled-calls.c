// Copies of a call that have the same place in the source are one site. Unrolling makes such copies.
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
