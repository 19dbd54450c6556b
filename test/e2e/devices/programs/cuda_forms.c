// Allocates, launches, copies and fills by the less common functions of CUDA's
// runtime library and of HIP. The number of bytes and the grid identify each call.
#include <cuda_runtime_api.h>

#include <stdint.h>
#include <stdio.h>

int cudaMemcpy_ptds(void *to, const void *from, size_t size, enum cudaMemcpyKind kind);
int cudaMemcpyAsync_ptsz(void *to, const void *from, size_t size, enum cudaMemcpyKind kind, cudaStream_t stream);
int cudaMemset_ptds(void *to, int value, size_t size);
int cudaMemsetAsync_ptsz(void *to, int value, size_t size, cudaStream_t stream);
int cudaLaunchKernel_ptsz(const void *kernel, dim3 grid, dim3 block, void **arguments, size_t shared,
                          cudaStream_t stream);
int cudaLaunchCooperativeKernel_ptsz(const void *kernel, dim3 grid, dim3 block, void **arguments, size_t shared,
                                     cudaStream_t stream);
#ifndef HIP
int cudaMallocAsync_ptsz(void **block, size_t size, cudaStream_t stream);
int cudaMallocFromPoolAsync_ptsz(void **block, size_t size, cudaMemPool_t pool, cudaStream_t stream);
int cudaFreeAsync_ptsz(void *block, cudaStream_t stream);
int cudaLaunchKernelExC_ptsz(const cudaLaunchConfig_t *config, const void *kernel, void **arguments);
#else
int hipExtMallocWithFlags(void **block, size_t size, unsigned flags);
int hipMemAllocPitch(void **block, size_t *pitch, size_t width, size_t height, unsigned element);
int hipHostMalloc(void **block, size_t size, unsigned flags);
int hipMemAllocHost(void **block, size_t size);
int hipExtHostAlloc(void **block, size_t size, unsigned flags);
int hipGetDriverEntryPoint(const char *name, void **function, unsigned long long flags, void *outcome);
int hipHostFree(void *block);
int hipMemcpyWithStream(void *to, const void *from, size_t size, enum hipMemcpyKind kind, hipStream_t stream);
int hipModuleGetFunction(void **function, void *module, const char *name);
int hipModuleLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                          unsigned shared, hipStream_t stream, void **arguments, void **extra);
int hipModuleLaunchCooperativeKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                                     unsigned bz, unsigned shared, hipStream_t stream, void **arguments);
int hipExtLaunchKernel(const void *kernel, dim3 grid, dim3 block, void **arguments, size_t shared, hipStream_t stream,
                       void *start, void *stop, int flags);
int hipExtModuleLaunchKernel(void *function, unsigned tx, unsigned ty, unsigned tz, unsigned bx, unsigned by,
                             unsigned bz, size_t shared, hipStream_t stream, void **arguments, void **extra,
                             void *start, void *stop, unsigned flags);
int hipHccModuleLaunchKernel(void *function, unsigned tx, unsigned ty, unsigned tz, unsigned bx, unsigned by,
                             unsigned bz, size_t shared, hipStream_t stream, void **arguments, void **extra,
                             void *start, void *stop);
int hipDrvLaunchKernelEx(const cudaLaunchConfig_t *config, void *function, void **arguments, void **extra);
int hipGetProcAddress(const char *name, void **function, int version, uint64_t flags, void *outcome);
#endif

static int failures;

static void expect(int status, int wanted, const char *what) {
  if (status != wanted) {
    printf("%s: %d, not %d\n", what, status, wanted);
    ++failures;
  }
}

// These functions are the kernels: the driver's stand-in calls them at launches.
void scale(void **arguments) { **(int **)arguments[0] *= 2; }
void shift(void **arguments) { **(int **)arguments[0] += 1; }

static void blocks(void) {
  void *block;
  expect(cudaHostAlloc(&block, 1001, 0), 0, "pinned");
  expect(cudaFreeHost(block), 0, "free");
  expect(cudaMallocFromPoolAsync(&block, 1002, NULL, NULL), 0, "of a pool");
  expect(cudaFreeAsync(block, NULL), 0, "free");
#ifndef HIP
  expect(cudaMallocFromPoolAsync_ptsz(&block, 1003, NULL, NULL), 0, "of a pool");
  expect(cudaFreeAsync_ptsz(block, NULL), 0, "free");
  expect(cudaMallocAsync_ptsz(&block, 1004, NULL), 0, "block");
  expect(cudaFreeAsync_ptsz(block, NULL), 0, "free");
#else
  size_t pitch;
  expect(hipHostMalloc(&block, 1005, 0), 0, "pinned");
  expect(hipHostFree(block), 0, "free");
  expect(hipMemAllocHost(&block, 1006), 0, "pinned");
  expect(hipHostFree(block), 0, "free");
  expect(hipExtHostAlloc(&block, 1008, 0), 0, "pinned");
  expect(hipHostFree(block), 0, "free");
  int (*allocate)(void **, size_t) = NULL;
  expect(hipGetDriverEntryPoint("hipMemAllocHost", (void **)&allocate, 0, NULL), 0, "address");
  expect(allocate(&block, 1009), 0, "pinned");
  expect(hipHostFree(block), 0, "free");
  expect(hipExtMallocWithFlags(&block, 1007, 0), 0, "block");
  expect(hipFree(block), 0, "free");
  expect(hipMemAllocPitch(&block, &pitch, 56, 18, 4), 0, "rows");
  expect(hipFree(block), 0, "free");
#endif
}

static void launches(int *number) {
  void *arguments[] = {&number};
  const void *const kernel = (const void *)(uintptr_t)scale;
  const dim3 one = {1, 1, 1};
  expect(cudaLaunchCooperativeKernel(kernel, (dim3){11, 1, 1}, one, arguments, 0, NULL), 0, "launch");
  expect(cudaLaunchCooperativeKernel_ptsz(kernel, (dim3){12, 1, 1}, one, arguments, 0, NULL), 0, "launch");
  expect(cudaLaunchKernel_ptsz(kernel, (dim3){13, 1, 1}, one, arguments, 0, NULL), 0, "launch");
  const cudaLaunchConfig_t config = {.gridDim = {14, 1, 1}, .blockDim = one};
#ifndef HIP
  expect(cudaLaunchKernelExC_ptsz(&config, kernel, arguments), 0, "launch");
#else
  void *function = NULL;
  expect(hipLaunchKernelExC(&config, kernel, arguments), 0, "launch");
  expect(hipModuleGetFunction(&function, NULL, "shift"), 0, "function");
  expect(hipModuleLaunchKernel(function, 15, 1, 1, 1, 1, 1, 0, NULL, arguments, NULL), 0, "launch");
  expect(hipModuleLaunchCooperativeKernel(function, 16, 1, 1, 1, 1, 1, 0, NULL, arguments), 0, "launch");
  expect(hipExtLaunchKernel(kernel, (dim3){17, 1, 1}, one, arguments, 0, NULL, NULL, NULL, 0), 0, "launch");
  expect(hipExtModuleLaunchKernel(function, 35, 1, 1, 2, 1, 1, 0, NULL, arguments, NULL, NULL, NULL, 0), 0, "launch");
  expect(hipHccModuleLaunchKernel(function, 19, 1, 1, 1, 1, 1, 0, NULL, arguments, NULL, NULL, NULL), 0, "launch");
  expect(hipDrvLaunchKernelEx(&config, function, arguments, NULL), 0, "launch");
  int (*found)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, hipStream_t, void **,
               void **);
  expect(hipGetProcAddress("hipModuleLaunchKernel", (void **)&found, 60000000, 0, NULL), 0, "address");
  expect(found(function, 21, 1, 1, 1, 1, 1, 0, NULL, arguments, NULL), 0, "launch");
  expect(hipGetProcAddress("hipNothing", (void **)&found, 60000000, 0, NULL), 500, "address of nothing");
#endif
}

static void copies(char *block) {
  static char host[100];
  expect(cudaMemcpy_ptds(block, host, 21, cudaMemcpyHostToDevice), 0, "copy");
  expect(cudaMemcpyAsync_ptsz(host, block, 22, cudaMemcpyDeviceToHost, NULL), 0, "copy");
#ifdef HIP
  expect(hipMemcpyWithStream(block, host, 23, hipMemcpyHostToDevice, NULL), 0, "copy");
  expect(hipMemcpyAsync(block, host, 24, hipMemcpyHostToDevice, NULL), 0, "copy");
#endif
  expect(cudaMemset_ptds(block, 3, 31), 0, "fill");
  expect(cudaMemsetAsync_ptsz(block, 3, 32, NULL), 0, "fill");
  expect(cudaStreamSynchronize(NULL), 0, "wait");
}

int main(void) {
  void *block;
  expect(cudaMalloc(&block, 1000), 0, "block");
  expect(cudaMemset(block, 1, 1000), 0, "fill");
  blocks();
  launches(block);
  printf("the number is %d\n", *(int *)block); // the host can read the stand-in's device memory
  copies(block);
  expect(cudaFree(block), 0, "free");
  printf("%d failures\n", failures);
  return failures != 0;
}
