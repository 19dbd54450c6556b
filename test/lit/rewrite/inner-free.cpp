// free() in the program's own operator delete calls on_inner_free, because the call of operator delete has already recorded the free.
// RUN: %build_cxx -O0 && %logged | FileCheck %s
// RUN: %build_cxx -O2 && %logged | FileCheck %s
#include "keep.h"
#include <cstdlib>
#include <new>

void *operator new(std::size_t size) { return std::malloc(size); }
[[gnu::noinline]] void operator delete(void *block) noexcept { std::free(block); }
[[gnu::noinline]] void operator delete(void *block, std::size_t) noexcept { std::free(block); }

int main() {
  int *number = new int(1);
  keep(number);
  // CHECK: on_free heap free block {{.*}}| _ZdlPv{{m?}} at inner-free.cpp:[[#@LINE+2]] in main
  // CHECK-NEXT: on_inner_free heap free block size=0 | free at inner-free.cpp:{{.*}} in _ZdlPv
  delete number;
  void *block = std::malloc(3);
  keep(block);
  // CHECK: on_free heap free block size=0 | free at inner-free.cpp:[[#@LINE+1]] in main
  std::free(block);
}
