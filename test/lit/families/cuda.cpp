// Tests the calls of CUDA's runtime API and driver API. A CUdeviceptr is an integer, but callbacks get it as the address of a block.
// RUN: %build_cxx -O0 && %plain | FileCheck --check-prefix=PLAIN %s && %logged | FileCheck %s
// RUN: %build_cxx -O2 && %plain | FileCheck --check-prefix=PLAIN %s && %logged | FileCheck %s
// RUN: %build_cxx -DGUARDED -O0 && %plain | FileCheck --check-prefix=PLAIN %s && %logged | FileCheck %s
// RUN: %build_cxx -DGUARDED -O2 && %plain | FileCheck --check-prefix=PLAIN %s && %logged | FileCheck %s
// RUN: %clangxx -DGUARDED -O0 -S -emit-llvm %s -o - | FileCheck --check-prefix=INVOKE %s
// INVOKE-NOT: call {{.*}} @__msl_gate.cu
// INVOKE: invoke {{.*}} @__msl_gate.cudaMalloc(
// INVOKE-NOT: call {{.*}} @__msl_gate.cu
#include "cuda.h"
#include "guard.h"
#include <cstdio>

void kernel() {}

static cudaStream_t const stream = (cudaStream_t)0x51;
static void *const to = (void *)0x100, *const from = (void *)0x200;

static void runtimeBlocks() {
  GUARD;
  float *d;
  size_t pitch;
  // CHECK: before cuda alloc | cudaMalloc at
  // CHECK: on_alloc_out cuda alloc block size=64 status=0 | cudaMalloc at cuda.cpp:[[#@LINE+1]] in _ZL13runtimeBlocksv variable=d type=float
  cudaMalloc((void **)&d, 64);
  // CHECK: on_free cuda free block size=0 | cudaFree at
  cudaFree(d);
  // A failed call does not change the variable, so the callback gets null.
  void *refused = nullptr;
  // CHECK: on_alloc_out cuda alloc null size=666 status=2 | cudaMalloc at {{.*}} variable=refused
  cudaMalloc(&refused, 666);
  // CHECK: on_alloc_out cuda alloc block size=96 status=0 | cudaMallocPitch at {{.*}} variable=d type=float
  cudaMallocPitch((void **)&d, &pitch, 32, 3);
  cudaFree(d);
  // CHECK: on_alloc_out cuda alloc block size=65 status=0 | cudaMallocManaged at
  cudaMallocManaged((void **)&d, 65, 1);
  cudaFree(d);
  // CHECK: on_alloc_out cuda alloc flags=0x20 block size=66 status=0 | cudaMallocAsync at
  cudaMallocAsync((void **)&d, 66, stream);
  // CHECK: on_free cuda free flags=0x20 block size=0 | cudaFreeAsync at
  cudaFreeAsync(d, stream);
  // CHECK: on_alloc_out cuda alloc flags=0x20 block size=67 status=0 | cudaMallocAsync_ptsz at
  cudaMallocAsync_ptsz((void **)&d, 67, stream);
  // CHECK: on_free cuda free flags=0x20 block size=0 | cudaFreeAsync_ptsz at
  cudaFreeAsync_ptsz(d, stream);
  // CHECK: on_alloc_out cuda alloc flags=0x20 block size=68 status=0 | cudaMallocFromPoolAsync at
  cudaMallocFromPoolAsync((void **)&d, 68, nullptr, stream);
  cudaFreeAsync(d, stream);
  // CHECK: on_alloc_out cuda alloc flags=0x20 block size=69 status=0 | cudaMallocFromPoolAsync_ptsz at
  cudaMallocFromPoolAsync_ptsz((void **)&d, 69, nullptr, stream);
  cudaFreeAsync_ptsz(d, stream);
  // CHECK: on_alloc_out cuda alloc block size=70 status=0 | cudaMallocHost at
  cudaMallocHost((void **)&d, 70);
  // CHECK: on_free cuda free block size=0 | cudaFreeHost at
  cudaFreeHost(d);
  // CHECK: on_alloc_out cuda alloc block size=71 status=0 | cudaHostAlloc at
  cudaHostAlloc((void **)&d, 71, 0);
  cudaFreeHost(d);
}

static void driverBlocks() {
  GUARD;
  CUdeviceptr d;
  // CHECK: on_alloc_out cuda alloc block size=72 status=0 | cuMemAlloc_v2 at cuda.cpp:[[#@LINE+1]] in _ZL12driverBlocksv variable=d
  cuMemAlloc_v2(&d, 72);
  // CHECK: on_free cuda free block size=0 | cuMemFree_v2 at
  cuMemFree_v2(d);
  size_t pitch;
  // CHECK: on_alloc_out cuda alloc block size=96 status=0 | cuMemAllocPitch_v2 at {{.*}} variable=d
  cuMemAllocPitch_v2(&d, &pitch, 32, 3, 4);
  cuMemFree_v2(d);
  // CHECK: on_alloc_out cuda alloc block size=73 status=0 | cuMemAllocManaged at
  cuMemAllocManaged(&d, 73, 1);
  cuMemFree_v2(d);
  // CHECK: on_alloc_out cuda alloc flags=0x20 block size=74 status=0 | cuMemAllocAsync at
  cuMemAllocAsync(&d, 74, stream);
  // CHECK: on_free cuda free flags=0x20 block size=0 | cuMemFreeAsync at
  cuMemFreeAsync(d, stream);
  // CHECK: on_alloc_out cuda alloc flags=0x20 block size=79 status=0 | cuMemAllocAsync_ptsz at
  cuMemAllocAsync_ptsz(&d, 79, stream);
  // CHECK: on_free cuda free flags=0x20 block size=0 | cuMemFreeAsync_ptsz at
  cuMemFreeAsync_ptsz(d, stream);
  // CHECK: on_alloc_out cuda alloc flags=0x20 block size=80 status=0 | cuMemAllocFromPoolAsync at
  cuMemAllocFromPoolAsync(&d, 80, nullptr, stream);
  cuMemFreeAsync(d, stream);
  // CHECK: on_alloc_out cuda alloc flags=0x20 block size=81 status=0 | cuMemAllocFromPoolAsync_ptsz at
  cuMemAllocFromPoolAsync_ptsz(&d, 81, nullptr, stream);
  cuMemFreeAsync_ptsz(d, stream);
  void *h;
  // CHECK: on_alloc_out cuda alloc block size=75 status=0 | cuMemAllocHost_v2 at
  cuMemAllocHost_v2(&h, 75);
  // CHECK: on_free cuda free block size=0 | cuMemFreeHost at
  cuMemFreeHost(h);
  // CHECK: on_alloc_out cuda alloc block size=76 status=0 | cuMemHostAlloc at
  cuMemHostAlloc(&h, 76, 0);
  cuMemFreeHost(h);
}

// The program itself allocated this memory. CUDA only registers it.
static void registered() {
  GUARD;
  // CHECK: before cuda alloc | cudaHostRegister at
  // CHECK: on_alloc_out cuda alloc block size=77 status=0 | cudaHostRegister at cuda.cpp:[[#@LINE+1]] in _ZL10registeredv{{( <.*)?$}}
  cudaHostRegister(to, 77, 0);
  // CHECK: on_free cuda free block size=0 | cudaHostUnregister at
  // CHECK-NEXT: on_freed cuda free block size=0 status=0 | cudaHostUnregister at
  cudaHostUnregister(to);
  // CHECK: on_alloc_out cuda alloc block size=666 status=2 | cudaHostRegister at
  cudaHostRegister(to, 666, 0);
  // CHECK: on_alloc_out cuda alloc block size=78 status=0 | cuMemHostRegister_v2 at
  cuMemHostRegister_v2(to, 78, 0);
  // CHECK: on_free cuda free block size=0 | cuMemHostUnregister at
  cuMemHostUnregister(to);
  // CHECK: on_alloc_out cuda alloc null size=82 status=1 | cudaHostRegister at
  cudaHostRegister(nullptr, 82, 0);
}

static void launches(unsigned x) {
  GUARD;
  // CHECK: on_launch cuda launch block stream=0x51 grid=7,2,3 block=32,4,5 shared=128 | cudaLaunchKernel at cuda.cpp:[[#@LINE+1]] in _ZL8launchesj
  cudaLaunchKernel((const void *)kernel, dim3{x, 2, 3}, dim3{32, 4, 5}, nullptr, 128, stream);
  // CHECK: on_launch cuda launch block stream=0x51 grid=7,1,1 block=8,1,1 shared=0 | cudaLaunchKernel_ptsz at
  cudaLaunchKernel_ptsz((const void *)kernel, dim3{x, 1, 1}, dim3{8, 1, 1}, nullptr, 0, stream);
  // CHECK: on_launch cuda launch block stream=0 grid=7,1,1 block=8,1,1 shared=0 | cudaLaunchCooperativeKernel at
  cudaLaunchCooperativeKernel((const void *)kernel, dim3{x, 1, 1}, dim3{8, 1, 1}, nullptr, 0, nullptr);
  // CHECK: on_launch cuda launch block stream=0x51 grid=7,1,1 block=9,1,1 shared=0 | cudaLaunchCooperativeKernel_ptsz at
  cudaLaunchCooperativeKernel_ptsz((const void *)kernel, dim3{x, 1, 1}, dim3{9, 1, 1}, nullptr, 0, stream);
  // CHECK: on_launch cuda launch block stream=0x51 grid=7,2,3 block=32,4,5 shared=64 | cuLaunchKernel at
  cuLaunchKernel((CUfunction)kernel, x, 2, 3, 32, 4, 5, 64, stream, nullptr, nullptr);
  // Only hooks can read the dimensions in the launch configuration, so the callback gets zeros.
  // CHECK: on_launch cuda launch block stream=0 grid=0,0,0 block=0,0,0 shared=0 | cuLaunchKernelEx at
  cuLaunchKernelEx(from, (CUfunction)kernel, nullptr, nullptr);
  // CHECK: on_launch cuda launch block stream=0 grid=0,0,0 block=0,0,0 shared=0 | cudaLaunchKernelExC at
  cudaLaunchKernelExC(from, (const void *)kernel, nullptr);
  // CHECK: on_launch cuda launch block stream=0 grid=0,0,0 block=0,0,0 shared=0 | cudaLaunchKernelExC_ptsz at
  cudaLaunchKernelExC_ptsz(from, (const void *)kernel, nullptr);
  // CHECK: on_launch cuda launch block stream=0x51 grid=7,1,1 block=9,1,1 shared=0 | cuLaunchCooperativeKernel at
  cuLaunchCooperativeKernel((CUfunction)kernel, x, 1, 1, 9, 1, 1, 0, stream, nullptr);
  // CHECK: on_launch cuda launch block stream=0x51 grid=7,2,3 block=32,4,5 shared=65 | cuLaunchKernel_ptsz at
  cuLaunchKernel_ptsz((CUfunction)kernel, x, 2, 3, 32, 4, 5, 65, stream, nullptr, nullptr);
  // CHECK: on_launch cuda launch block stream=0 grid=0,0,0 block=0,0,0 shared=0 | cuLaunchKernelEx_ptsz at
  cuLaunchKernelEx_ptsz(from, (CUfunction)kernel, nullptr, nullptr);
  // CHECK: on_launch cuda launch block stream=0x51 grid=7,1,1 block=9,1,1 shared=0 | cuLaunchCooperativeKernel_ptsz at
  cuLaunchCooperativeKernel_ptsz((CUfunction)kernel, x, 1, 1, 9, 1, 1, 0, stream, nullptr);
}

static void copies() {
  GUARD;
  // CHECK: on_copy cuda copy to=0x100 from=0x200 size=9 stream=0 direction=1 | cudaMemcpy at
  cudaMemcpy(to, from, 9, 1);
  // CHECK: on_copy cuda copy flags=0x20 to=0x100 from=0x200 size=10 stream=0x51 direction=2 | cudaMemcpyAsync at
  cudaMemcpyAsync(to, from, 10, 2, stream);
  // CHECK: on_set cuda set to=0x100 value=255 size=11 stream=0 | cudaMemset at
  cudaMemset(to, 255, 11);
  // CHECK: on_set cuda set flags=0x20 to=0x100 value=3 size=12 stream=0x51 | cudaMemsetAsync at
  cudaMemsetAsync(to, 3, 12, stream);
  // CHECK: on_copy cuda copy to=0x100 from=0x200 size=41 stream=0 direction=0 | cudaMemcpyPeer at
  cudaMemcpyPeer(to, 0, from, 1, 41);
  // CHECK: on_copy cuda copy flags=0x20 to=0x100 from=0x200 size=42 stream=0x51 direction=0 | cudaMemcpyPeerAsync at
  cudaMemcpyPeerAsync(to, 0, from, 1, 42, stream);
}

// With a default stream for each thread, CUDA's headers rename the functions to names with _ptds or _ptsz.
static void copiesPerThread() {
  GUARD;
  // CHECK: on_copy cuda copy to=0x100 from=0x200 size=13 stream=0 direction=1 | cudaMemcpy_ptds at
  cudaMemcpy_ptds(to, from, 13, 1);
  // CHECK: on_copy cuda copy flags=0x20 to=0x100 from=0x200 size=14 stream=0x51 direction=2 | cudaMemcpyAsync_ptsz at
  cudaMemcpyAsync_ptsz(to, from, 14, 2, stream);
  // CHECK: on_set cuda set to=0x100 value=255 size=15 stream=0 | cudaMemset_ptds at
  cudaMemset_ptds(to, 255, 15);
  // CHECK: on_set cuda set flags=0x20 to=0x100 value=3 size=16 stream=0x51 | cudaMemsetAsync_ptsz at
  cudaMemsetAsync_ptsz(to, 3, 16, stream);
}

static void driverCopies() {
  GUARD;
  const CUdeviceptr here = 0x100, there = 0x200;
  // CHECK: on_copy cuda copy to=0x100 from=0x200 size=17 stream=0 direction=0 | cuMemcpyHtoD_v2 at
  cuMemcpyHtoD_v2(here, from, 17);
  // CHECK: on_copy cuda copy to=0x100 from=0x200 size=18 stream=0 direction=0 | cuMemcpyDtoH_v2 at
  cuMemcpyDtoH_v2(to, there, 18);
  // CHECK: on_copy cuda copy to=0x100 from=0x200 size=19 stream=0 direction=0 | cuMemcpyDtoD_v2 at
  cuMemcpyDtoD_v2(here, there, 19);
  // CHECK: on_copy cuda copy flags=0x20 to=0x100 from=0x200 size=20 stream=0x51 direction=0 | cuMemcpyHtoDAsync_v2 at
  cuMemcpyHtoDAsync_v2(here, from, 20, stream);
  // CHECK: on_copy cuda copy flags=0x20 to=0x100 from=0x200 size=21 stream=0x51 direction=0 | cuMemcpyDtoHAsync_v2 at
  cuMemcpyDtoHAsync_v2(to, there, 21, stream);
  // CHECK: on_copy cuda copy flags=0x20 to=0x100 from=0x200 size=22 stream=0x51 direction=0 | cuMemcpyDtoDAsync_v2 at
  cuMemcpyDtoDAsync_v2(here, there, 22, stream);
  // CHECK: on_set cuda set to=0x100 value=255 size=23 stream=0 | cuMemsetD8_v2 at
  cuMemsetD8_v2(here, 255, 23);
  // CHECK: on_set cuda set flags=0x20 to=0x100 value=3 size=24 stream=0x51 | cuMemsetD8Async at
  cuMemsetD8Async(here, 3, 24, stream);
}

static void moreDriverCopies() {
  GUARD;
  const CUdeviceptr here = 0x100, there = 0x200;
  // CHECK: on_copy cuda copy to=0x100 from=0x200 size=43 stream=0 direction=0 | cuMemcpy at
  cuMemcpy(here, there, 43);
  // CHECK: on_copy cuda copy to=0x100 from=0x200 size=44 stream=0 direction=0 | cuMemcpy_ptds at
  cuMemcpy_ptds(here, there, 44);
  // CHECK: on_copy cuda copy flags=0x20 to=0x100 from=0x200 size=45 stream=0x51 direction=0 | cuMemcpyAsync at
  cuMemcpyAsync(here, there, 45, stream);
  // CHECK: on_copy cuda copy flags=0x20 to=0x100 from=0x200 size=46 stream=0x51 direction=0 | cuMemcpyAsync_ptsz at
  cuMemcpyAsync_ptsz(here, there, 46, stream);
  // CHECK: on_copy cuda copy to=0x100 from=0x200 size=47 stream=0 direction=0 | cuMemcpyPeer at
  cuMemcpyPeer(here, nullptr, there, nullptr, 47);
  // CHECK: on_copy cuda copy to=0x100 from=0x200 size=48 stream=0 direction=0 | cuMemcpyPeer_ptds at
  cuMemcpyPeer_ptds(here, nullptr, there, nullptr, 48);
  // CHECK: on_copy cuda copy flags=0x20 to=0x100 from=0x200 size=49 stream=0x51 direction=0 | cuMemcpyPeerAsync at
  cuMemcpyPeerAsync(here, nullptr, there, nullptr, 49, stream);
  // CHECK: on_copy cuda copy flags=0x20 to=0x100 from=0x200 size=50 stream=0x51 direction=0 | cuMemcpyPeerAsync_ptsz at
  cuMemcpyPeerAsync_ptsz(here, nullptr, there, nullptr, 50, stream);
  // CHECK: on_copy cuda copy to=0x100 from=0x200 size=51 stream=0 direction=0 | cuMemcpyHtoD_v2_ptds at
  cuMemcpyHtoD_v2_ptds(here, from, 51);
  // CHECK: on_copy cuda copy flags=0x20 to=0x100 from=0x200 size=52 stream=0x51 direction=0 | cuMemcpyHtoDAsync_v2_ptsz at
  cuMemcpyHtoDAsync_v2_ptsz(here, from, 52, stream);
  // CHECK: on_copy cuda copy to=0x100 from=0x200 size=53 stream=0 direction=0 | cuMemcpyDtoH_v2_ptds at
  cuMemcpyDtoH_v2_ptds(to, there, 53);
  // CHECK: on_copy cuda copy flags=0x20 to=0x100 from=0x200 size=54 stream=0x51 direction=0 | cuMemcpyDtoHAsync_v2_ptsz at
  cuMemcpyDtoHAsync_v2_ptsz(to, there, 54, stream);
  // CHECK: on_copy cuda copy to=0x100 from=0x200 size=55 stream=0 direction=0 | cuMemcpyDtoD_v2_ptds at
  cuMemcpyDtoD_v2_ptds(here, there, 55);
  // CHECK: on_copy cuda copy flags=0x20 to=0x100 from=0x200 size=56 stream=0x51 direction=0 | cuMemcpyDtoDAsync_v2_ptsz at
  cuMemcpyDtoDAsync_v2_ptsz(here, there, 56, stream);
  // CHECK: on_set cuda set to=0x100 value=3 size=57 stream=0 | cuMemsetD8_v2_ptds at
  cuMemsetD8_v2_ptds(here, 3, 57);
  // CHECK: on_set cuda set flags=0x20 to=0x100 value=3 size=58 stream=0x51 | cuMemsetD8Async_ptsz at
  cuMemsetD8Async_ptsz(here, 3, 58, stream);
}

// These functions copy from and to arrays and symbols.
static void namedCopies() {
  GUARD;
  cudaArray_t const array = (cudaArray_t)0x100, other = (cudaArray_t)0x200;
  const CUdeviceptr here = 0x100, there = 0x200;
  // CHECK: on_copy cuda copy to=0x100 from=0x200 size=70 stream=0 direction=2 | cudaMemcpyToArray at
  cudaMemcpyToArray(array, 5, 5, from, 70, 2);
  // CHECK: on_copy cuda copy to=0x100 from=0x200 size=71 stream=0 direction=2 | cudaMemcpyToArray_ptds at
  cudaMemcpyToArray_ptds(array, 5, 5, from, 71, 2);
  // CHECK: on_copy cuda copy flags=0x20 to=0x100 from=0x200 size=72 stream=0x51 direction=2 | cudaMemcpyToArrayAsync at
  cudaMemcpyToArrayAsync(array, 5, 5, from, 72, 2, stream);
  // CHECK: on_copy cuda copy flags=0x20 to=0x100 from=0x200 size=73 stream=0x51 direction=2 | cudaMemcpyToArrayAsync_ptsz at
  cudaMemcpyToArrayAsync_ptsz(array, 5, 5, from, 73, 2, stream);
  // CHECK: on_copy cuda copy to=0x100 from=0x200 size=74 stream=0 direction=2 | cudaMemcpyFromArray at
  cudaMemcpyFromArray(to, other, 5, 5, 74, 2);
  // CHECK: on_copy cuda copy to=0x100 from=0x200 size=75 stream=0 direction=2 | cudaMemcpyFromArray_ptds at
  cudaMemcpyFromArray_ptds(to, other, 5, 5, 75, 2);
  // CHECK: on_copy cuda copy flags=0x20 to=0x100 from=0x200 size=76 stream=0x51 direction=2 | cudaMemcpyFromArrayAsync at
  cudaMemcpyFromArrayAsync(to, other, 5, 5, 76, 2, stream);
  // CHECK: on_copy cuda copy flags=0x20 to=0x100 from=0x200 size=77 stream=0x51 direction=2 | cudaMemcpyFromArrayAsync_ptsz at
  cudaMemcpyFromArrayAsync_ptsz(to, other, 5, 5, 77, 2, stream);
  // CHECK: on_copy cuda copy to=0x100 from=0x200 size=78 stream=0 direction=2 | cudaMemcpyArrayToArray at
  cudaMemcpyArrayToArray(array, 5, 5, other, 5, 5, 78, 2);
  // CHECK: on_copy cuda copy to=0x100 from=0x200 size=79 stream=0 direction=2 | cudaMemcpyArrayToArray_ptds at
  cudaMemcpyArrayToArray_ptds(array, 5, 5, other, 5, 5, 79, 2);
  // CHECK: on_copy cuda copy to=0x100 from=0x200 size=80 stream=0 direction=2 | cudaMemcpyToSymbol at
  cudaMemcpyToSymbol(to, from, 80, 5, 2);
  // CHECK: on_copy cuda copy to=0x100 from=0x200 size=81 stream=0 direction=2 | cudaMemcpyToSymbol_ptds at
  cudaMemcpyToSymbol_ptds(to, from, 81, 5, 2);
  // CHECK: on_copy cuda copy flags=0x20 to=0x100 from=0x200 size=82 stream=0x51 direction=2 | cudaMemcpyToSymbolAsync at
  cudaMemcpyToSymbolAsync(to, from, 82, 5, 2, stream);
  // CHECK: on_copy cuda copy flags=0x20 to=0x100 from=0x200 size=83 stream=0x51 direction=2 | cudaMemcpyToSymbolAsync_ptsz at
  cudaMemcpyToSymbolAsync_ptsz(to, from, 83, 5, 2, stream);
  // CHECK: on_copy cuda copy to=0x100 from=0x200 size=84 stream=0 direction=2 | cudaMemcpyFromSymbol at
  cudaMemcpyFromSymbol(to, from, 84, 5, 2);
  // CHECK: on_copy cuda copy to=0x100 from=0x200 size=85 stream=0 direction=2 | cudaMemcpyFromSymbol_ptds at
  cudaMemcpyFromSymbol_ptds(to, from, 85, 5, 2);
  // CHECK: on_copy cuda copy flags=0x20 to=0x100 from=0x200 size=86 stream=0x51 direction=2 | cudaMemcpyFromSymbolAsync at
  cudaMemcpyFromSymbolAsync(to, from, 86, 5, 2, stream);
  // CHECK: on_copy cuda copy flags=0x20 to=0x100 from=0x200 size=87 stream=0x51 direction=2 | cudaMemcpyFromSymbolAsync_ptsz at
  cudaMemcpyFromSymbolAsync_ptsz(to, from, 87, 5, 2, stream);
  // CHECK: on_copy cuda copy to=0x100 from=0x200 size=88 stream=0 direction=0 | cuMemcpyHtoA_v2 at
  cuMemcpyHtoA_v2(array, 5, from, 88);
  // CHECK: on_copy cuda copy to=0x100 from=0x200 size=89 stream=0 direction=0 | cuMemcpyHtoA_v2_ptds at
  cuMemcpyHtoA_v2_ptds(array, 5, from, 89);
  // CHECK: on_copy cuda copy flags=0x20 to=0x100 from=0x200 size=90 stream=0x51 direction=0 | cuMemcpyHtoAAsync_v2 at
  cuMemcpyHtoAAsync_v2(array, 5, from, 90, stream);
  // CHECK: on_copy cuda copy flags=0x20 to=0x100 from=0x200 size=91 stream=0x51 direction=0 | cuMemcpyHtoAAsync_v2_ptsz at
  cuMemcpyHtoAAsync_v2_ptsz(array, 5, from, 91, stream);
  // CHECK: on_copy cuda copy to=0x100 from=0x200 size=92 stream=0 direction=0 | cuMemcpyAtoH_v2 at
  cuMemcpyAtoH_v2(to, other, 5, 92);
  // CHECK: on_copy cuda copy to=0x100 from=0x200 size=93 stream=0 direction=0 | cuMemcpyAtoH_v2_ptds at
  cuMemcpyAtoH_v2_ptds(to, other, 5, 93);
  // CHECK: on_copy cuda copy flags=0x20 to=0x100 from=0x200 size=94 stream=0x51 direction=0 | cuMemcpyAtoHAsync_v2 at
  cuMemcpyAtoHAsync_v2(to, other, 5, 94, stream);
  // CHECK: on_copy cuda copy flags=0x20 to=0x100 from=0x200 size=95 stream=0x51 direction=0 | cuMemcpyAtoHAsync_v2_ptsz at
  cuMemcpyAtoHAsync_v2_ptsz(to, other, 5, 95, stream);
  // CHECK: on_copy cuda copy to=0x100 from=0x200 size=96 stream=0 direction=0 | cuMemcpyDtoA_v2 at
  cuMemcpyDtoA_v2(array, 5, there, 96);
  // CHECK: on_copy cuda copy to=0x100 from=0x200 size=97 stream=0 direction=0 | cuMemcpyDtoA_v2_ptds at
  cuMemcpyDtoA_v2_ptds(array, 5, there, 97);
  // CHECK: on_copy cuda copy to=0x100 from=0x200 size=98 stream=0 direction=0 | cuMemcpyAtoD_v2 at
  cuMemcpyAtoD_v2(here, other, 5, 98);
  // CHECK: on_copy cuda copy to=0x100 from=0x200 size=99 stream=0 direction=0 | cuMemcpyAtoD_v2_ptds at
  cuMemcpyAtoD_v2_ptds(here, other, 5, 99);
  // CHECK: on_copy cuda copy to=0x100 from=0x200 size=100 stream=0 direction=0 | cuMemcpyAtoA_v2 at
  cuMemcpyAtoA_v2(array, 5, other, 5, 100);
  // CHECK: on_copy cuda copy to=0x100 from=0x200 size=101 stream=0 direction=0 | cuMemcpyAtoA_v2_ptds at
  cuMemcpyAtoA_v2_ptds(array, 5, other, 5, 101);
}

int main(int count, char **) {
  runtimeBlocks();
  driverBlocks();
  registered();
  launches(6 + count);
  copies();
  copiesPerThread();
  driverCopies();
  moreDriverCopies();
  namedCopies();
  std::puts("done");
}
// PLAIN: done
// PLAIN-NOT: {{.}}
