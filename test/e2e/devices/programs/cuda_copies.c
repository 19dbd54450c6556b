// Makes copies and fills of each kind between two blocks. The number
// of bytes identifies most of the calls. Some calls are refused.
#include <cuda_runtime_api.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Repeats declarations of cuda.h.
typedef unsigned long long CUdeviceptr;
int cuMemcpyHtoD_v2(CUdeviceptr to, const void *from, size_t bytes);
int cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void *from, size_t bytes, void *);
int cuMemcpyDtoH_v2(void *to, CUdeviceptr from, size_t bytes);
int cuMemcpyDtoHAsync_v2(void *to, CUdeviceptr from, size_t bytes, void *);
int cuMemcpyDtoD_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes);
int cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes, void *);
int cuMemsetD8_v2(CUdeviceptr to, unsigned char value, size_t count);
int cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t count, void *);
int cuMemsetD16_v2(CUdeviceptr to, unsigned short value, size_t count);
int cuMemsetD16Async(CUdeviceptr to, unsigned short value, size_t count, void *);
int cuMemsetD32_v2(CUdeviceptr to, unsigned value, size_t count);
int cuMemsetD32Async(CUdeviceptr to, unsigned value, size_t count, void *);
#ifndef HIP
struct Copy2D {
  size_t srcXInBytes, srcY;
  int srcMemoryType;
  const void *srcHost;
  CUdeviceptr srcDevice;
  void *srcArray;
  size_t srcPitch, dstXInBytes, dstY;
  int dstMemoryType;
  void *dstHost;
  CUdeviceptr dstDevice;
  void *dstArray;
  size_t dstPitch, WidthInBytes, Height;
};
struct Copy3D {
  size_t srcXInBytes, srcY, srcZ, srcLOD;
  int srcMemoryType;
  const void *srcHost;
  CUdeviceptr srcDevice;
  void *srcArray, *reserved0;
  size_t srcPitch, srcHeight, dstXInBytes, dstY, dstZ, dstLOD;
  int dstMemoryType;
  void *dstHost;
  CUdeviceptr dstDevice;
  void *dstArray, *reserved1;
  size_t dstPitch, dstHeight, WidthInBytes, Height, Depth;
};
int cuMemcpyHtoD_v2_ptds(CUdeviceptr to, const void *from, size_t bytes);
int cuMemcpyHtoDAsync_v2_ptsz(CUdeviceptr to, const void *from, size_t bytes, void *);
int cuMemcpyDtoH_v2_ptds(void *to, CUdeviceptr from, size_t bytes);
int cuMemcpyDtoHAsync_v2_ptsz(void *to, CUdeviceptr from, size_t bytes, void *);
int cuMemcpyDtoD_v2_ptds(CUdeviceptr to, CUdeviceptr from, size_t bytes);
int cuMemcpyDtoDAsync_v2_ptsz(CUdeviceptr to, CUdeviceptr from, size_t bytes, void *);
int cuMemcpy(CUdeviceptr to, CUdeviceptr from, size_t bytes);
int cuMemcpy_ptds(CUdeviceptr to, CUdeviceptr from, size_t bytes);
int cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, void *);
int cuMemcpyAsync_ptsz(CUdeviceptr to, CUdeviceptr from, size_t bytes, void *);
int cuMemcpyPeer(CUdeviceptr to, void *, CUdeviceptr from, void *, size_t bytes);
int cuMemcpyPeer_ptds(CUdeviceptr to, void *, CUdeviceptr from, void *, size_t bytes);
int cuMemcpyPeerAsync(CUdeviceptr to, void *, CUdeviceptr from, void *, size_t bytes, void *);
int cuMemcpyPeerAsync_ptsz(CUdeviceptr to, void *, CUdeviceptr from, void *, size_t bytes, void *);
int cuMemsetD8_v2_ptds(CUdeviceptr to, unsigned char value, size_t count);
int cuMemsetD8Async_ptsz(CUdeviceptr to, unsigned char value, size_t count, void *);
int cuMemsetD2D8_v2(CUdeviceptr to, size_t pitch, unsigned char value, size_t width, size_t height);
int cuMemsetD2D8_v2_ptds(CUdeviceptr to, size_t pitch, unsigned char value, size_t width, size_t height);
int cuMemsetD2D8Async(CUdeviceptr to, size_t pitch, unsigned char value, size_t width, size_t height, void *);
int cuMemsetD2D8Async_ptsz(CUdeviceptr to, size_t pitch, unsigned char value, size_t width, size_t height, void *);
int cuMemsetD16_v2_ptds(CUdeviceptr to, unsigned short value, size_t count);
int cuMemsetD16Async_ptsz(CUdeviceptr to, unsigned short value, size_t count, void *);
int cuMemsetD2D16_v2(CUdeviceptr to, size_t pitch, unsigned short value, size_t width, size_t height);
int cuMemsetD2D16_v2_ptds(CUdeviceptr to, size_t pitch, unsigned short value, size_t width, size_t height);
int cuMemsetD2D16Async(CUdeviceptr to, size_t pitch, unsigned short value, size_t width, size_t height, void *);
int cuMemsetD2D16Async_ptsz(CUdeviceptr to, size_t pitch, unsigned short value, size_t width, size_t height, void *);
int cuMemsetD32_v2_ptds(CUdeviceptr to, unsigned value, size_t count);
int cuMemsetD32Async_ptsz(CUdeviceptr to, unsigned value, size_t count, void *);
int cuMemsetD2D32_v2(CUdeviceptr to, size_t pitch, unsigned value, size_t width, size_t height);
int cuMemsetD2D32_v2_ptds(CUdeviceptr to, size_t pitch, unsigned value, size_t width, size_t height);
int cuMemsetD2D32Async(CUdeviceptr to, size_t pitch, unsigned value, size_t width, size_t height, void *);
int cuMemsetD2D32Async_ptsz(CUdeviceptr to, size_t pitch, unsigned value, size_t width, size_t height, void *);
int cuMemcpy2D_v2(const struct Copy2D *copy);
int cuMemcpy2D_v2_ptds(const struct Copy2D *copy);
int cuMemcpy2DUnaligned_v2(const struct Copy2D *copy);
int cuMemcpy2DUnaligned_v2_ptds(const struct Copy2D *copy);
int cuMemcpy2DAsync_v2(const struct Copy2D *copy, void *);
int cuMemcpy2DAsync_v2_ptsz(const struct Copy2D *copy, void *);
int cuMemcpy3D_v2(const struct Copy3D *copy);
int cuMemcpy3D_v2_ptds(const struct Copy3D *copy);
int cuMemcpy3DAsync_v2(const struct Copy3D *copy, void *);
int cuMemcpy3DAsync_v2_ptsz(const struct Copy3D *copy, void *);
#endif

#ifdef HIP
int hipStreamWaitValue32(void *, void *at, uint32_t value, unsigned flags, uint32_t mask);
int hipStreamWaitValue64(void *, void *at, uint64_t value, unsigned flags, uint64_t mask);
int hipStreamWriteValue32(void *, void *at, uint32_t value, unsigned flags);
int hipStreamWriteValue64(void *, void *at, uint64_t value, unsigned flags);
#else
int cuStreamWaitValue32_v2(void *, CUdeviceptr at, unsigned value, unsigned flags);
int cuStreamWaitValue32_v2_ptsz(void *, CUdeviceptr at, unsigned value, unsigned flags);
int cuStreamWaitValue64_v2(void *, CUdeviceptr at, uint64_t value, unsigned flags);
int cuStreamWaitValue64_v2_ptsz(void *, CUdeviceptr at, uint64_t value, unsigned flags);
int cuStreamWriteValue32_v2(void *, CUdeviceptr at, unsigned value, unsigned flags);
int cuStreamWriteValue32_v2_ptsz(void *, CUdeviceptr at, unsigned value, unsigned flags);
int cuStreamWriteValue64_v2(void *, CUdeviceptr at, uint64_t value, unsigned flags);
int cuStreamWriteValue64_v2_ptsz(void *, CUdeviceptr at, uint64_t value, unsigned flags);
#endif

cudaError_t cudaMemcpy2D_ptds(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                              size_t height, enum cudaMemcpyKind kind);
cudaError_t cudaMemcpy2DAsync_ptsz(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                                   size_t height, enum cudaMemcpyKind kind, cudaStream_t stream);
cudaError_t cudaMemcpy3D_ptds(const struct cudaMemcpy3DParms *copy);
cudaError_t cudaMemcpy3DAsync_ptsz(const struct cudaMemcpy3DParms *copy, cudaStream_t stream);
cudaError_t cudaMemset2D_ptds(void *to, size_t pitch, int value, size_t width, size_t height);
cudaError_t cudaMemset2DAsync_ptsz(void *to, size_t pitch, int value, size_t width, size_t height,
                                   cudaStream_t stream);
cudaError_t cudaMemset3D_ptds(struct cudaPitchedPtr to, int value, struct cudaExtent extent);
cudaError_t cudaMemset3DAsync_ptsz(struct cudaPitchedPtr to, int value, struct cudaExtent extent, cudaStream_t stream);

static char host[4096];
static void *first, *second;
static CUdeviceptr here, there;

static void expect(int status, int wanted, const char *what) {
  if (status != wanted)
    printf("%s: %d, not %d\n", what, status, wanted);
}

// Calls the driver's functions that HIP also has. The size identifies each call.
static void driver(void) {
  expect(cuMemcpyHtoD_v2(there, host, 65), 0, "cuMemcpyHtoD_v2");
  expect(cuMemcpyHtoDAsync_v2(there, host, 66, NULL), 0, "cuMemcpyHtoDAsync_v2");
  expect(cuMemcpyDtoH_v2(host, there, 69), 0, "cuMemcpyDtoH_v2");
  expect(cuMemcpyDtoHAsync_v2(host, there, 70, NULL), 0, "cuMemcpyDtoHAsync_v2");
  expect(cuMemcpyDtoD_v2(there, here, 73), 0, "cuMemcpyDtoD_v2");
  expect(cuMemcpyDtoDAsync_v2(there, here, 74, NULL), 0, "cuMemcpyDtoDAsync_v2");
  expect(cuMemsetD8_v2(there, 7, 85), 0, "cuMemsetD8_v2");
  expect(cuMemsetD8Async(there, 7, 86, NULL), 0, "cuMemsetD8Async");
  expect(cuMemsetD16_v2(there, 7, 93), 0, "cuMemsetD16_v2");
  expect(cuMemsetD16Async(there, 7, 94, NULL), 0, "cuMemsetD16Async");
  expect(cuMemsetD32_v2(there, 7, 101), 0, "cuMemsetD32_v2");
  expect(cuMemsetD32Async(there, 7, 102, NULL), 0, "cuMemsetD32Async");
}

#ifndef HIP
static const struct Copy2D *rows(size_t width) {
  static struct Copy2D copy;
  copy = (struct Copy2D){.srcMemoryType = 1, .srcHost = host, .srcPitch = 512, .dstMemoryType = 2, .dstDevice = there,
                         .dstPitch = 512, .WidthInBytes = width, .Height = 5};
  return &copy;
}
static const struct Copy3D *volume(size_t width) {
  static struct Copy3D copy;
  copy = (struct Copy3D){.srcMemoryType = 2, .srcDevice = here, .srcPitch = 512, .dstMemoryType = 1, .dstHost = host,
                         .dstPitch = 512, .WidthInBytes = width, .Height = 2, .Depth = 3};
  return &copy;
}
static void driver_of_cuda(void) {
  expect(cuMemcpyHtoD_v2_ptds(there, host, 67), 0, "cuMemcpyHtoD_v2_ptds");
  expect(cuMemcpyHtoDAsync_v2_ptsz(there, host, 68, NULL), 0, "cuMemcpyHtoDAsync_v2_ptsz");
  expect(cuMemcpyDtoH_v2_ptds(host, there, 71), 0, "cuMemcpyDtoH_v2_ptds");
  expect(cuMemcpyDtoHAsync_v2_ptsz(host, there, 72, NULL), 0, "cuMemcpyDtoHAsync_v2_ptsz");
  expect(cuMemcpyDtoD_v2_ptds(there, here, 75), 0, "cuMemcpyDtoD_v2_ptds");
  expect(cuMemcpyDtoDAsync_v2_ptsz(there, here, 76, NULL), 0, "cuMemcpyDtoDAsync_v2_ptsz");
  expect(cuMemcpy(there, here, 77), 0, "cuMemcpy");
  expect(cuMemcpy_ptds(there, here, 78), 0, "cuMemcpy_ptds");
  expect(cuMemcpyAsync(there, here, 79, NULL), 0, "cuMemcpyAsync");
  expect(cuMemcpyAsync_ptsz(there, here, 80, NULL), 0, "cuMemcpyAsync_ptsz");
  expect(cuMemcpyPeer(there, NULL, here, NULL, 81), 0, "cuMemcpyPeer");
  expect(cuMemcpyPeer_ptds(there, NULL, here, NULL, 82), 0, "cuMemcpyPeer_ptds");
  expect(cuMemcpyPeerAsync(there, NULL, here, NULL, 83, NULL), 0, "cuMemcpyPeerAsync");
  expect(cuMemcpyPeerAsync_ptsz(there, NULL, here, NULL, 84, NULL), 0, "cuMemcpyPeerAsync_ptsz");
  expect(cuMemsetD8_v2_ptds(there, 7, 87), 0, "cuMemsetD8_v2_ptds");
  expect(cuMemsetD8Async_ptsz(there, 7, 88, NULL), 0, "cuMemsetD8Async_ptsz");
  expect(cuMemsetD2D8_v2(there, 1024, 7, 89, 3), 0, "cuMemsetD2D8_v2");
  expect(cuMemsetD2D8_v2_ptds(there, 1024, 7, 90, 3), 0, "cuMemsetD2D8_v2_ptds");
  expect(cuMemsetD2D8Async(there, 1024, 7, 91, 3, NULL), 0, "cuMemsetD2D8Async");
  expect(cuMemsetD2D8Async_ptsz(there, 1024, 7, 92, 3, NULL), 0, "cuMemsetD2D8Async_ptsz");
  expect(cuMemsetD16_v2_ptds(there, 7, 95), 0, "cuMemsetD16_v2_ptds");
  expect(cuMemsetD16Async_ptsz(there, 7, 96, NULL), 0, "cuMemsetD16Async_ptsz");
  expect(cuMemsetD2D16_v2(there, 1024, 7, 97, 3), 0, "cuMemsetD2D16_v2");
  expect(cuMemsetD2D16_v2_ptds(there, 1024, 7, 98, 3), 0, "cuMemsetD2D16_v2_ptds");
  expect(cuMemsetD2D16Async(there, 1024, 7, 99, 3, NULL), 0, "cuMemsetD2D16Async");
  expect(cuMemsetD2D16Async_ptsz(there, 1024, 7, 100, 3, NULL), 0, "cuMemsetD2D16Async_ptsz");
  expect(cuMemsetD32_v2_ptds(there, 7, 103), 0, "cuMemsetD32_v2_ptds");
  expect(cuMemsetD32Async_ptsz(there, 7, 104, NULL), 0, "cuMemsetD32Async_ptsz");
  expect(cuMemsetD2D32_v2(there, 1024, 7, 105, 3), 0, "cuMemsetD2D32_v2");
  expect(cuMemsetD2D32_v2_ptds(there, 1024, 7, 106, 3), 0, "cuMemsetD2D32_v2_ptds");
  expect(cuMemsetD2D32Async(there, 1024, 7, 107, 3, NULL), 0, "cuMemsetD2D32Async");
  expect(cuMemsetD2D32Async_ptsz(there, 1024, 7, 108, 3, NULL), 0, "cuMemsetD2D32Async_ptsz");
  expect(cuMemcpy2D_v2(rows(109)), 0, "cuMemcpy2D_v2");
  expect(cuMemcpy2D_v2_ptds(rows(110)), 0, "cuMemcpy2D_v2_ptds");
  expect(cuMemcpy2DUnaligned_v2(rows(111)), 0, "cuMemcpy2DUnaligned_v2");
  expect(cuMemcpy2DUnaligned_v2_ptds(rows(112)), 0, "cuMemcpy2DUnaligned_v2_ptds");
  expect(cuMemcpy2DAsync_v2(rows(113), NULL), 0, "cuMemcpy2DAsync_v2");
  expect(cuMemcpy2DAsync_v2_ptsz(rows(114), NULL), 0, "cuMemcpy2DAsync_v2_ptsz");
  expect(cuMemcpy3D_v2(volume(115)), 0, "cuMemcpy3D_v2");
  expect(cuMemcpy3D_v2_ptds(volume(116)), 0, "cuMemcpy3D_v2_ptds");
  expect(cuMemcpy3DAsync_v2(volume(117), NULL), 0, "cuMemcpy3DAsync_v2");
  expect(cuMemcpy3DAsync_v2_ptsz(volume(118), NULL), 0, "cuMemcpy3DAsync_v2_ptsz");
}
#endif

static void runtime(void) {
  const struct cudaChannelFormatDesc number = {32, 0, 0, 0, 2};
  struct cudaPitchedPtr block = {first, 512, 100, 2};
  struct cudaMemcpy3DParms copy = {.srcPtr = {host, 512, 100, 2}, .dstPtr = block, .extent = {100, 2, 3}};
  cudaArray_t array;
  expect(cudaMemcpyPeer(second, 0, first, 0, 301), 0, "to a peer");
  expect(cudaMemcpyPeerAsync(second, 0, first, 0, 302, NULL), 0, "to a peer, in order of a stream");
  expect(cudaMemset2D(first, 512, 1, 103, 3), 0, "fill of rows");
  expect(cudaMemset2DAsync(first, 512, 1, 104, 3, NULL), 0, "fill of rows, in order of a stream");
  expect(cudaMemset2D(first, 8, 1, 104, 3), cudaErrorInvalidValue, "rows that overlap");
  expect(cudaMemset3D(block, 1, (struct cudaExtent){105, 2, 3}), 0, "fill of a volume");
  expect(cudaMemset3DAsync(block, 1, (struct cudaExtent){106, 2, 3}, NULL), 0, "fill, in order of a stream");
  expect(cudaMemcpy3D(&copy), 0, "copy of a volume");
  copy.extent.width = 101;
  expect(cudaMemcpy3DAsync(&copy, NULL), 0, "copy of a volume, in order of a stream");
  copy.extent.depth = 0;
  expect(cudaMemcpy3D(&copy), cudaErrorInvalidValue, "copy of nothing");
  expect(cudaMemcpy3D(NULL), cudaErrorInvalidValue, "no copy");
  expect(cudaMallocArray(&array, &number, 50, 0, 0), 0, "array");
  copy = (struct cudaMemcpy3DParms){.srcPtr = {host, 512, 100, 2}, .dstArray = array, .extent = {25, 1, 1}};
  expect(cudaMemcpy3D(&copy), 0, "copy to an array");
  expect(cudaFreeArray(array), 0, "end of the array");
}

static void per_thread(void) {
  struct cudaPitchedPtr block = {first, 512, 207, 2};
  struct cudaMemcpy3DParms copy = {.srcPtr = {host, 512, 203, 2}, .dstPtr = block, .extent = {203, 2, 1}};
  expect(cudaMemcpy2D_ptds(first, 512, host, 512, 201, 2, cudaMemcpyHostToDevice), 0, "copy of rows");
  expect(cudaMemcpy2DAsync_ptsz(first, 512, host, 512, 202, 2, cudaMemcpyHostToDevice, NULL), 0, "copy of rows");
  expect(cudaMemcpy3D_ptds(&copy), 0, "copy of a volume");
  copy.extent.width = 204;
  expect(cudaMemcpy3DAsync_ptsz(&copy, NULL), 0, "copy of a volume");
  expect(cudaMemset2D_ptds(first, 512, 1, 205, 2), 0, "fill of rows");
  expect(cudaMemset2DAsync_ptsz(first, 512, 1, 206, 2, NULL), 0, "fill of rows");
  expect(cudaMemset3D_ptds(block, 1, (struct cudaExtent){207, 2, 1}), 0, "fill of a volume");
  expect(cudaMemset3DAsync_ptsz(block, 1, (struct cudaExtent){208, 2, 1}, NULL), 0, "fill of a volume");
}

// Writes numbers in the order of a stream, and waits for them.
static void numbers(void) {
#ifdef HIP
  expect(hipStreamWriteValue32(NULL, second, 7, 0), 0, "write of 4 bytes");
  expect(hipStreamWaitValue32(NULL, second, 7, 0, 0xff), 0, "wait for 4 bytes");
  expect(hipStreamWriteValue64(NULL, second, 8, 0), 0, "write of 8 bytes");
  expect(hipStreamWaitValue64(NULL, second, 8, 0, 0xff), 0, "wait for 8 bytes");
#else
  expect(cuStreamWriteValue32_v2(NULL, there, 7, 0), 0, "write of 4 bytes");
  expect(cuStreamWaitValue32_v2(NULL, there, 7, 0), 0, "wait for 4 bytes");
  expect(cuStreamWriteValue32_v2_ptsz(NULL, there, 8, 0), 0, "write of 4 bytes");
  expect(cuStreamWaitValue32_v2_ptsz(NULL, there, 8, 0), 0, "wait for 4 bytes");
  expect(cuStreamWriteValue64_v2(NULL, there, 9, 0), 0, "write of 8 bytes");
  expect(cuStreamWaitValue64_v2(NULL, there, 9, 0), 0, "wait for 8 bytes");
  expect(cuStreamWriteValue64_v2_ptsz(NULL, there, 10, 0), 0, "write of 8 bytes");
  expect(cuStreamWaitValue64_v2_ptsz(NULL, there, 10, 0), 0, "wait for 8 bytes");
#endif
}

int main(void) {
  expect(cudaMalloc(&first, 4096), 0, "block");
  expect(cudaMalloc(&second, 4096), 0, "block");
  here = (CUdeviceptr)(size_t)first;
  there = (CUdeviceptr)(size_t)second;
  driver();
#ifndef HIP
  driver_of_cuda();
#endif
  runtime();
  per_thread();
  numbers();
  expect(cudaFree(first), 0, "free");
  expect(cudaFree(second), 0, "free");
  puts("done");
  return 0;
}
