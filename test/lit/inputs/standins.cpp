// Stand-ins for the functions of closed drivers that the tests' programs call. They are not
// instrumented. An allocator allocates host memory and returns 0. For kRefused bytes it
// returns 2, like a driver without memory. A free of an unaligned address, and some launches
// and copies with a null pointer, return 1. All other functions do nothing and return 0.
#include "acl.h"
#include "cuda.h"
#include "hip.h"
#include "opencl.h"

#include <cstddef>
#include <cstdlib>

namespace {

constexpr size_t kRefused = 666;
constexpr int kOutOfMemory = 2, kNoBlock = 1;

template <typename Block> int allocate(Block *block, size_t size) {
  if (size == kRefused)
    return kOutOfMemory;
  *block = (Block)std::calloc(1, size);
  return 0;
}

template <typename Block> int release(Block block) {
  if ((size_t)block % alignof(std::max_align_t) != 0)
    return kNoBlock;
  std::free((void *)block);
  return 0;
}

int statusOf(const void *handle) { return handle ? 0 : kNoBlock; }

int lock(const void *block, size_t size) { return size == kRefused ? kOutOfMemory : statusOf(block); }

} // namespace

extern "C" {

// glibc 2.26 removed cfree, but old programs may define it.
void cfree(void *block) { std::free(block); }

// cuda
cudaError_t cudaMalloc(void **block, size_t size) { return allocate(block, size); }
cudaError_t cudaMallocPitch(void **block, size_t *pitch, size_t width, size_t height) {
  *pitch = width;
  return allocate(block, width * height);
}
cudaError_t cudaMallocManaged(void **block, size_t size, unsigned) { return allocate(block, size); }
cudaError_t cudaMallocAsync(void **block, size_t size, cudaStream_t) { return allocate(block, size); }
cudaError_t cudaMallocAsync_ptsz(void **block, size_t size, cudaStream_t) { return allocate(block, size); }
cudaError_t cudaMallocFromPoolAsync(void **block, size_t size, cudaMemPool_t, cudaStream_t) {
  return allocate(block, size);
}
cudaError_t cudaMallocFromPoolAsync_ptsz(void **block, size_t size, cudaMemPool_t, cudaStream_t) {
  return allocate(block, size);
}
cudaError_t cudaMallocHost(void **block, size_t size) { return allocate(block, size); }
cudaError_t cudaHostAlloc(void **block, size_t size, unsigned) { return allocate(block, size); }
cudaError_t cudaFree(void *block) { return release(block); }
cudaError_t cudaFreeAsync(void *block, cudaStream_t) { return release(block); }
cudaError_t cudaFreeAsync_ptsz(void *block, cudaStream_t) { return release(block); }
cudaError_t cudaFreeHost(void *block) { return release(block); }
CUresult cuMemAlloc_v2(CUdeviceptr *block, size_t size) { return allocate(block, size); }
CUresult cuMemAllocManaged(CUdeviceptr *block, size_t size, unsigned) { return allocate(block, size); }
CUresult cuMemAllocAsync(CUdeviceptr *block, size_t size, cudaStream_t) { return allocate(block, size); }
CUresult cuMemAllocPitch_v2(CUdeviceptr *block, size_t *pitch, size_t width, size_t height, unsigned) {
  *pitch = width;
  return allocate(block, width * height);
}
CUresult cuMemAllocAsync_ptsz(CUdeviceptr *block, size_t size, cudaStream_t) { return allocate(block, size); }
CUresult cuMemAllocFromPoolAsync(CUdeviceptr *block, size_t size, cudaMemPool_t, cudaStream_t) {
  return allocate(block, size);
}
CUresult cuMemAllocFromPoolAsync_ptsz(CUdeviceptr *block, size_t size, cudaMemPool_t, cudaStream_t) {
  return allocate(block, size);
}
CUresult cuMemFreeAsync_ptsz(CUdeviceptr block, cudaStream_t) { return release(block); }
CUresult cuMemAllocHost_v2(void **block, size_t size) { return allocate(block, size); }
CUresult cuMemHostAlloc(void **block, size_t size, unsigned) { return allocate(block, size); }
CUresult cuMemFree_v2(CUdeviceptr block) { return release(block); }
CUresult cuMemFreeAsync(CUdeviceptr block, cudaStream_t) { return release(block); }
CUresult cuMemFreeHost(void *block) { return release(block); }
cudaError_t cudaHostRegister(void *block, size_t size, unsigned) { return lock(block, size); }
cudaError_t cudaHostUnregister(void *block) { return statusOf(block); }
CUresult cuMemHostRegister_v2(void *block, size_t size, unsigned) { return lock(block, size); }
CUresult cuMemHostUnregister(void *block) { return statusOf(block); }
cudaError_t cudaLaunchKernel(const void *kernel, dim3, dim3, void **, size_t, cudaStream_t) { return statusOf(kernel); }
cudaError_t cudaLaunchKernel_ptsz(const void *, dim3, dim3, void **, size_t, cudaStream_t) { return 0; }
cudaError_t cudaLaunchCooperativeKernel(const void *, dim3, dim3, void **, size_t, cudaStream_t) { return 0; }
CUresult cuLaunchKernel(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, cudaStream_t,
                        void **, void **) {
  return 0;
}
CUresult cuLaunchKernel_ptsz(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                             cudaStream_t, void **, void **) {
  return 0;
}
CUresult cuLaunchKernelEx_ptsz(const void *, CUfunction, void **, void **) { return 0; }
CUresult cuLaunchCooperativeKernel_ptsz(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                                        unsigned, cudaStream_t, void **) {
  return 0;
}
CUresult cuLaunchKernelEx(const void *, CUfunction, void **, void **) { return 0; }
cudaError_t cudaLaunchKernelExC(const void *, const void *, void **) { return 0; }
cudaError_t cudaLaunchKernelExC_ptsz(const void *, const void *, void **) { return 0; }
CUresult cuLaunchCooperativeKernel(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                                   cudaStream_t, void **) {
  return 0;
}
cudaError_t cudaLaunchCooperativeKernel_ptsz(const void *, dim3, dim3, void **, size_t, cudaStream_t) { return 0; }
cudaError_t cudaMemcpy_ptds(void *, const void *, size_t, int) { return 0; }
cudaError_t cudaMemcpyAsync_ptsz(void *, const void *, size_t, int, cudaStream_t) { return 0; }
cudaError_t cudaMemset_ptds(void *, int, size_t) { return 0; }
cudaError_t cudaMemsetAsync_ptsz(void *, int, size_t, cudaStream_t) { return 0; }
CUresult cuMemcpyHtoD_v2(CUdeviceptr, const void *, size_t) { return 0; }
CUresult cuMemcpyDtoH_v2(void *, CUdeviceptr, size_t) { return 0; }
CUresult cuMemcpyDtoD_v2(CUdeviceptr, CUdeviceptr, size_t) { return 0; }
CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr, const void *, size_t, cudaStream_t) { return 0; }
CUresult cuMemcpyDtoHAsync_v2(void *, CUdeviceptr, size_t, cudaStream_t) { return 0; }
CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr, CUdeviceptr, size_t, cudaStream_t) { return 0; }
CUresult cuMemsetD8_v2(CUdeviceptr, unsigned char, size_t) { return 0; }
CUresult cuMemsetD8Async(CUdeviceptr, unsigned char, size_t, cudaStream_t) { return 0; }
cudaError_t cudaMemcpyToArray(cudaArray_t, size_t, size_t, const void *, size_t, int) { return 0; }
cudaError_t cudaMemcpyToArray_ptds(cudaArray_t, size_t, size_t, const void *, size_t, int) { return 0; }
cudaError_t cudaMemcpyToArrayAsync(cudaArray_t, size_t, size_t, const void *, size_t, int, cudaStream_t) { return 0; }
cudaError_t cudaMemcpyToArrayAsync_ptsz(cudaArray_t, size_t, size_t, const void *, size_t, int, cudaStream_t) {
  return 0;
}
cudaError_t cudaMemcpyFromArray(void *, cudaArray_const_t, size_t, size_t, size_t, int) { return 0; }
cudaError_t cudaMemcpyFromArray_ptds(void *, cudaArray_const_t, size_t, size_t, size_t, int) { return 0; }
cudaError_t cudaMemcpyFromArrayAsync(void *, cudaArray_const_t, size_t, size_t, size_t, int, cudaStream_t) { return 0; }
cudaError_t cudaMemcpyFromArrayAsync_ptsz(void *, cudaArray_const_t, size_t, size_t, size_t, int, cudaStream_t) {
  return 0;
}
cudaError_t cudaMemcpyArrayToArray(cudaArray_t, size_t, size_t, cudaArray_const_t, size_t, size_t, size_t, int) {
  return 0;
}
cudaError_t cudaMemcpyArrayToArray_ptds(cudaArray_t, size_t, size_t, cudaArray_const_t, size_t, size_t, size_t, int) {
  return 0;
}
cudaError_t cudaMemcpyToSymbol(const void *, const void *, size_t, size_t, int) { return 0; }
cudaError_t cudaMemcpyToSymbol_ptds(const void *, const void *, size_t, size_t, int) { return 0; }
cudaError_t cudaMemcpyToSymbolAsync(const void *, const void *, size_t, size_t, int, cudaStream_t) { return 0; }
cudaError_t cudaMemcpyToSymbolAsync_ptsz(const void *, const void *, size_t, size_t, int, cudaStream_t) { return 0; }
cudaError_t cudaMemcpyFromSymbol(void *, const void *, size_t, size_t, int) { return 0; }
cudaError_t cudaMemcpyFromSymbol_ptds(void *, const void *, size_t, size_t, int) { return 0; }
cudaError_t cudaMemcpyFromSymbolAsync(void *, const void *, size_t, size_t, int, cudaStream_t) { return 0; }
cudaError_t cudaMemcpyFromSymbolAsync_ptsz(void *, const void *, size_t, size_t, int, cudaStream_t) { return 0; }
CUresult cuMemcpyHtoA_v2(cudaArray_t, size_t, const void *, size_t) { return 0; }
CUresult cuMemcpyHtoA_v2_ptds(cudaArray_t, size_t, const void *, size_t) { return 0; }
CUresult cuMemcpyHtoAAsync_v2(cudaArray_t, size_t, const void *, size_t, cudaStream_t) { return 0; }
CUresult cuMemcpyHtoAAsync_v2_ptsz(cudaArray_t, size_t, const void *, size_t, cudaStream_t) { return 0; }
CUresult cuMemcpyAtoH_v2(void *, cudaArray_t, size_t, size_t) { return 0; }
CUresult cuMemcpyAtoH_v2_ptds(void *, cudaArray_t, size_t, size_t) { return 0; }
CUresult cuMemcpyAtoHAsync_v2(void *, cudaArray_t, size_t, size_t, cudaStream_t) { return 0; }
CUresult cuMemcpyAtoHAsync_v2_ptsz(void *, cudaArray_t, size_t, size_t, cudaStream_t) { return 0; }
CUresult cuMemcpyDtoA_v2(cudaArray_t, size_t, CUdeviceptr, size_t) { return 0; }
CUresult cuMemcpyDtoA_v2_ptds(cudaArray_t, size_t, CUdeviceptr, size_t) { return 0; }
CUresult cuMemcpyAtoD_v2(CUdeviceptr, cudaArray_t, size_t, size_t) { return 0; }
CUresult cuMemcpyAtoD_v2_ptds(CUdeviceptr, cudaArray_t, size_t, size_t) { return 0; }
CUresult cuMemcpyAtoA_v2(cudaArray_t, size_t, cudaArray_t, size_t, size_t) { return 0; }
CUresult cuMemcpyAtoA_v2_ptds(cudaArray_t, size_t, cudaArray_t, size_t, size_t) { return 0; }
cudaError_t cudaMemcpyPeer(void *, int, const void *, int, size_t) { return 0; }
cudaError_t cudaMemcpyPeerAsync(void *, int, const void *, int, size_t, cudaStream_t) { return 0; }
CUresult cuMemcpy(CUdeviceptr, CUdeviceptr, size_t) { return 0; }
CUresult cuMemcpy_ptds(CUdeviceptr, CUdeviceptr, size_t) { return 0; }
CUresult cuMemcpyAsync(CUdeviceptr, CUdeviceptr, size_t, cudaStream_t) { return 0; }
CUresult cuMemcpyAsync_ptsz(CUdeviceptr, CUdeviceptr, size_t, cudaStream_t) { return 0; }
CUresult cuMemcpyPeer(CUdeviceptr, CUcontext, CUdeviceptr, CUcontext, size_t) { return 0; }
CUresult cuMemcpyPeer_ptds(CUdeviceptr, CUcontext, CUdeviceptr, CUcontext, size_t) { return 0; }
CUresult cuMemcpyPeerAsync(CUdeviceptr, CUcontext, CUdeviceptr, CUcontext, size_t, cudaStream_t) { return 0; }
CUresult cuMemcpyPeerAsync_ptsz(CUdeviceptr, CUcontext, CUdeviceptr, CUcontext, size_t, cudaStream_t) { return 0; }
CUresult cuMemcpyHtoD_v2_ptds(CUdeviceptr, const void *, size_t) { return 0; }
CUresult cuMemcpyHtoDAsync_v2_ptsz(CUdeviceptr, const void *, size_t, cudaStream_t) { return 0; }
CUresult cuMemcpyDtoH_v2_ptds(void *, CUdeviceptr, size_t) { return 0; }
CUresult cuMemcpyDtoHAsync_v2_ptsz(void *, CUdeviceptr, size_t, cudaStream_t) { return 0; }
CUresult cuMemcpyDtoD_v2_ptds(CUdeviceptr, CUdeviceptr, size_t) { return 0; }
CUresult cuMemcpyDtoDAsync_v2_ptsz(CUdeviceptr, CUdeviceptr, size_t, cudaStream_t) { return 0; }
CUresult cuMemsetD8_v2_ptds(CUdeviceptr, unsigned char, size_t) { return 0; }
CUresult cuMemsetD8Async_ptsz(CUdeviceptr, unsigned char, size_t, cudaStream_t) { return 0; }
cudaError_t cudaMemcpy(void *to, const void *, size_t, int) { return statusOf(to); }
cudaError_t cudaMemcpyAsync(void *, const void *, size_t, int, cudaStream_t) { return 0; }
cudaError_t cudaMemset(void *, int, size_t) { return 0; }
cudaError_t cudaMemsetAsync(void *, int, size_t, cudaStream_t) { return 0; }

// hip
hipError_t hipMalloc(void **block, size_t size) { return allocate(block, size); }
hipError_t hipExtHostAlloc(void **block, size_t size, unsigned) { return allocate(block, size); }
hipError_t hipExtMallocWithFlags(void **block, size_t size, unsigned) { return allocate(block, size); }
hipError_t hipMallocPitch(void **block, size_t *pitch, size_t width, size_t height) {
  *pitch = width;
  return allocate(block, width * height);
}
hipError_t hipMallocManaged(void **block, size_t size, unsigned) { return allocate(block, size); }
hipError_t hipMallocAsync(void **block, size_t size, hipStream_t) { return allocate(block, size); }
hipError_t hipMallocFromPoolAsync(void **block, size_t size, hipMemPool_t, hipStream_t) {
  return allocate(block, size);
}
hipError_t hipHostMalloc(void **block, size_t size, unsigned) { return allocate(block, size); }
hipError_t hipHostAlloc(void **block, size_t size, unsigned) { return allocate(block, size); }
hipError_t hipMallocHost(void **block, size_t size) { return allocate(block, size); }
hipError_t hipFreeHost(void *block) { return release(block); }
hipError_t hipFree(void *block) { return release(block); }
hipError_t hipFreeAsync(void *block, hipStream_t) { return release(block); }
hipError_t hipHostFree(void *block) { return release(block); }
hipError_t hipHostRegister(void *block, size_t size, unsigned) { return lock(block, size); }
hipError_t hipHostUnregister(void *block) { return statusOf(block); }
hipError_t hipLaunchKernel(const void *, struct hip_dim3, struct hip_dim3, void **, size_t, hipStream_t) { return 0; }
hipError_t hipLaunchKernelExC(const void *, const void *, void **) { return 0; }
hipError_t hipLaunchKernel_spt(const void *, struct hip_dim3, struct hip_dim3, void **, size_t, hipStream_t) {
  return 0;
}
hipError_t hipMemAllocPitch(void **block, size_t *pitch, size_t width, size_t height, unsigned) {
  *pitch = width;
  return allocate(block, width * height);
}
hipError_t hipMemAllocHost(void **block, size_t size) { return allocate(block, size); }
hipError_t hipLaunchCooperativeKernel(const void *, struct hip_dim3, struct hip_dim3, void **, unsigned, hipStream_t) {
  return 0;
}
hipError_t hipLaunchCooperativeKernel_spt(const void *, struct hip_dim3, struct hip_dim3, void **, unsigned,
                                          hipStream_t) {
  return 0;
}
hipError_t hipModuleLaunchKernel(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                                 hipStream_t, void **, void **) {
  return 0;
}
hipError_t hipModuleLaunchCooperativeKernel(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                                            unsigned, hipStream_t, void **) {
  return 0;
}
hipError_t hipExtLaunchKernel(const void *, struct hip_dim3, struct hip_dim3, void **, size_t, hipStream_t, void *,
                              void *, int) {
  return 0;
}
hipError_t hipExtModuleLaunchKernel(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, size_t,
                                    hipStream_t, void **, void **, void *, void *, unsigned) {
  return 0;
}
hipError_t hipHccModuleLaunchKernel(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, size_t,
                                    hipStream_t, void **, void **, void *, void *) {
  return 0;
}
hipError_t hipDrvLaunchKernelEx(const void *, void *, void **, void **) { return 0; }
hipError_t hipMemcpyToArray(hipArray_t, size_t, size_t, const void *, size_t, int) { return 0; }
hipError_t hipMemcpyFromArray(void *, hipArray_const_t, size_t, size_t, size_t, int) { return 0; }
hipError_t hipMemcpyFromArray_spt(void *, hipArray_const_t, size_t, size_t, size_t, int) { return 0; }
hipError_t hipMemcpyToSymbol(const void *, const void *, size_t, size_t, int) { return 0; }
hipError_t hipMemcpyToSymbol_spt(const void *, const void *, size_t, size_t, int) { return 0; }
hipError_t hipMemcpyToSymbolAsync(const void *, const void *, size_t, size_t, int, hipStream_t) { return 0; }
hipError_t hipMemcpyToSymbolAsync_spt(const void *, const void *, size_t, size_t, int, hipStream_t) { return 0; }
hipError_t hipMemcpyFromSymbol(void *, const void *, size_t, size_t, int) { return 0; }
hipError_t hipMemcpyFromSymbol_spt(void *, const void *, size_t, size_t, int) { return 0; }
hipError_t hipMemcpyFromSymbolAsync(void *, const void *, size_t, size_t, int, hipStream_t) { return 0; }
hipError_t hipMemcpyFromSymbolAsync_spt(void *, const void *, size_t, size_t, int, hipStream_t) { return 0; }
hipError_t hipMemcpyHtoA(hipArray_t, size_t, const void *, size_t) { return 0; }
hipError_t hipMemcpyHtoAAsync(hipArray_t, size_t, const void *, size_t, hipStream_t) { return 0; }
hipError_t hipMemcpyAtoH(void *, hipArray_t, size_t, size_t) { return 0; }
hipError_t hipMemcpyAtoHAsync(void *, hipArray_t, size_t, size_t, hipStream_t) { return 0; }
hipError_t hipMemcpyDtoA(hipArray_t, size_t, void *, size_t) { return 0; }
hipError_t hipMemcpyAtoD(void *, hipArray_t, size_t, size_t) { return 0; }
hipError_t hipMemcpyAtoA(hipArray_t, size_t, hipArray_t, size_t, size_t) { return 0; }
hipError_t hipMemcpyPeer(void *, int, const void *, int, size_t) { return 0; }
hipError_t hipMemcpyPeerAsync(void *, int, const void *, int, size_t, hipStream_t) { return 0; }
hipError_t hipMemcpyHtoD(void *, const void *, size_t) { return 0; }
hipError_t hipMemcpyHtoDAsync(void *, const void *, size_t, hipStream_t) { return 0; }
hipError_t hipMemcpyDtoH(void *, void *, size_t) { return 0; }
hipError_t hipMemcpyDtoHAsync(void *, void *, size_t, hipStream_t) { return 0; }
hipError_t hipMemcpyDtoD(void *, void *, size_t) { return 0; }
hipError_t hipMemcpyDtoDAsync(void *, void *, size_t, hipStream_t) { return 0; }
hipError_t hipMemsetD8(void *, unsigned char, size_t) { return 0; }
hipError_t hipMemsetD8Async(void *, unsigned char, size_t, hipStream_t) { return 0; }
hipError_t hipMemcpy_spt(void *, const void *, size_t, int) { return 0; }
hipError_t hipMemcpyWithStream(void *, const void *, size_t, int, hipStream_t) { return 0; }
hipError_t hipMemcpyAsync_spt(void *, const void *, size_t, int, hipStream_t) { return 0; }
hipError_t hipMemset_spt(void *, int, size_t) { return 0; }
hipError_t hipMemsetAsync_spt(void *, int, size_t, hipStream_t) { return 0; }
hipError_t hipMemcpy(void *, const void *, size_t, int) { return 0; }
hipError_t hipMemcpyAsync(void *, const void *, size_t, int, hipStream_t) { return 0; }
hipError_t hipMemset(void *to, int, size_t) { return statusOf(to); }
hipError_t hipMemsetAsync(void *, int, size_t, hipStream_t) { return 0; }

// acl
aclError aclrtMalloc(void **block, size_t size, int) { return allocate(block, size); }
aclError aclrtMallocAlign32(void **block, size_t size, int) { return allocate(block, size); }
aclError aclrtMallocCached(void **block, size_t size, int) { return allocate(block, size); }
aclError aclrtMallocWithCfg(void **block, size_t size, int, void *) { return allocate(block, size); }
aclError aclrtMallocHost(void **block, size_t size) { return allocate(block, size); }
aclError aclrtFree(void *block) { return release(block); }
aclError aclrtFreeHost(void *block) { return release(block); }
aclError aclrtMallocHostWithCfg(void **block, uint64_t size, void *) { return allocate(block, size); }
aclError aclrtMallocForTaskScheduler(void **block, size_t size, int, void *) { return allocate(block, size); }
aclError aclrtMemAllocManaged(void **block, uint64_t size, uint32_t) { return allocate(block, size); }
aclError aclrtMemPoolMallocAsync(void **block, size_t size, void *, aclrtStream) { return allocate(block, size); }
aclError aclrtFreeWithDevSync(void *block) { return release(block); }
aclError aclrtFreeHostWithDevSync(void *block) { return release(block); }
aclError aclrtMemPoolFreeAsync(void *block, aclrtStream) { return release(block); }
aclError aclrtLaunchKernelWithArgsArray(void *, uint32_t, aclrtStream, void *, void **) { return 0; }
aclError aclrtMemcpyAsyncWithCondition(void *, size_t, const void *, size_t, int, aclrtStream) { return 0; }
aclError aclrtMemcpyToSymbol(const void *, const void *, size_t, size_t, int) { return 0; }
aclError aclrtMemcpyToSymbolAsync(const void *, const void *, size_t, size_t, int, aclrtStream) { return 0; }
aclError aclrtMemcpyFromSymbol(void *, size_t, const void *, size_t, size_t, int) { return 0; }
aclError aclrtMemcpyFromSymbolAsync(void *, size_t, const void *, size_t, size_t, int, aclrtStream) { return 0; }
aclError aclrtHostRegister(void *block, uint64_t size, int, void **device) {
  *device = block;
  return lock(block, size);
}
aclError aclrtHostRegisterV2(void *block, uint64_t size, uint32_t) { return lock(block, size); }
aclError aclrtHostUnregister(void *block) { return statusOf(block); }
aclError aclrtLaunchKernel(aclrtFuncHandle kernel, uint32_t, const void *, size_t, aclrtStream) {
  return statusOf(kernel);
}
aclError aclrtLaunchKernelV2(aclrtFuncHandle, uint32_t, const void *, size_t, void *, aclrtStream) { return 0; }
aclError aclrtLaunchKernelWithConfig(aclrtFuncHandle, uint32_t, aclrtStream, void *, void *, void *) { return 0; }
aclError aclrtLaunchKernelWithHostArgs(aclrtFuncHandle, uint32_t, aclrtStream, void *, void *, size_t, void *, size_t) {
  return 0;
}
aclError aclrtMemcpy(void *, size_t, const void *, size_t, int) { return 0; }
aclError aclrtMemcpyAsync(void *to, size_t, const void *, size_t, int, aclrtStream) { return statusOf(to); }
aclError aclrtMemset(void *, size_t, int32_t, size_t) { return 0; }
aclError aclrtMemsetAsync(void *, size_t, int32_t, size_t, aclrtStream) { return 0; }
rtError_t rtKernelLaunch(const void *, uint32_t, void *, uint32_t, void *, rtStream_t) { return 0; }
rtError_t rtKernelLaunchWithFlag(const void *, uint32_t, void *, void *, rtStream_t, uint32_t) { return 0; }
rtError_t rtKernelLaunchWithFlagV2(const void *, uint32_t, void *, void *, rtStream_t, uint32_t, const void *) {
  return 0;
}
rtError_t rtKernelLaunchWithHandle(void *, uint64_t, uint32_t, void *, void *, rtStream_t, const void *) { return 0; }
rtError_t rtKernelLaunchWithHandleV2(void *, uint64_t, uint32_t, void *, void *, rtStream_t, const void *) { return 0; }
rtError_t rtVectorCoreKernelLaunch(const void *, uint32_t, void *, void *, rtStream_t, uint32_t, const void *) {
  return 0;
}
rtError_t rtVectorCoreKernelLaunchWithHandle(void *, uint64_t, uint32_t, void *, void *, rtStream_t, const void *) {
  return 0;
}
rtError_t rtLaunchKernelByFuncHandle(void *, uint32_t, void *, rtStream_t) { return 0; }
rtError_t rtLaunchKernelByFuncHandleV2(void *, uint32_t, void *, rtStream_t, const void *) { return 0; }
rtError_t rtLaunchKernelByFuncHandleV3(void *, uint32_t, const void *, rtStream_t, const void *) { return 0; }
rtError_t rtsLaunchKernelWithConfig(void *, uint32_t, rtStream_t, void *, void *, void *) { return 0; }
rtError_t rtsLaunchKernelWithDevArgs(void *, uint32_t, rtStream_t, void *, const void *, uint32_t, void *) { return 0; }
rtError_t rtsLaunchKernelWithHostArgs(void *, uint32_t, rtStream_t, void *, void *, uint32_t, void *, uint32_t) {
  return 0;
}

// opencl
cl_mem clCreateBuffer(cl_context, cl_bitfield, size_t size, void *, cl_int *status) {
  void *block = nullptr;
  *status = allocate(&block, size);
  return (cl_mem)block;
}
cl_mem clCreateBufferWithProperties(cl_context context, const cl_bitfield *, cl_bitfield flags, size_t size, void *host,
                                    cl_int *status) {
  return clCreateBuffer(context, flags, size, host, status);
}
cl_mem clCreatePipe(cl_context context, cl_bitfield flags, cl_uint packet, cl_uint packets, const void *,
                    cl_int *status) {
  return clCreateBuffer(context, flags, size_t{packet} * packets, nullptr, status);
}
void *clSVMAlloc(cl_context, cl_bitfield, size_t size, cl_uint) {
  void *block = nullptr;
  allocate(&block, size);
  return block;
}
cl_int clReleaseMemObject(cl_mem block) { return release(block); }
cl_int clRetainMemObject(cl_mem) { return 0; }
void clSVMFree(cl_context, void *block) { release(block); }
cl_int clEnqueueNDRangeKernel(cl_command_queue, cl_kernel kernel, cl_uint, const size_t *, const size_t *,
                              const size_t *, cl_uint, const cl_event *, cl_event *) {
  return statusOf(kernel);
}
cl_int clEnqueueTask(cl_command_queue, cl_kernel kernel, cl_uint, const cl_event *, cl_event *) {
  return statusOf(kernel);
}
cl_int clEnqueueReadBuffer(cl_command_queue, cl_mem, cl_uint, size_t, size_t, void *, cl_uint, const cl_event *,
                           cl_event *) {
  return 0;
}
cl_int clEnqueueWriteBuffer(cl_command_queue, cl_mem, cl_uint, size_t, size_t, const void *, cl_uint, const cl_event *,
                            cl_event *) {
  return 0;
}
cl_int clEnqueueCopyBuffer(cl_command_queue, cl_mem, cl_mem, size_t, size_t, size_t, cl_uint, const cl_event *,
                           cl_event *) {
  return 0;
}
cl_int clEnqueueSVMMemcpy(cl_command_queue, cl_uint, void *, const void *, size_t, cl_uint, const cl_event *,
                          cl_event *) {
  return 0;
}
cl_int clEnqueueFillBuffer(cl_command_queue, cl_mem, const void *, size_t, size_t, size_t, cl_uint, const cl_event *,
                           cl_event *) {
  return 0;
}
cl_int clEnqueueSVMMemFill(cl_command_queue, void *, const void *, size_t, size_t, cl_uint, const cl_event *,
                           cl_event *) {
  return 0;
}
}
