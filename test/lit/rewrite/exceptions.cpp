// A call of operator new in a try block is an invoke. The callback after the call runs only if the call returns. If operator new throws,
// the pending site is removed. An exception from other code removes no site.
// RUN: %build_cxx -O0 && %plain | FileCheck --check-prefix=PLAIN %s && %logged | FileCheck %s
// RUN: %build_cxx -O2 && %plain | FileCheck --check-prefix=PLAIN %s && %logged | FileCheck %s
#include "keep.h"
#include <cstdio>
#include <new>

struct Picky {
  Picky(int n) : value(n) {
    if (n < 0)
      throw n;
  }
  int value;
};

// Both calls share one landing pad.
__attribute__((noinline)) static int both(unsigned long huge, int n) {
  try {
    char *a = new char[huge];
    keep(a);
    Picky *b = new Picky(n);
    keep(b);
    delete b;
    delete[] a;
    return 0;
  } catch (std::bad_alloc &) {
    return 1;
  } catch (int thrown) {
    return thrown;
  }
}

int main() {
  // CHECK: on_alloc heap alloc block size=5 | _Znam {{.*}} variable=a type=char
  // CHECK: on_alloc heap alloc block size=4 | _Znwm {{.*}} variable=b type=Picky
  // CHECK: on_free {{.*}} | _ZdlPv
  // CHECK-NEXT: on_free {{.*}} | _ZdaPv at
  // PLAIN: plain 0
  std::printf("plain %d\n", both(5, 6));
  // The size is too large, so operator new[] throws.
  // CHECK-NEXT: before heap alloc | _Znam
  // CHECK-NEXT: cancel {{.*}} | _Znam
  // PLAIN: refused 1
  std::printf("refused %d\n", both(~0ul >> 1, 6));
  // The constructor throws. The block is freed, and no pending site is removed.
  // CHECK-NEXT: before heap alloc | _Znam
  // CHECK-NEXT: on_alloc heap alloc block size=5 | _Znam
  // CHECK-NEXT: before heap alloc | _Znwm
  // CHECK-NEXT: on_alloc heap alloc block size=4 | _Znwm
  // CHECK-NEXT: on_free heap free block {{.*}} | _ZdlPv
  // PLAIN: thrown -7
  // CHECK-NEXT: disarm 1 units
  std::printf("thrown %d\n", both(5, -7));
}
