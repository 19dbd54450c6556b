// A function with the name of a known function, but with other parameters or another result, is not instrumented.
// RUN: %clang -g -O0 -S -emit-llvm %s -o - | FileCheck %s --implicit-check-not=@__msl
// RUN: %clang -g -O2 -S -emit-llvm %s -o - | FileCheck %s --implicit-check-not=@__msl
// The pass finds no call of a known function, so it adds no unit, no table and no constructor.
// CHECK-NOT: __msl
// CHECK: define{{.*}} @other_shape
#include <stddef.h>
#include <stdint.h>

struct pair { double a, b; };
struct pair mmap(struct pair p, int n);       // another result
int cudaMalloc(double size);                  // too few parameters, and no pointer
void aclrtFree(float block);                  // not a pointer
int hipMalloc(double *block, double size);    // the size is no integer
int cudaMemcpy(int size);                     // too few parameters
void hipLaunchKernel(void);                   // no parameters at all
int clEnqueueNDRangeKernel(void *a, void *b); // no sizes

void other_shape(void) {
  struct pair p = {1, 2};
  mmap(p, 1);
  cudaMalloc(3.0);
  aclrtFree(1.0f);
  hipMalloc(0, 3.0);
  cudaMemcpy(3);
  hipLaunchKernel();
  clEnqueueNDRangeKernel(0, 0);
}

// The callee of a call through a pointer is unknown, so the call is not instrumented.
void indirect(void *(*get)(size_t), void (*put)(void *)) { put(get(3)); }

// A static function is the program's own, even if its name is `free`.
static __attribute__((noinline, optnone)) int free(int x) { return x; }
int own(void) { return free(1); }
