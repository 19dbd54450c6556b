// Declares the part of HIP's API that the tests call.
#pragma once
#include <stddef.h>
#ifdef __cplusplus
extern "C" {
#endif
typedef int hipError_t;
typedef struct ihipStream_t *hipStream_t;
typedef struct ihipMemPoolHandle_t *hipMemPool_t;
struct hip_dim3 {
  unsigned x, y, z;
};

hipError_t hipMalloc(void **block, size_t size);
hipError_t hipExtHostAlloc(void **block, size_t size, unsigned flags);
hipError_t hipExtMallocWithFlags(void **block, size_t size, unsigned flags);
hipError_t hipMallocPitch(void **block, size_t *pitch, size_t width, size_t height);
hipError_t hipMemAllocPitch(void **block, size_t *pitch, size_t width, size_t height, unsigned element);
hipError_t hipMemAllocHost(void **block, size_t size);
hipError_t hipMallocManaged(void **block, size_t size, unsigned flags);
hipError_t hipMallocAsync(void **block, size_t size, hipStream_t stream);
hipError_t hipMallocFromPoolAsync(void **block, size_t size, hipMemPool_t pool, hipStream_t stream);
hipError_t hipHostMalloc(void **block, size_t size, unsigned flags);
hipError_t hipHostAlloc(void **block, size_t size, unsigned flags);
hipError_t hipMallocHost(void **block, size_t size);
hipError_t hipFree(void *block);
hipError_t hipFreeAsync(void *block, hipStream_t stream);
hipError_t hipHostFree(void *block);
hipError_t hipFreeHost(void *block);
hipError_t hipHostRegister(void *block, size_t size, unsigned flags);
hipError_t hipHostUnregister(void *block);
hipError_t hipLaunchKernelExC(const void *config, const void *kernel, void **arguments);
hipError_t hipLaunchKernel_spt(const void *kernel, struct hip_dim3 grid, struct hip_dim3 block, void **arguments,
                               size_t shared, hipStream_t stream);
hipError_t hipLaunchKernel(const void *kernel, struct hip_dim3 grid, struct hip_dim3 block, void **arguments,
                           size_t shared, hipStream_t stream);
hipError_t hipMemcpy(void *to, const void *from, size_t size, int kind);
hipError_t hipMemcpyAsync(void *to, const void *from, size_t size, int kind, hipStream_t stream);
hipError_t hipMemset(void *to, int value, size_t size);
hipError_t hipMemsetAsync(void *to, int value, size_t size, hipStream_t stream);
hipError_t hipMemcpy_spt(void *to, const void *from, size_t size, int kind);
hipError_t hipMemcpyWithStream(void *to, const void *from, size_t size, int kind, hipStream_t stream);
hipError_t hipMemcpyAsync_spt(void *to, const void *from, size_t size, int kind, hipStream_t stream);
hipError_t hipMemset_spt(void *to, int value, size_t size);
hipError_t hipMemsetAsync_spt(void *to, int value, size_t size, hipStream_t stream);
hipError_t hipLaunchCooperativeKernel(const void *kernel, struct hip_dim3 grid, struct hip_dim3 block, void **arguments,
                                      unsigned shared, hipStream_t stream);
hipError_t hipLaunchCooperativeKernel_spt(const void *kernel, struct hip_dim3 grid, struct hip_dim3 block,
                                          void **arguments, unsigned shared, hipStream_t stream);
hipError_t hipModuleLaunchKernel(void *kernel, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                                 unsigned block_y, unsigned block_z, unsigned shared, hipStream_t stream,
                                 void **arguments, void **extra);
hipError_t hipModuleLaunchCooperativeKernel(void *kernel, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                                            unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared,
                                            hipStream_t stream, void **arguments);
hipError_t hipExtLaunchKernel(const void *kernel, struct hip_dim3 grid, struct hip_dim3 block, void **arguments,
                              size_t shared, hipStream_t stream, void *start, void *stop, int flags);
hipError_t hipExtModuleLaunchKernel(void *kernel, unsigned threads_x, unsigned threads_y, unsigned threads_z,
                                    unsigned block_x, unsigned block_y, unsigned block_z, size_t shared,
                                    hipStream_t stream, void **arguments, void **extra, void *start, void *stop,
                                    unsigned flags);
hipError_t hipHccModuleLaunchKernel(void *kernel, unsigned threads_x, unsigned threads_y, unsigned threads_z,
                                    unsigned block_x, unsigned block_y, unsigned block_z, size_t shared,
                                    hipStream_t stream, void **arguments, void **extra, void *start, void *stop);
hipError_t hipDrvLaunchKernelEx(const void *config, void *kernel, void **arguments, void **extra);
hipError_t hipMemcpyPeer(void *to, int to_device, const void *from, int from_device, size_t size);
hipError_t hipMemcpyPeerAsync(void *to, int to_device, const void *from, int from_device, size_t size,
                              hipStream_t stream);
hipError_t hipMemcpyHtoD(void *to, const void *from, size_t size);
hipError_t hipMemcpyHtoDAsync(void *to, const void *from, size_t size, hipStream_t stream);
hipError_t hipMemcpyDtoH(void *to, void *from, size_t size);
hipError_t hipMemcpyDtoHAsync(void *to, void *from, size_t size, hipStream_t stream);
hipError_t hipMemcpyDtoD(void *to, void *from, size_t size);
hipError_t hipMemcpyDtoDAsync(void *to, void *from, size_t size, hipStream_t stream);
hipError_t hipMemsetD8(void *to, unsigned char value, size_t size);
hipError_t hipMemsetD8Async(void *to, unsigned char value, size_t size, hipStream_t stream);
typedef struct hipArray *hipArray_t;
typedef const struct hipArray *hipArray_const_t;
hipError_t hipMemcpyToArray(hipArray_t, size_t, size_t, const void *, size_t, int);
hipError_t hipMemcpyFromArray(void *, hipArray_const_t, size_t, size_t, size_t, int);
hipError_t hipMemcpyFromArray_spt(void *, hipArray_const_t, size_t, size_t, size_t, int);
hipError_t hipMemcpyToSymbol(const void *, const void *, size_t, size_t, int);
hipError_t hipMemcpyToSymbol_spt(const void *, const void *, size_t, size_t, int);
hipError_t hipMemcpyToSymbolAsync(const void *, const void *, size_t, size_t, int, hipStream_t);
hipError_t hipMemcpyToSymbolAsync_spt(const void *, const void *, size_t, size_t, int, hipStream_t);
hipError_t hipMemcpyFromSymbol(void *, const void *, size_t, size_t, int);
hipError_t hipMemcpyFromSymbol_spt(void *, const void *, size_t, size_t, int);
hipError_t hipMemcpyFromSymbolAsync(void *, const void *, size_t, size_t, int, hipStream_t);
hipError_t hipMemcpyFromSymbolAsync_spt(void *, const void *, size_t, size_t, int, hipStream_t);
hipError_t hipMemcpyHtoA(hipArray_t, size_t, const void *, size_t);
hipError_t hipMemcpyHtoAAsync(hipArray_t, size_t, const void *, size_t, hipStream_t);
hipError_t hipMemcpyAtoH(void *, hipArray_t, size_t, size_t);
hipError_t hipMemcpyAtoHAsync(void *, hipArray_t, size_t, size_t, hipStream_t);
hipError_t hipMemcpyDtoA(hipArray_t, size_t, void *, size_t);
hipError_t hipMemcpyAtoD(void *, hipArray_t, size_t, size_t);
hipError_t hipMemcpyAtoA(hipArray_t, size_t, hipArray_t, size_t, size_t);
#ifdef __cplusplus
}
#endif
