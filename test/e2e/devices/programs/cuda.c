// Allocates, copies and launches by CUDA's runtime library on two devices, and prints the results.
// The program leaks some blocks, and some calls are refused. With "mended" it leaks nothing.
#include <cuda_runtime_api.h>

#include <msleaks/api.h>

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { kSteps = 4, kModel = 1 << 20, kActivations = 1 << 16, kForgotten = 4096, kElements = 1024 };

static int mended, failures;

static void expect(int status, int wanted, const char *what) {
  if (status != wanted) {
    printf("%s: %d, not %d\n", what, status, wanted);
    ++failures;
  }
}

// This function is the kernel: the stand-in calls it at each launch, with the addresses of the arguments.
static void scale(void **arguments) {
  float *values = *(float **)arguments[0];
  const int count = *(int *)arguments[1];
  for (int i = 0; i < count; ++i)
    values[i] *= 2;
}

static void train(cudaStream_t stream, float *model) {
  float host[kElements];
  int count = kElements;
  void *arguments[] = {&model, &count};
  const dim3 grid = {4, 1, 1}, block = {256, 1, 1};
  for (int i = 0; i < kElements; ++i)
    host[i] = (float)i;
  expect(cudaMemcpy(model, host, sizeof host, cudaMemcpyHostToDevice), 0, "copy to the device");
  for (int step = 0; step < kSteps; ++step) {
    void *activations, *temporary;
    msl_step((uint64_t)step);
    expect(cudaMalloc(&activations, kActivations), 0, "activations"); // freed in the same step
    expect(cudaMallocAsync(&temporary, kActivations, stream), 0, "temporary");
    expect(cudaMemsetAsync(temporary, 0, kActivations, stream), 0, "fill");
    expect(cudaLaunchKernel((const void *)(uintptr_t)scale, grid, block, arguments, 0, stream), 0, "launch");
    expect(cudaPeekAtLastError(), 0, "no error of the launch"); // no error, although the kernel's name is unknown
    expect(cudaFreeAsync(temporary, stream), 0, "free of the temporary");
    expect(cudaFree(activations), 0, "free of the activations");
  }
  const cudaLaunchConfig_t config = {
      .gridDim = {5, 6, 7}, .blockDim = {8, 1, 1}, .dynamicSmemBytes = 64, .stream = stream};
  expect(cudaLaunchKernelExC(&config, (const void *)(uintptr_t)scale, arguments), 0, "launch with a configuration");
  expect(cudaLaunchKernelExC(NULL, (const void *)(uintptr_t)scale, arguments), cudaErrorInvalidValue, "launch without");
  expect(cudaGetLastError(), cudaErrorInvalidValue, "last error of the launch");
  expect(cudaStreamSynchronize(stream), 0, "wait");
  expect(cudaMemcpy(host, model, sizeof host, cudaMemcpyDeviceToHost), 0, "copy to the host");
  printf("the last element is %.0f\n", host[kElements - 1]);
}

// Leaks blocks on the second device in another thread, since each thread has its own current device.
static void *forget(void *argument) {
  expect(cudaSetDevice(1), 0, "choice of the second device");
  for (int i = 0; i < kSteps; ++i) {
    void *block;
    expect(cudaMalloc(&block, kForgotten), 0, "block of the second device"); // forgotten
    if (mended)
      cudaFree(block);
  }
  return argument;
}

static void refuse(void) {
  void *block = (void *)8;
  expect(cudaSetDevice(7), cudaErrorInvalidDevice, "a device that is not there");
  expect(cudaGetLastError(), cudaErrorInvalidDevice, "last error");
  expect(cudaMalloc(&block, (size_t)1 << 40), cudaErrorMemoryAllocation, "too much"); // refused
  expect(cudaPeekAtLastError(), cudaErrorMemoryAllocation, "last error, looked at");
  expect(cudaGetLastError(), cudaErrorMemoryAllocation, "last error, taken");
  expect(cudaGetLastError(), 0, "no error");
  expect(cudaFree((void *)16), cudaErrorInvalidValue, "free of no block");
  expect(cudaGetLastError(), cudaErrorInvalidValue, "last error of the free");
  expect(cudaFree(NULL), 0, "free of null");
}

int main(int argc, char **argv) {
  void *model, *pinned, *managed, *image;
  size_t pitch;
  cudaStream_t stream;
  pthread_t thread;
  int device = -1;
  mended = argc > 1 && strcmp(argv[1], "mended") == 0;
  expect(cudaStreamCreate(&stream), 0, "stream");
  expect(cudaMalloc(&model, kModel), 0, "model"); // freed at the end
  expect(cudaPeekAtLastError(), 0, "no error of the model");
  expect(cudaMallocHost(&pinned, 8192), 0, "pinned");
  expect(cudaMallocManaged(&managed, 16384, 1), 0, "managed");
  expect(cudaMallocPitch(&image, &pitch, 1024, 16), 0, "image");
  pthread_create(&thread, NULL, forget, NULL);
  pthread_join(thread, NULL);
  expect(cudaGetDevice(&device), 0, "which device");
  expect(device, 0, "the other thread's device is not ours");
  train(stream, model);
  refuse();
  expect(cudaFree(image), 0, "free of the image");
  expect(cudaFree(managed), 0, "free of managed memory");
  expect(cudaFreeHost(pinned), 0, "free of pinned memory");
  expect(cudaFree(model), 0, "free of the model");
  expect(cudaStreamDestroy(stream), 0, "end of the stream");
  printf("%d failures\n", failures);
  return failures != 0;
}
