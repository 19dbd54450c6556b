// The optimiser deletes the same calls as without msleaks, and no site or unit of these calls is left. Up to LLVM 18, debug information
// consists of calls, too, so sed removes the calls of @llvm.dbg.
// RUN: %clangxx -g -O2 -S -emit-llvm %s -o - | sed '/@llvm.dbg/d' | FileCheck %s
// RUN: %clangxx -g -O2 -S -emit-llvm %s -o - | FileCheck --check-prefix=NONE %s
// At -O0 all calls remain.
// RUN: %clangxx -g -O0 -c %s -o %t.o && %sites %t.o | FileCheck --check-prefix=ALL %s
// ALL: rows=6
#include <cstdlib>
#include <cstring>

// NONE-NOT: __msl

// CHECK-LABEL: define{{.*}} @_Z6unusedv(
// CHECK-NOT: call
// CHECK: ret i32 3
int unused() {
  int *p = static_cast<int *>(std::malloc(4));
  *p = 3;
  int n = *p;
  std::free(p);
  return n;
}

// CHECK-LABEL: define{{.*}} @_Z8new_pairv(
// CHECK-NOT: call
// CHECK: ret i32 4
int new_pair() {
  int *p = new int(4);
  int n = *p;
  delete p;
  return n;
}

// CHECK-LABEL: define{{.*}} @_Z9new_arrayv(
// CHECK-NOT: call
// CHECK: ret void
void new_array() { delete[] new char[9]; }
