// The pass instruments no function that forbids instrumentation, and no function that the user wants to ignore.
// RUN: %clang -g -O0 -S -emit-llvm %s -o - | FileCheck %s
// RUN: %clang -g -O2 -S -emit-llvm %s -o - | FileCheck %s
#include <stdlib.h>

extern void *volatile sink;

// CHECK-LABEL: define{{.*}} @ignored(
// CHECK-NOT: __msl
// CHECK: ret
__attribute__((annotate("msleaks.ignore"))) void ignored(int n) { sink = malloc(n); }

// CHECK-LABEL: define{{.*}} @no_sanitizer(
// CHECK-NOT: __msl
// CHECK: ret
__attribute__((disable_sanitizer_instrumentation)) void no_sanitizer(int n) { sink = malloc(n); }

// An ignored call stays ignored if it is inlined into an instrumented function.
__attribute__((annotate("msleaks.ignore"))) static inline void ignored_inline(int n) { sink = malloc(n + 1); }

// CHECK-LABEL: define{{.*}} @seen(
// CHECK: call {{.*}}@__msl_gate.malloc(
// CHECK-NOT: @__msl
// CHECK: ret
void seen(int n) {
  sink = malloc(n);
  ignored_inline(n);
}

// The dynamic linker calls an IFUNC's resolver before it relocates the image, so instrumented code could fault there.
static void chosen(void) {}
// CHECK-LABEL: define{{.*}} @resolve(
// CHECK-NOT: __msl
// CHECK: ret
__attribute__((used)) static void (*resolve(void))(void) {
  free(malloc(3)), sink = malloc(4);
  return chosen;
}
void dispatched(void) __attribute__((ifunc("resolve")));

// CHECK-LABEL: define{{.*}} @naked(
// CHECK-NOT: __msl
// CHECK: unreachable
__attribute__((naked)) void naked(void) { __asm__("jmp malloc"); }
