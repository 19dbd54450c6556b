// Makes each call twice and prints its status. The driver's stand-in refuses the first call ($STANDIN_FAIL). The second
// call succeeds, so each object is created once and freed once. ONCE makes only the refused call.
#include <stdint.h>
#include <stdio.h>

#define TWICE(call)                                                                                                    \
  for (int i = 0; i < 2; ++i)                                                                                          \
    printf("%s: %d\n", #call, (int)(call));
#define ONCE(call) printf("%s: %d\n", #call, (int)(call));

#if defined OF_DRIVER // memory and handles of CUDA's driver
typedef unsigned long long CUdeviceptr;
struct Property {
  int type, handle_types, place, device;
  unsigned char rest[16];
};
struct Array {
  size_t width, height;
  int format;
  unsigned channels;
};
struct Array3D {
  size_t width, height, depth;
  int format;
  unsigned channels, flags;
};
int cuMemAddressReserve(CUdeviceptr *, size_t, size_t, CUdeviceptr, unsigned long long);
int cuMemCreate(CUdeviceptr *, size_t, const struct Property *, unsigned long long), cuMemRelease(CUdeviceptr);
int cuMemMap(CUdeviceptr, size_t, size_t, CUdeviceptr, unsigned long long), cuMemUnmap(CUdeviceptr, size_t);
int cuMemRetainAllocationHandle(CUdeviceptr *, void *);
int cuArrayCreate_v2(void **, const struct Array *), cuArray3DCreate_v2(void **, const struct Array3D *);
int cuMipmappedArrayCreate(void **, const struct Array3D *, unsigned);
int cuArrayDestroy(void *), cuMipmappedArrayDestroy(void *);
int cuMemHostRegister_v2(void *, size_t, unsigned), cuMemHostUnregister(void *);
int cuGraphLaunch(void *, void *), cuGraphLaunch_ptsz(void *, void *);
int cuStreamCreate(void **, unsigned), cuStreamCreateWithPriority(void **, unsigned, int), cuStreamDestroy_v2(void *);
int cuEventCreate(void **, unsigned), cuEventDestroy_v2(void *);
int cuCtxCreate_v2(void **, unsigned, int), cuCtxDestroy_v2(void *);
int cuModuleLoadData(void **, const void *), cuModuleUnload(void *);
int cuGraphCreate(void **, unsigned), cuGraphDestroy(void *), cuGraphInstantiateWithFlags(void **, void *, uint64_t);
int cuGraphExecDestroy(void *);

static void physical(void) {
  const struct Property on_device = {1, 0, 1, 0, {0}};
  CUdeviceptr handle, again, address;
  cuMemAddressReserve(&address, 4096, 0, 0, 0);
  TWICE(cuMemCreate(&handle, 4096, &on_device, 0))
  TWICE(cuMemMap(address, 4096, 0, handle, 0))
  TWICE(cuMemRetainAllocationHandle(&again, (void *)(size_t)address))
  TWICE(cuMemRelease(again))
  TWICE(cuMemUnmap(address, 4096))
  cuMemRelease(handle);
}
static void arrays(void) {
  const struct Array image = {8, 8, 1, 1};
  const struct Array3D volume = {8, 8, 8, 1, 1, 0};
  void *array;
  TWICE(cuArrayCreate_v2(&array, &image))
  TWICE(cuArrayDestroy(array))
  TWICE(cuArray3DCreate_v2(&array, &volume))
  cuArrayDestroy(array);
  TWICE(cuMipmappedArrayCreate(&array, &volume, 1))
  TWICE(cuMipmappedArrayDestroy(array))
}
static void handles(void) {
  void *stream, *event, *context, *module, *graph, *runnable;
  TWICE(cuStreamCreate(&stream, 0))
  TWICE(cuStreamDestroy_v2(stream))
  TWICE(cuStreamCreateWithPriority(&stream, 0, 0))
  cuStreamDestroy_v2(stream);
  TWICE(cuEventCreate(&event, 0))
  ONCE(cuEventDestroy_v2(event))
  TWICE(cuCtxCreate_v2(&context, 0, 0))
  TWICE(cuCtxDestroy_v2(context))
  TWICE(cuModuleLoadData(&module, "module"))
  TWICE(cuModuleUnload(module))
  TWICE(cuGraphCreate(&graph, 0))
  TWICE(cuGraphInstantiateWithFlags(&runnable, graph, 0))
  TWICE(cuGraphLaunch(runnable, NULL))
  TWICE(cuGraphLaunch_ptsz(runnable, NULL))
  TWICE(cuGraphExecDestroy(runnable))
  TWICE(cuGraphDestroy(graph))
}
int main(void) {
  static char host[4096];
  physical();
  arrays();
  TWICE(cuMemHostRegister_v2(host, sizeof host, 0))
  TWICE(cuMemHostUnregister(host))
  handles();
  return 0;
}

#elif defined OF_RUNTIME // handles of CUDA's runtime library, and plans of cuFFT
int cudaStreamCreate(void **), cudaStreamCreateWithFlags(void **, unsigned), cudaStreamDestroy(void *);
int cudaEventCreate(void **), cudaEventCreateWithFlags(void **, unsigned), cudaEventDestroy(void *);
int cudaGraphCreate(void **, unsigned), cudaGraphClone(void **, void *), cudaGraphDestroy(void *);
int cudaStreamEndCapture(void *, void **), cudaGraphInstantiateWithFlags(void **, void *, uint64_t);
int cudaGraphExecDestroy(void *);
int cufftCreate(int *), cufftPlan1d(int *, int, int, int), cufftPlan2d(int *, int, int, int), cufftDestroy(int);

int main(void) {
  void *stream, *event, *graph, *other, *runnable;
  int plan;
  TWICE(cudaStreamCreate(&stream))
  TWICE(cudaStreamEndCapture(stream, &graph))
  TWICE(cudaStreamDestroy(stream))
  TWICE(cudaStreamCreateWithFlags(&stream, 0))
  cudaStreamDestroy(stream);
  TWICE(cudaEventCreate(&event))
  ONCE(cudaEventDestroy(event))
  TWICE(cudaGraphClone(&other, graph))
  TWICE(cudaGraphDestroy(other))
  TWICE(cudaGraphInstantiateWithFlags(&runnable, graph, 0))
  TWICE(cudaGraphExecDestroy(runnable))
  cudaGraphDestroy(graph);
  TWICE(cufftCreate(&plan))
  TWICE(cufftDestroy(plan))
  TWICE(cufftPlan1d(&plan, 8, 0, 1))
  cufftDestroy(plan);
  TWICE(cufftPlan2d(&plan, 8, 8, 0))
  cufftDestroy(plan);
  return 0;
}

#elif defined OF_THREAD // functions for the per-thread default stream
#include <cuda_runtime_api.h>
int cudaMallocAsync_ptsz(void **, size_t, void *), cudaMallocFromPoolAsync_ptsz(void **, size_t, void *, void *);
int cudaFreeAsync_ptsz(void *, void *);
int cudaMemcpy_ptds(void *, const void *, size_t, int), cudaMemcpyAsync_ptsz(void *, const void *, size_t, int, void *);
int cudaMemcpy2D_ptds(void *, size_t, const void *, size_t, size_t, size_t, int);
int cudaMemset_ptds(void *, int, size_t), cudaMemsetAsync_ptsz(void *, int, size_t, void *);
int cudaMemset2D_ptds(void *, size_t, int, size_t, size_t);
int cudaLaunchKernel_ptsz(const void *, dim3, dim3, void **, size_t, cudaStream_t);
static void kernel(void **arguments) { (void)arguments; }

int main(void) {
  static char host[4096];
  const dim3 one = {1, 1, 1};
  void *block, *other;
  TWICE(cudaMallocAsync_ptsz(&block, 4096, NULL))
  TWICE(cudaMallocFromPoolAsync_ptsz(&other, 4096, NULL, NULL))
  TWICE(cudaMemcpy_ptds(block, host, 4096, 1))
  TWICE(cudaMemcpyAsync_ptsz(block, host, 4096, 1, NULL))
  TWICE(cudaMemcpy2D_ptds(block, 64, host, 64, 8, 4, 1))
  TWICE(cudaMemset_ptds(block, 1, 4096))
  TWICE(cudaMemsetAsync_ptsz(block, 1, 4096, NULL))
  TWICE(cudaMemset2D_ptds(block, 64, 1, 8, 4))
  TWICE(cudaLaunchKernel_ptsz((const void *)(uintptr_t)kernel, one, one, NULL, 0, NULL))
  TWICE(cudaFreeAsync_ptsz(block, NULL))
  cudaFreeAsync_ptsz(other, NULL);
  return 0;
}

#else // functions that only HIP has
#include <hip_runtime_api.h>
int hipExtMallocWithFlags(void **, size_t, unsigned), hipHostMalloc(void **, size_t, unsigned);
int hipMemAllocHost(void **, size_t), hipMemAllocPitch(void **, size_t *, size_t, size_t, unsigned),
    hipHostFree(void *);
int hipMemcpyWithStream(void *, const void *, size_t, int, void *), hipModuleGetFunction(void **, void *, const char *);
int hipModuleLaunchKernel(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **,
                          void **);
int hipExtLaunchKernel(const void *, dim3, dim3, void **, size_t, void *, void *, void *, int);
void kernel(void **arguments) { (void)arguments; }

int main(void) {
  static char host[4096];
  const dim3 one = {1, 1, 1};
  void *block, *pinned, *rows, *function;
  size_t pitch;
  TWICE(hipExtMallocWithFlags(&block, 4096, 0))
  TWICE(hipMemAllocPitch(&rows, &pitch, 64, 4, 4))
  TWICE(hipHostMalloc(&pinned, 4096, 0))
  TWICE(hipMemcpyWithStream(block, host, 4096, 1, NULL))
  TWICE(hipModuleGetFunction(&function, NULL, "kernel"))
  TWICE(hipModuleLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL))
  TWICE(hipExtLaunchKernel((const void *)(uintptr_t)kernel, one, one, NULL, 0, NULL, NULL, NULL, 0))
  TWICE(hipHostFree(pinned))
  TWICE(hipMemAllocHost(&pinned, 4096))
  hipHostFree(pinned);
  hipFree(rows);
  hipFree(block);
  return 0;
}
#endif
