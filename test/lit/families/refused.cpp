// In each family, a callback after a call that returns a status reports whether the call was refused. Other calls have no such callback.
// RUN: %build_cxx -O0 && %plain | FileCheck --check-prefix=PLAIN %s && %logged | FileCheck %s
// RUN: %build_cxx -O2 && %plain | FileCheck --check-prefix=PLAIN %s && %logged | FileCheck %s
// RUN: %build_cxx -DGUARDED -O2 && %logged | FileCheck %s
#include "acl.h"
#include "cuda.h"
#include "guard.h"
#include "hip.h"
#include "opencl.h"
#include <cstdio>
#include <cstdlib>
#include <sys/mman.h>

// The pass does not know the meaning of this function's result, so no callback gets the result.
__attribute__((annotate("msleaks.free:address=0"))) bool giveBack(void *block) {
  std::free(block);
  return true;
}

static int frees(char *d, char *m) {
  GUARD;
  // The stand-ins of the drivers refuse the address d + 1, since it is not aligned.
  // CHECK: on_free cuda free block size=0 | cudaFree at
  // CHECK-NEXT: on_freed cuda free block size=0 status=1 | cudaFree at refused.cpp:[[#@LINE+1]]
  int refused = cudaFree(d + 1) != 0;
  // CHECK: on_free cuda free flags=0x20 block size=0 | cudaFreeAsync at
  // CHECK-NEXT: on_freed cuda free flags=0x20 block size=0 status=1 | cudaFreeAsync at
  refused += cudaFreeAsync(d + 1, nullptr) != 0;
  // CHECK: on_freed cuda free block size=0 status=1 | cuMemFree_v2 at
  refused += cuMemFree_v2((CUdeviceptr)(d + 1)) != 0;
  // CHECK: on_freed hip free block size=0 status=1 | hipFree at
  refused += hipFree(d + 1) != 0;
  // CHECK: on_freed acl free block size=0 status=1 | aclrtFree at
  refused += aclrtFree(d + 1) != 0;
  // CHECK: on_freed opencl free block size=0 status=1 | clReleaseMemObject at
  refused += clReleaseMemObject((cl_mem)(d + 1)) != 0;
  // CHECK: on_free mmap free block size=4096 | munmap at
  // CHECK-NEXT: on_freed mmap free block size=4096 status=-1 | munmap at
  refused += munmap(m + 1, 4096) != 0;
  // CHECK: on_freed mmap free block size=4096 status=0 | munmap at
  refused += munmap(m, 4096) != 0;
  // CHECK: on_freed cuda free block size=0 status=0 | cudaFree at
  refused += cudaFree(d) != 0;
  return refused;
}

static int launchesAndCopies(void *to) {
  GUARD;
  const size_t one = 1;
  // CHECK: on_copy cuda copy to=0x100 from=0x100 size=9 stream=0 direction=1 | cudaMemcpy at
  // CHECK-NEXT: on_failed cuda copy 0x100 status=0 | cudaMemcpy at refused.cpp:[[#@LINE+1]]
  int refused = cudaMemcpy(to, to, 9, 1) != 0;
  // CHECK: on_copy cuda copy to=0 from=0x100 size=9 stream=0 direction=1 | cudaMemcpy at
  // CHECK-NEXT: on_failed cuda copy 0 status=1 | cudaMemcpy at
  refused += cudaMemcpy(nullptr, to, 9, 1) != 0;
  // CHECK: on_launch cuda launch null
  // CHECK-NEXT: on_failed cuda launch 0 status=1 | cudaLaunchKernel at
  refused += cudaLaunchKernel(nullptr, dim3{1, 2, 3}, dim3{1, 1, 1}, nullptr, 0, nullptr) != 0;
  // CHECK: on_failed hip set 0 status=1 | hipMemset at
  refused += hipMemset(nullptr, 1, 9) != 0;
  // CHECK: on_failed acl copy flags=0x20 0 status=1 | aclrtMemcpyAsync at
  refused += aclrtMemcpyAsync(nullptr, 9, to, 9, 1, nullptr) != 0;
  // CHECK: on_failed acl launch 0 status=1 | aclrtLaunchKernel at
  refused += aclrtLaunchKernel(nullptr, 1, nullptr, 0, nullptr) != 0;
  // CHECK: on_launch_range opencl launch
  // CHECK-NEXT: on_failed opencl launch 0 status=1 | clEnqueueNDRangeKernel at
  refused += clEnqueueNDRangeKernel(nullptr, nullptr, 1, nullptr, &one, nullptr, 0, nullptr, nullptr) != 0;
  // CHECK: on_failed opencl launch 0 status=1 | clEnqueueTask at
  refused += clEnqueueTask(nullptr, nullptr, 0, nullptr, nullptr) != 0;
  return refused;
}

static void silent(void *mine) {
  GUARD;
  // CHECK-NOT: on_freed
  // CHECK: on_free opencl free {{.*}} | clSVMFree at
  clSVMFree(nullptr, nullptr);
  // CHECK: on_free user free block size=0 | {{.*}}giveBack
  giveBack(mine);
  // CHECK-NOT: on_freed
}

int main() {
  char *d = nullptr;
  cudaMalloc((void **)&d, 64);
  char *m = (char *)mmap(nullptr, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  const int freed = frees(d, m), done = launchesAndCopies((void *)0x100);
  std::printf("%d %d\n", freed, done);
  silent(std::malloc(3));
}
// PLAIN: 7 7
// PLAIN-NOT: {{.}}
