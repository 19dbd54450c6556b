// Tests the calls of HIP's runtime API and module API.
// RUN: %build_cxx -O0 && %plain | FileCheck --check-prefix=PLAIN %s && %logged | FileCheck %s
// RUN: %build_cxx -O2 && %plain | FileCheck --check-prefix=PLAIN %s && %logged | FileCheck %s
// RUN: %build_cxx -DGUARDED -O0 && %plain | FileCheck --check-prefix=PLAIN %s && %logged | FileCheck %s
// RUN: %build_cxx -DGUARDED -O2 && %plain | FileCheck --check-prefix=PLAIN %s && %logged | FileCheck %s
// RUN: %clangxx -DGUARDED -O0 -S -emit-llvm %s -o - | FileCheck --check-prefix=INVOKE %s
// INVOKE-NOT: call {{.*}} @__msl_gate.hip
// INVOKE: invoke {{.*}} @__msl_gate.hipMalloc(
// INVOKE-NOT: call {{.*}} @__msl_gate.hip
#include "hip.h"
#include "guard.h"
#include <cstdio>

void kernel() {}

static hipStream_t const stream = (hipStream_t)0x51;
static void *const to = (void *)0x100, *const from = (void *)0x200;

static void blocks() {
  GUARD;
  float *d;
  size_t pitch;
  // CHECK: on_alloc_out hip alloc block size=64 status=0 | hipMalloc at hip.cpp:[[#@LINE+1]] in _ZL6blocksv variable=d type=float
  hipMalloc((void **)&d, 64);
  // CHECK: on_free hip free block size=0 | hipFree at
  hipFree(d);
  // CHECK: on_alloc_out hip alloc block size=65 status=0 | hipExtMallocWithFlags at
  hipExtMallocWithFlags((void **)&d, 65, 0);
  hipFree(d);
  // CHECK: on_alloc_out hip alloc block size=96 status=0 | hipMallocPitch at
  hipMallocPitch((void **)&d, &pitch, 32, 3);
  hipFree(d);
  // CHECK: on_alloc_out hip alloc block size=66 status=0 | hipMallocManaged at
  hipMallocManaged((void **)&d, 66, 1);
  hipFree(d);
  // CHECK: on_alloc_out hip alloc flags=0x20 block size=67 status=0 | hipMallocAsync at
  hipMallocAsync((void **)&d, 67, stream);
  // CHECK: on_free hip free flags=0x20 block size=0 | hipFreeAsync at
  hipFreeAsync(d, stream);
  // CHECK: on_alloc_out hip alloc flags=0x20 block size=68 status=0 | hipMallocFromPoolAsync at
  hipMallocFromPoolAsync((void **)&d, 68, nullptr, stream);
  hipFreeAsync(d, stream);
  // CHECK: on_alloc_out hip alloc block size=69 status=0 | hipHostMalloc at
  hipHostMalloc((void **)&d, 69, 0);
  // CHECK: on_free hip free block size=0 | hipHostFree at
  hipHostFree(d);
  // CHECK: on_alloc_out hip alloc block size=68 status=0 | hipExtHostAlloc at
  hipExtHostAlloc((void **)&d, 68, 0);
  hipHostFree(d);
  // CHECK: on_alloc_out hip alloc block size=70 status=0 | hipHostAlloc at
  hipHostAlloc((void **)&d, 70, 0);
  hipHostFree(d);
  // CHECK: on_alloc_out hip alloc block size=71 status=0 | hipMallocHost at
  hipMallocHost((void **)&d, 71);
  // CHECK: on_free hip free block size=0 | hipFreeHost at
  hipFreeHost(d);
  size_t pitch_of_driver;
  // CHECK: on_alloc_out hip alloc block size=99 status=0 | hipMemAllocPitch at
  hipMemAllocPitch((void **)&d, &pitch_of_driver, 33, 3, 4);
  hipFree(d);
  // CHECK: on_alloc_out hip alloc block size=73 status=0 | hipMemAllocHost at
  hipMemAllocHost((void **)&d, 73);
  hipHostFree(d);
  // CHECK: on_alloc_out hip alloc block size=72 status=0 | hipHostRegister at
  hipHostRegister(to, 72, 0);
  // CHECK: on_free hip free block size=0 | hipHostUnregister at
  hipHostUnregister(to);
  // A failed call does not change the variable, so the callback gets null.
  void *refused = nullptr;
  // CHECK: on_alloc_out hip alloc null size=666 status=2 | hipMalloc at {{.*}} variable=refused
  hipMalloc(&refused, 666);
}

static void namedCopies();

int main(int count, char **) {
  GUARD;
  blocks();
  // CHECK: on_launch hip launch block stream=0x51 grid=7,2,3 block=32,4,5 shared=128 | hipLaunchKernel at
  hipLaunchKernel((const void *)kernel, {6 + (unsigned)count, 2, 3}, {32, 4, 5}, nullptr, 128, stream);
  // CHECK: on_launch hip launch block stream=0x51 grid=7,1,1 block=8,1,1 shared=0 | hipLaunchKernel_spt at
  hipLaunchKernel_spt((const void *)kernel, {6 + (unsigned)count, 1, 1}, {8, 1, 1}, nullptr, 0, stream);
  // CHECK: on_launch hip launch block stream=0 grid=0,0,0 block=0,0,0 shared=0 | hipLaunchKernelExC at
  hipLaunchKernelExC(from, (const void *)kernel, nullptr);
  // CHECK: on_copy hip copy to=0x100 from=0x200 size=9 stream=0 direction=1 | hipMemcpy at
  hipMemcpy(to, from, 9, 1);
  // CHECK: on_copy hip copy flags=0x20 to=0x100 from=0x200 size=10 stream=0x51 direction=2 | hipMemcpyAsync at
  hipMemcpyAsync(to, from, 10, 2, stream);
  // CHECK: on_set hip set to=0x100 value=255 size=11 stream=0 | hipMemset at
  hipMemset(to, 255, 11);
  // CHECK: on_set hip set flags=0x20 to=0x100 value=3 size=12 stream=0x51 | hipMemsetAsync at
  hipMemsetAsync(to, 3, 12, stream);
  // CHECK: on_copy hip copy to=0x100 from=0x200 size=13 stream=0x51 direction=1 | hipMemcpyWithStream at
  hipMemcpyWithStream(to, from, 13, 1, stream);
  // A program with a default stream for each thread calls these forms of the same functions.
  // CHECK: on_copy hip copy to=0x100 from=0x200 size=14 stream=0 direction=1 | hipMemcpy_spt at
  hipMemcpy_spt(to, from, 14, 1);
  // CHECK: on_copy hip copy flags=0x20 to=0x100 from=0x200 size=15 stream=0x51 direction=2 | hipMemcpyAsync_spt at
  hipMemcpyAsync_spt(to, from, 15, 2, stream);
  // CHECK: on_set hip set to=0x100 value=255 size=16 stream=0 | hipMemset_spt at
  hipMemset_spt(to, 255, 16);
  // CHECK: on_set hip set flags=0x20 to=0x100 value=3 size=17 stream=0x51 | hipMemsetAsync_spt at
  hipMemsetAsync_spt(to, 3, 17, stream);
  // CHECK: on_launch hip launch block stream=0x51 grid=7,2,3 block=32,4,5 shared=129 | hipLaunchCooperativeKernel at
  hipLaunchCooperativeKernel((const void *)kernel, {6 + (unsigned)count, 2, 3}, {32, 4, 5}, nullptr, 129, stream);
  // CHECK: on_launch hip launch block stream=0x51 grid=7,1,1 block=8,1,1 shared=0 | hipLaunchCooperativeKernel_spt at
  hipLaunchCooperativeKernel_spt((const void *)kernel, {6 + (unsigned)count, 1, 1}, {8, 1, 1}, nullptr, 0, stream);
  // CHECK: on_launch hip launch block stream=0x51 grid=7,2,3 block=32,4,5 shared=64 | hipModuleLaunchKernel at
  hipModuleLaunchKernel((void *)kernel, 6 + (unsigned)count, 2, 3, 32, 4, 5, 64, stream, nullptr, nullptr);
  // CHECK: on_launch hip launch block stream=0x51 grid=7,1,1 block=9,1,1 shared=0 | hipModuleLaunchCooperativeKernel at
  hipModuleLaunchCooperativeKernel((void *)kernel, 6 + (unsigned)count, 1, 1, 9, 1, 1, 0, stream, nullptr);
  // CHECK: on_launch hip launch block stream=0x51 grid=7,2,3 block=32,4,5 shared=131 | hipExtLaunchKernel at
  hipExtLaunchKernel((const void *)kernel, {6 + (unsigned)count, 2, 3}, {32, 4, 5}, nullptr, 131, stream, nullptr,
                     nullptr, 0);
  // The first call launches 7 threads in blocks of 2: 4 blocks. The second call has the block size 0, so it has 0 blocks.
  // CHECK: on_launch hip launch block stream=0x51 grid=4,2,3 block=2,3,1 shared=132 | hipExtModuleLaunchKernel at
  hipExtModuleLaunchKernel((void *)kernel, 6 + (unsigned)count, 6, 3, 2, 3, 1, 132, stream, nullptr, nullptr, nullptr,
                           nullptr, 0);
  // CHECK: on_launch hip launch block stream=0x51 grid=0,6,3 block=0,1,1 shared=133 | hipHccModuleLaunchKernel at
  hipHccModuleLaunchKernel((void *)kernel, 6 + (unsigned)count, 6, 3, 0, 1, 1, 133, stream, nullptr, nullptr, nullptr,
                           nullptr);
  // CHECK: on_launch hip launch block stream=0 grid=0,0,0 block=0,0,0 shared=0 | hipDrvLaunchKernelEx at
  hipDrvLaunchKernelEx(from, (void *)kernel, nullptr, nullptr);
  // CHECK: on_copy hip copy to=0x100 from=0x200 size=18 stream=0 direction=0 | hipMemcpyPeer at
  hipMemcpyPeer(to, 0, from, 1, 18);
  // CHECK: on_copy hip copy flags=0x20 to=0x100 from=0x200 size=19 stream=0x51 direction=0 | hipMemcpyPeerAsync at
  hipMemcpyPeerAsync(to, 0, from, 1, 19, stream);
  // CHECK: on_copy hip copy to=0x100 from=0x200 size=20 stream=0 direction=0 | hipMemcpyHtoD at
  hipMemcpyHtoD(to, from, 20);
  // CHECK: on_copy hip copy flags=0x20 to=0x100 from=0x200 size=21 stream=0x51 direction=0 | hipMemcpyHtoDAsync at
  hipMemcpyHtoDAsync(to, from, 21, stream);
  // CHECK: on_copy hip copy to=0x100 from=0x200 size=22 stream=0 direction=0 | hipMemcpyDtoH at
  hipMemcpyDtoH(to, from, 22);
  // CHECK: on_copy hip copy flags=0x20 to=0x100 from=0x200 size=23 stream=0x51 direction=0 | hipMemcpyDtoHAsync at
  hipMemcpyDtoHAsync(to, from, 23, stream);
  // CHECK: on_copy hip copy to=0x100 from=0x200 size=24 stream=0 direction=0 | hipMemcpyDtoD at
  hipMemcpyDtoD(to, from, 24);
  // CHECK: on_copy hip copy flags=0x20 to=0x100 from=0x200 size=25 stream=0x51 direction=0 | hipMemcpyDtoDAsync at
  hipMemcpyDtoDAsync(to, from, 25, stream);
  // CHECK: on_set hip set to=0x100 value=3 size=26 stream=0 | hipMemsetD8 at
  hipMemsetD8(to, 3, 26);
  // CHECK: on_set hip set flags=0x20 to=0x100 value=3 size=27 stream=0x51 | hipMemsetD8Async at
  hipMemsetD8Async(to, 3, 27, stream);
  namedCopies();
  std::puts("done");
}

// These functions copy from and to arrays and symbols.
static void namedCopies() {
  GUARD;
  hipArray_t const array = (hipArray_t)0x100, other = (hipArray_t)0x200;
  // CHECK: on_copy hip copy to=0x100 from=0x200 size=40 stream=0 direction=2 | hipMemcpyToArray at
  hipMemcpyToArray(array, 5, 5, from, 40, 2);
  // CHECK: on_copy hip copy to=0x100 from=0x200 size=41 stream=0 direction=2 | hipMemcpyFromArray at
  hipMemcpyFromArray(to, other, 5, 5, 41, 2);
  // CHECK: on_copy hip copy to=0x100 from=0x200 size=42 stream=0 direction=2 | hipMemcpyFromArray_spt at
  hipMemcpyFromArray_spt(to, other, 5, 5, 42, 2);
  // CHECK: on_copy hip copy to=0x100 from=0x200 size=43 stream=0 direction=2 | hipMemcpyToSymbol at
  hipMemcpyToSymbol(to, from, 43, 5, 2);
  // CHECK: on_copy hip copy to=0x100 from=0x200 size=44 stream=0 direction=2 | hipMemcpyToSymbol_spt at
  hipMemcpyToSymbol_spt(to, from, 44, 5, 2);
  // CHECK: on_copy hip copy flags=0x20 to=0x100 from=0x200 size=45 stream=0x51 direction=2 | hipMemcpyToSymbolAsync at
  hipMemcpyToSymbolAsync(to, from, 45, 5, 2, stream);
  // CHECK: on_copy hip copy flags=0x20 to=0x100 from=0x200 size=46 stream=0x51 direction=2 | hipMemcpyToSymbolAsync_spt at
  hipMemcpyToSymbolAsync_spt(to, from, 46, 5, 2, stream);
  // CHECK: on_copy hip copy to=0x100 from=0x200 size=47 stream=0 direction=2 | hipMemcpyFromSymbol at
  hipMemcpyFromSymbol(to, from, 47, 5, 2);
  // CHECK: on_copy hip copy to=0x100 from=0x200 size=48 stream=0 direction=2 | hipMemcpyFromSymbol_spt at
  hipMemcpyFromSymbol_spt(to, from, 48, 5, 2);
  // CHECK: on_copy hip copy flags=0x20 to=0x100 from=0x200 size=49 stream=0x51 direction=2 | hipMemcpyFromSymbolAsync at
  hipMemcpyFromSymbolAsync(to, from, 49, 5, 2, stream);
  // CHECK: on_copy hip copy flags=0x20 to=0x100 from=0x200 size=50 stream=0x51 direction=2 | hipMemcpyFromSymbolAsync_spt at
  hipMemcpyFromSymbolAsync_spt(to, from, 50, 5, 2, stream);
  // CHECK: on_copy hip copy to=0x100 from=0x200 size=51 stream=0 direction=0 | hipMemcpyHtoA at
  hipMemcpyHtoA(array, 5, from, 51);
  // CHECK: on_copy hip copy flags=0x20 to=0x100 from=0x200 size=52 stream=0x51 direction=0 | hipMemcpyHtoAAsync at
  hipMemcpyHtoAAsync(array, 5, from, 52, stream);
  // CHECK: on_copy hip copy to=0x100 from=0x200 size=53 stream=0 direction=0 | hipMemcpyAtoH at
  hipMemcpyAtoH(to, other, 5, 53);
  // CHECK: on_copy hip copy flags=0x20 to=0x100 from=0x200 size=54 stream=0x51 direction=0 | hipMemcpyAtoHAsync at
  hipMemcpyAtoHAsync(to, other, 5, 54, stream);
  // CHECK: on_copy hip copy to=0x100 from=0x200 size=55 stream=0 direction=0 | hipMemcpyDtoA at
  hipMemcpyDtoA(array, 5, from, 55);
  // CHECK: on_copy hip copy to=0x100 from=0x200 size=56 stream=0 direction=0 | hipMemcpyAtoD at
  hipMemcpyAtoD(to, other, 5, 56);
  // CHECK: on_copy hip copy to=0x100 from=0x200 size=57 stream=0 direction=0 | hipMemcpyAtoA at
  hipMemcpyAtoA(array, 5, other, 5, 57);
}
// PLAIN: done
// PLAIN-NOT: {{.}}
