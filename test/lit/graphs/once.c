// The pass runs twice on the module of a fat LTO object, and once more in the link. It inserts counters only once.
// REQUIRES: fat-lto
// RUN: env MSLEAKS_PASS=cfg %clang -O2 -S -emit-llvm -flto -ffat-lto-objects %s -o - | FileCheck %s
// RUN: env MSLEAKS_PASS=cfg %clang -O2 -c -flto=thin %s -o %t.o && env MSLEAKS_PASS=cfg %clang -flto=thin %{lld} %{load} %t.o -o %t && %t
// CHECK: @__msl_graph_unit = internal constant
// CHECK-NOT: @__msl_graph_unit.{{[0-9]}} =
int main(int count, char **arguments) {
  (void)arguments;
  return count == 7;
}
