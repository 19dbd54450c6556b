// Launches lists of kernels on two devices. With HIP it also fills rows, and chooses devices by contexts.
#include <cuda_runtime_api.h>

#include <stdint.h>
#include <stdio.h>

static int failures;

static void expect(int status, int wanted, const char *what) {
  if (status != wanted) {
    printf("%s: %d, not %d\n", what, status, wanted);
    ++failures;
  }
}

// Repeats CUDA_LAUNCH_PARAMS of cuda.h.
struct launch_of_driver {
  void *function;
  unsigned grid[3], block[3], shared;
  void *stream;
  void **arguments;
};

// These functions are the kernels: the stand-in calls them at launches.
void scale(void **arguments) { **(int **)arguments[0] *= 2; }
void shift(void **arguments) { **(int **)arguments[0] += 1; }

static void launch_lists(int *number, cudaStream_t stream) {
  void *arguments[] = {&number};
  struct cudaLaunchParams list[] = {
      {(void *)(uintptr_t)scale, {31, 1, 1}, {2, 1, 1}, arguments, 0, NULL},
      {(void *)(uintptr_t)shift, {32, 1, 1}, {3, 1, 1}, arguments, 16, stream},
  };
  expect(cudaLaunchCooperativeKernelMultiDevice(list, 2, 0), 0, "list");
  expect(cudaLaunchCooperativeKernelMultiDevice(list, 0, 0), 1, "empty list");
#ifdef HIP
  expect(hipExtLaunchMultiKernelMultiDevice(list, 1, 0), 0, "list");
#endif
  list[0].func = NULL;
  expect(cudaLaunchCooperativeKernelMultiDevice(list, 1, 0), 98, "no kernel");
  expect(cudaStreamSynchronize(stream), 0, "wait");
  expect(cudaStreamSynchronize(NULL), 0, "wait");
}

#ifdef HIP
int hipModuleLaunchCooperativeKernelMultiDevice(struct launch_of_driver *list, unsigned count, unsigned flags);
int hipMemsetD2D8(void *to, size_t pitch, unsigned char value, size_t width, size_t height);
int hipMemsetD2D8Async(void *to, size_t pitch, unsigned char value, size_t width, size_t height, hipStream_t stream);
int hipMemsetD2D16(void *to, size_t pitch, unsigned short value, size_t width, size_t height);
int hipMemsetD2D16Async(void *to, size_t pitch, unsigned short value, size_t width, size_t height, hipStream_t stream);
int hipMemsetD2D32(void *to, size_t pitch, unsigned value, size_t width, size_t height);
int hipMemsetD2D32Async(void *to, size_t pitch, unsigned value, size_t width, size_t height, hipStream_t stream);
int hipCtxSetCurrent(void *context);
int hipCtxPushCurrent(void *context);
int hipCtxPopCurrent(void **context);

static void allocate(size_t bytes) {
  void *block;
  expect(hipMalloc(&block, bytes), 0, "block");
  expect(hipFree(block), 0, "free");
}

static void of_library(struct launch_of_driver *list, char *block) {
  void *context;
  expect(hipModuleLaunchCooperativeKernelMultiDevice(list, 1, 0), 0, "list of the driver");
  expect(hipMemsetD2D8(block, 64, 1, 10, 2), 0, "rows");
  expect(hipMemsetD2D8Async(block, 64, 1, 11, 2, NULL), 0, "rows");
  expect(hipMemsetD2D16(block, 64, 1, 12, 2), 0, "rows");
  expect(hipMemsetD2D16Async(block, 64, 1, 13, 2, NULL), 0, "rows");
  expect(hipMemsetD2D32(block, 64, 1, 14, 2), 0, "rows");
  expect(hipMemsetD2D32Async(block, 64, 1, 15, 2, NULL), 0, "rows");
  expect(hipCtxSetCurrent((void *)2), 0, "context");
  allocate(2001);
  expect(hipCtxSetCurrent((void *)9), hipErrorInvalidDevice, "no context");
  allocate(2002);
  expect(hipCtxPopCurrent(&context), 0, "pop");
  allocate(1001);
  expect(hipCtxPushCurrent(context), 0, "push");
  allocate(2003);
  expect(hipSetDevice(0), 0, "device");
}
#else
int cuLaunchCooperativeKernelMultiDevice(struct launch_of_driver *list, unsigned count, unsigned flags);
int cuGreenCtxStreamCreate(void **stream, void *context, unsigned flags, int priority);

static void of_library(struct launch_of_driver *list, char *block) {
  void *stream;
  expect(cuLaunchCooperativeKernelMultiDevice(list, 1, 0), 0, "list of the driver");
  expect(cuGreenCtxStreamCreate(&stream, block, 0, 0), 0, "stream of a green context"); // left open
}
#endif

int main(void) {
  static int handle;
  void *block;
  cudaStream_t stream;
  expect(cudaMalloc(&block, 1000), 0, "block");
  expect(cudaMemset(block, 1, 1000), 0, "fill");
  expect(cudaStreamCreate(&stream), 0, "stream");
  launch_lists(block, stream);
  printf("the number is %d\n", *(int *)block); // the host can read the stand-in's device memory
  struct launch_of_driver list[] = {{&handle, {41, 2, 1}, {4, 1, 1}, 8, stream, NULL}};
  of_library(list, block);
  expect(cudaStreamDestroy(stream), 0, "end of the stream");
  expect(cudaFree(block), 0, "free");
  printf("%d failures\n", failures);
  return failures != 0;
}
