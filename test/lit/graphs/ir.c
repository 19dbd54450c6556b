// The table of graphs contains the IR of the blocks only with the option `ir`. This IR contains no debug information.
// RUN: env MSLEAKS_PASS='cfg;ir' %clang -O1 -g -S -emit-llvm %s -o - | FileCheck %s
// RUN: env MSLEAKS_PASS='cfg' %clang -O1 -g -S -emit-llvm %s -o - | FileCheck %s --check-prefix=NONE
// CHECK: @__msl_graphs = private constant {{.*}}mul nsw i32 %0, 3\0A{{.*}}ret i32 %
// CHECK-NOT: dbg !{{.*}}section "msl_graphs"
// NONE: @__msl_graphs = private constant
// NONE-NOT: mul nsw i32 %0, 3\0A
int thrice(int n) { return n * 3; }
