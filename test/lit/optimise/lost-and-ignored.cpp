// An ignored call stays ignored if it is inlined. With debug information, it also stays ignored if it is folded into another call.
// RUN: %clangxx -g -O0 -S -emit-llvm %s -o - | FileCheck %s
// RUN: %clangxx -g -O2 -S -emit-llvm %s -o - | FileCheck %s
// RUN: %clangxx -g0 -O2 -DNO_FOLD -S -emit-llvm %s -o - | FileCheck %s
#include <cstdlib>
#include <cstring>

struct Guard { ~Guard(); };
void use(void *);

__attribute__((annotate("msleaks.ignore"))) static inline int *quiet() { return new int; }
// CHECK-LABEL: define{{.*}} @_Z7guardedv(
// CHECK-NOT: __msl
// CHECK: {{^}}}
void guarded() { Guard g; use(quiet()); }

#ifndef NO_FOLD
__attribute__((annotate("msleaks.ignore"))) static inline void *zeroed(std::size_t n) {
  void *p = std::malloc(n);
  if (p)
    std::memset(p, 0, n);
  return p;
}
#else
static inline void *zeroed(std::size_t n) { return nullptr; }
#endif
// CHECK-LABEL: define{{.*}} @_Z6foldedm(
// CHECK-NOT: __msl
// CHECK: {{^}}}
void folded(std::size_t n) { Guard g; use(zeroed(n)); }
