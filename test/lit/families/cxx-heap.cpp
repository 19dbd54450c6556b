// The pass recognises all forms of operator new and operator delete by their linkage names.
// RUN: %build_cxx -fsized-deallocation -O0 && %plain | FileCheck --check-prefix=PLAIN %s && %logged | FileCheck %s
// RUN: %build_cxx -fsized-deallocation -O2 && %plain | FileCheck --check-prefix=PLAIN %s && %logged | FileCheck %s
// RUN: %build_cxx -fsized-deallocation -DGUARDED -O0 && %plain | FileCheck --check-prefix=PLAIN %s && %logged | FileCheck %s
// RUN: %build_cxx -fsized-deallocation -DGUARDED -O2 && %plain | FileCheck --check-prefix=PLAIN %s && %logged | FileCheck %s
// RUN: %clangxx -fsized-deallocation -DGUARDED -O0 -S -emit-llvm %s -o - | FileCheck --check-prefix=INVOKE %s
// INVOKE-NOT: call {{.*}} @__msl_gate._Zn{{[wa]}}m{{(St11align_val_t)?}}(
// INVOKE: invoke {{.*}} @__msl_gate._Znwm(
// INVOKE-NOT: call {{.*}} @__msl_gate._Zn{{[wa]}}m{{(St11align_val_t)?}}(
#include "guard.h"
#include "keep.h"
#include <cstdio>
#include <new>

int main() {
  GUARD;
  constexpr std::align_val_t align{64};
  // CHECK: on_alloc heap alloc block size=1 | _Znwm at cxx-heap.cpp:[[#@LINE+1]] in main variable=p
  void *p = ::operator new(1);
  keep(p);
  // CHECK: on_free heap free block size=0 | _ZdlPv at cxx-heap.cpp:[[#@LINE+1]] in main
  ::operator delete(p);
  // CHECK: on_alloc heap alloc block size=2 | _Znam at
  p = ::operator new[](2);
  keep(p);
  // CHECK: on_free heap free block size=0 | _ZdaPv at
  ::operator delete[](p);
  // CHECK: on_alloc heap alloc block size=3 | _ZnwmRKSt9nothrow_t at
  p = ::operator new(3, std::nothrow);
  keep(p);
  // CHECK: on_free heap free block size=0 | _ZdlPvRKSt9nothrow_t at
  ::operator delete(p, std::nothrow);
  // CHECK: on_alloc heap alloc block size=4 | _ZnamRKSt9nothrow_t at
  p = ::operator new[](4, std::nothrow);
  keep(p);
  // CHECK: on_free heap free block size=0 | _ZdaPvRKSt9nothrow_t at
  ::operator delete[](p, std::nothrow);
  // CHECK: on_alloc heap alloc block size=64 | _ZnwmSt11align_val_t at
  p = ::operator new(64, align);
  keep(p);
  // CHECK: on_free heap free block size=0 | _ZdlPvSt11align_val_t at
  ::operator delete(p, align);
  // CHECK: on_alloc heap alloc block size=65 | _ZnamSt11align_val_t at
  p = ::operator new[](65, align);
  keep(p);
  // CHECK: on_free heap free block size=0 | _ZdaPvSt11align_val_t at
  ::operator delete[](p, align);
  // CHECK: on_alloc heap alloc block size=66 | _ZnwmSt11align_val_tRKSt9nothrow_t at
  p = ::operator new(66, align, std::nothrow);
  keep(p);
  // CHECK: on_free heap free block size=0 | _ZdlPvSt11align_val_tRKSt9nothrow_t at
  ::operator delete(p, align, std::nothrow);
  // CHECK: on_alloc heap alloc block size=67 | _ZnamSt11align_val_tRKSt9nothrow_t at
  p = ::operator new[](67, align, std::nothrow);
  keep(p);
  // CHECK: on_free heap free block size=0 | _ZdaPvSt11align_val_tRKSt9nothrow_t at
  ::operator delete[](p, align, std::nothrow);

  // The size is too large, so operator new[] returns null. operator delete[] then gets null.
  // CHECK: on_alloc heap alloc null size=9223372036854775807 | _ZnamRKSt9nothrow_t at
  // CHECK: on_free heap free null size=0 | _ZdaPvRKSt9nothrow_t at
  p = ::operator new[](~0ul >> 1, std::nothrow);
  keep(p);
  ::operator delete[](p, std::nothrow);

  // These are the sized forms of operator delete.
  p = ::operator new(5);
  keep(p);
  // CHECK: on_free heap free block size=0 | _ZdlPvm at
  ::operator delete(p, 5);
  p = ::operator new[](6);
  keep(p);
  // CHECK: on_free heap free block size=0 | _ZdaPvm at
  ::operator delete[](p, 6);
  p = ::operator new(64, align);
  keep(p);
  // CHECK: on_free heap free block size=0 | _ZdlPvmSt11align_val_t at
  ::operator delete(p, 64, align);
  p = ::operator new[](64, align);
  keep(p);
  // CHECK: on_free heap free block size=0 | _ZdaPvmSt11align_val_t at
  ::operator delete[](p, 64, align);
  std::puts("done");
}
// PLAIN: done
// PLAIN-NOT: {{.}}
