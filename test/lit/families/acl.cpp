// Tests the calls of Ascend CANN: ACL, and the runtime below it. A launch has only a number of blocks, so their shape is unknown.
// RUN: %build_cxx -O0 && %plain | FileCheck --check-prefix=PLAIN %s && %logged | FileCheck %s
// RUN: %build_cxx -O2 && %plain | FileCheck --check-prefix=PLAIN %s && %logged | FileCheck %s
// RUN: %build_cxx -DGUARDED -O0 && %plain | FileCheck --check-prefix=PLAIN %s && %logged | FileCheck %s
// RUN: %build_cxx -DGUARDED -O2 && %plain | FileCheck --check-prefix=PLAIN %s && %logged | FileCheck %s
// RUN: %clangxx -DGUARDED -O0 -S -emit-llvm %s -o - | FileCheck --check-prefix=INVOKE %s
// INVOKE-NOT: call {{.*}} @__msl_gate.{{acl|rt}}
// INVOKE: invoke {{.*}} @__msl_gate.aclrtMalloc(
// INVOKE-NOT: call {{.*}} @__msl_gate.{{acl|rt}}
#include "acl.h"
#include "guard.h"
#include <cstdio>

static void *const kernel = (void *)0x70, *const stream = (void *)0x51, *const other = (void *)0x99;
static void *const to = (void *)0x100, *const from = (void *)0x200;

static void blocks() {
  GUARD;
  float *d;
  // CHECK: on_alloc_out acl alloc block size=64 status=0 | aclrtMalloc at acl.cpp:[[#@LINE+1]] in _ZL6blocksv variable=d type=float
  aclrtMalloc((void **)&d, 64, 0);
  // CHECK: on_free acl free block size=0 | aclrtFree at
  aclrtFree(d);
  // CHECK: on_alloc_out acl alloc block size=65 status=0 | aclrtMallocAlign32 at
  aclrtMallocAlign32((void **)&d, 65, 0);
  aclrtFree(d);
  // CHECK: on_alloc_out acl alloc block size=66 status=0 | aclrtMallocCached at
  aclrtMallocCached((void **)&d, 66, 0);
  aclrtFree(d);
  // CHECK: on_alloc_out acl alloc block size=67 status=0 | aclrtMallocWithCfg at
  aclrtMallocWithCfg((void **)&d, 67, 0, nullptr);
  aclrtFree(d);
  // CHECK: on_alloc_out acl alloc block size=68 status=0 | aclrtMallocHost at
  aclrtMallocHost((void **)&d, 68);
  // CHECK: on_free acl free block size=0 | aclrtFreeHost at
  aclrtFreeHost(d);
  void *seen;
  // CHECK: on_alloc_out acl alloc block size=69 status=0 | aclrtHostRegister at
  aclrtHostRegister(to, 69, 0, &seen);
  // CHECK: on_free acl free block size=0 | aclrtHostUnregister at
  aclrtHostUnregister(to);
  // CHECK: on_alloc_out acl alloc block size=70 status=0 | aclrtHostRegisterV2 at
  aclrtHostRegisterV2(to, 70, 0x10000000);
  aclrtHostUnregister(to);
  // CHECK: on_alloc_out acl alloc block size=71 status=0 | aclrtMallocHostWithCfg at
  aclrtMallocHostWithCfg((void **)&d, 71, nullptr);
  // CHECK: on_free acl free block size=0 | aclrtFreeHostWithDevSync at
  aclrtFreeHostWithDevSync(d);
  // CHECK: on_alloc_out acl alloc block size=72 status=0 | aclrtMallocForTaskScheduler at
  aclrtMallocForTaskScheduler((void **)&d, 72, 0, nullptr);
  // CHECK: on_free acl free block size=0 | aclrtFreeWithDevSync at
  aclrtFreeWithDevSync(d);
  // CHECK: on_alloc_out acl alloc block size=73 status=0 | aclrtMemAllocManaged at
  aclrtMemAllocManaged((void **)&d, 73, 0);
  aclrtFree(d);
  // CHECK: on_alloc_out acl alloc flags=0x20 block size=74 status=0 | aclrtMemPoolMallocAsync at
  aclrtMemPoolMallocAsync((void **)&d, 74, other, stream);
  // CHECK: on_free acl free flags=0x20 block size=0 | aclrtMemPoolFreeAsync at
  aclrtMemPoolFreeAsync(d, stream);
  // A failed call does not change the variable, so the callback gets null.
  void *refused = nullptr;
  // CHECK: on_alloc_out acl alloc null size=666 status=2 | aclrtMalloc at {{.*}} variable=refused
  aclrtMalloc(&refused, 666, 0);
}

static void launches(uint32_t n) {
  GUARD;
  // CHECK: on_launch acl launch block stream=0x51 grid=7,1,1 block=0,0,0 shared=0 | aclrtLaunchKernel at
  aclrtLaunchKernel(kernel, n, other, 8, stream);
  // CHECK: on_launch acl launch block stream=0x51 grid=7,1,1 block=0,0,0 shared=0 | aclrtLaunchKernelV2 at
  aclrtLaunchKernelV2(kernel, n, other, 8, other, stream);
  // CHECK: on_launch acl launch block stream=0x51 grid=7,1,1 block=0,0,0 shared=0 | aclrtLaunchKernelWithConfig at
  aclrtLaunchKernelWithConfig(kernel, n, stream, other, other, other);
  // CHECK: on_launch acl launch block stream=0x51 grid=7,1,1 block=0,0,0 shared=0 | aclrtLaunchKernelWithHostArgs at
  aclrtLaunchKernelWithHostArgs(kernel, n, stream, other, other, 8, other, 1);
  // CHECK: on_launch acl launch block stream=0x51 grid=7,1,1 block=0,0,0 shared=0 | aclrtLaunchKernelWithArgsArray at
  aclrtLaunchKernelWithArgsArray(kernel, n, stream, other, (void **)other);
  // CHECK: on_launch acl launch block stream=0x51 grid=7,1,1 block=0,0,0 shared=0 | rtKernelLaunch at
  rtKernelLaunch(kernel, n, other, 8, other, stream);
  // CHECK: on_launch acl launch block stream=0x51 grid=7,1,1 block=0,0,0 shared=0 | rtKernelLaunchWithFlag at
  rtKernelLaunchWithFlag(kernel, n, other, other, stream, 9);
  // CHECK: on_launch acl launch block stream=0x51 grid=7,1,1 block=0,0,0 shared=0 | rtKernelLaunchWithFlagV2 at
  rtKernelLaunchWithFlagV2(kernel, n, other, other, stream, 9, other);
  // CHECK: on_launch acl launch block stream=0x51 grid=7,1,1 block=0,0,0 shared=0 | rtKernelLaunchWithHandle at
  rtKernelLaunchWithHandle(kernel, 5, n, other, other, stream, other);
  // CHECK: on_launch acl launch block stream=0x51 grid=7,1,1 block=0,0,0 shared=0 | rtKernelLaunchWithHandleV2 at
  rtKernelLaunchWithHandleV2(kernel, 5, n, other, other, stream, other);
  // CHECK: on_launch acl launch block stream=0x51 grid=7,1,1 block=0,0,0 shared=0 | rtVectorCoreKernelLaunch at
  rtVectorCoreKernelLaunch(kernel, n, other, other, stream, 9, other);
  // CHECK: on_launch acl launch block stream=0x51 grid=7,1,1 block=0,0,0 shared=0 | rtVectorCoreKernelLaunchWithHandle at
  rtVectorCoreKernelLaunchWithHandle(kernel, 5, n, other, other, stream, other);
  // CHECK: on_launch acl launch block stream=0x51 grid=7,1,1 block=0,0,0 shared=0 | rtLaunchKernelByFuncHandle at
  rtLaunchKernelByFuncHandle(kernel, n, other, stream);
  // CHECK: on_launch acl launch block stream=0x51 grid=7,1,1 block=0,0,0 shared=0 | rtLaunchKernelByFuncHandleV2 at
  rtLaunchKernelByFuncHandleV2(kernel, n, other, stream, other);
  // CHECK: on_launch acl launch block stream=0x51 grid=7,1,1 block=0,0,0 shared=0 | rtLaunchKernelByFuncHandleV3 at
  rtLaunchKernelByFuncHandleV3(kernel, n, other, stream, other);
  // CHECK: on_launch acl launch block stream=0x51 grid=7,1,1 block=0,0,0 shared=0 | rtsLaunchKernelWithConfig at
  rtsLaunchKernelWithConfig(kernel, n, stream, other, other, other);
  // CHECK: on_launch acl launch block stream=0x51 grid=7,1,1 block=0,0,0 shared=0 | rtsLaunchKernelWithDevArgs at
  rtsLaunchKernelWithDevArgs(kernel, n, stream, other, other, 8, other);
  // CHECK: on_launch acl launch block stream=0x51 grid=7,1,1 block=0,0,0 shared=0 | rtsLaunchKernelWithHostArgs at
  rtsLaunchKernelWithHostArgs(kernel, n, stream, other, other, 8, other, 1);
}

int main(int count, char **) {
  GUARD;
  blocks();
  launches(6 + count);
  // CHECK: on_copy acl copy to=0x100 from=0x200 size=9 stream=0 direction=1 | aclrtMemcpy at
  aclrtMemcpy(to, 90, from, 9, 1);
  // CHECK: on_copy acl copy flags=0x20 to=0x100 from=0x200 size=10 stream=0x51 direction=2 | aclrtMemcpyAsync at
  aclrtMemcpyAsync(to, 90, from, 10, 2, stream);
  // CHECK: on_set acl set to=0x100 value=255 size=11 stream=0 | aclrtMemset at
  aclrtMemset(to, 90, 255, 11);
  // CHECK: on_set acl set flags=0x20 to=0x100 value=3 size=12 stream=0x51 | aclrtMemsetAsync at
  aclrtMemsetAsync(to, 90, 3, 12, stream);
  // CHECK: on_copy acl copy flags=0x20 to=0x100 from=0x200 size=13 stream=0x51 direction=2 | aclrtMemcpyAsyncWithCondition at
  aclrtMemcpyAsyncWithCondition(to, 90, from, 13, 2, stream);
  // CHECK: on_copy acl copy to=0x100 from=0x200 size=14 stream=0 direction=1 | aclrtMemcpyToSymbol at
  aclrtMemcpyToSymbol(to, from, 14, 5, 1);
  // CHECK: on_copy acl copy flags=0x20 to=0x100 from=0x200 size=15 stream=0x51 direction=1 | aclrtMemcpyToSymbolAsync at
  aclrtMemcpyToSymbolAsync(to, from, 15, 5, 1, stream);
  // CHECK: on_copy acl copy to=0x100 from=0x200 size=16 stream=0 direction=2 | aclrtMemcpyFromSymbol at
  aclrtMemcpyFromSymbol(to, 90, from, 16, 5, 2);
  // CHECK: on_copy acl copy flags=0x20 to=0x100 from=0x200 size=17 stream=0x51 direction=2 | aclrtMemcpyFromSymbolAsync at
  aclrtMemcpyFromSymbolAsync(to, 90, from, 17, 5, 2, stream);
  std::puts("done");
}
// PLAIN: done
// PLAIN-NOT: {{.}}
