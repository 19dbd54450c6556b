// Allocates, uses and frees memory of OpenCL's extension cl_intel_unified_shared_memory. With the argument "mended",
// the program frees every block.
#define CL_TARGET_OPENCL_VERSION 200
#define CL_USE_DEPRECATED_OPENCL_1_1_APIS
#include <CL/cl.h>
#include <CL/cl_ext.h>

#include <stdio.h>

enum { kHost = 4096, kDevice = 8192, kShared = 16384, kForgotten = 12288 };

int main(int count, char **words) {
  const int is_mended = count > 1 && words[1] != NULL;
  cl_platform_id platform;
  cl_device_id device;
  cl_int status = 0;
  clGetPlatformIDs(1, &platform, NULL);
  clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL);
#define FUNCTION(variable, name)                                                                                       \
  const name##_fn variable = (name##_fn)clGetExtensionFunctionAddressForPlatform(platform, #name)
  FUNCTION(take_host, clHostMemAllocINTEL);
  FUNCTION(take_device, clDeviceMemAllocINTEL);
  FUNCTION(take_shared, clSharedMemAllocINTEL);
  FUNCTION(wait_and_give, clMemBlockingFreeINTEL);
  FUNCTION(set_argument, clSetKernelArgMemPointerINTEL);
  FUNCTION(fill, clEnqueueMemFillINTEL);
  FUNCTION(copy, clEnqueueMemcpyINTEL);
  const clMemFreeINTEL_fn give = (clMemFreeINTEL_fn)clGetExtensionFunctionAddress("clMemFreeINTEL");
  printf("unknown: %p\n", clGetExtensionFunctionAddressForPlatform(platform, "clNobodyHasThis"));

  const cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, &status);
  const cl_command_queue queue = clCreateCommandQueueWithProperties(context, device, NULL, &status);
  const cl_kernel kernel = clCreateKernel(NULL, "add_one", &status);
  char *host = take_host(context, NULL, kHost, 0, &status);
  char *on_device = take_device(context, device, NULL, kDevice, 0, &status);
  char *shared = take_shared(context, device, NULL, kShared, 0, &status);
  char *forgotten = take_device(context, device, NULL, kForgotten, 0, &status);    // forgotten
  char *refused = take_device(context, device, NULL, (size_t)1 << 40, 0, &status); // refused
  printf("refused: %p %d\n", (void *)refused, status);

  const char pattern = 6;
  const size_t global = kShared;
  printf("fill: %d\n", fill(queue, on_device, &pattern, 1, kDevice, 0, NULL, NULL));
  printf("fill without a pattern: %d\n", fill(queue, on_device, &pattern, 0, kDevice, 0, NULL, NULL));
  printf("copy: %d\n", copy(queue, CL_TRUE, host, on_device, kHost, 0, NULL, NULL));
  printf("argument: %d\n", set_argument(kernel, 0, shared));
  shared[kShared - 1] = 41;
  printf("launch: %d\n", clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, NULL, 0, NULL, NULL));
  clFinish(queue);
  printf("%d %d\n", host[kHost - 1], shared[kShared - 1]);

  printf("no context: %d\n", give(NULL, host));
  printf("frees: %d %d %d\n", give(context, host), wait_and_give(context, on_device), give(context, shared));
  if (is_mended)
    give(context, forgotten);
  clReleaseKernel(kernel);
  clReleaseCommandQueue(queue);
  clReleaseContext(context);
  return 0;
}
