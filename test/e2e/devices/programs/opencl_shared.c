// Frees lists of OpenCL's shared memory blocks by a queue. If a call is refused, the blocks of its list leak.
#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl.h>

#include <stdio.h>

enum { kBytes = 4096, kListed = 3 };

static cl_context context;
static cl_command_queue queue;

// This callback of clEnqueueSVMFree frees all blocks of its list but the last block, which leaks.
static void CL_CALLBACK give_back(cl_command_queue of, cl_uint count, void **blocks, void *user) {
  (void)of, (void)user;
  for (cl_uint i = 0; i + 1 < count; ++i)
    clSVMFree(context, blocks[i]);
}

static void say(const char *what, cl_int status) { printf("%s: %d\n", what, status); }

int main(void) {
  cl_platform_id platform;
  cl_device_id device;
  void *given[kListed], *refused[kListed], *by_function[kListed];
  if (clGetPlatformIDs(1, &platform, NULL) != CL_SUCCESS ||
      clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL) != CL_SUCCESS) {
    puts("no OpenCL device");
    return 77;
  }
  context = clCreateContext(NULL, 1, &device, NULL, NULL, NULL);
  queue = clCreateCommandQueueWithProperties(context, device, NULL, NULL);
  for (int i = 0; i < kListed; ++i) {
    given[i] = clSVMAlloc(context, 0, kBytes, 0);
    refused[i] = clSVMAlloc(context, 0, 2 * kBytes, 0);     // refused
    by_function[i] = clSVMAlloc(context, 0, 4 * kBytes, 0); // by a function
  }
  say("a list", clEnqueueSVMFree(queue, kListed, given, NULL, NULL, 0, NULL, NULL));
  say("a list behind no event", clEnqueueSVMFree(queue, kListed, refused, NULL, NULL, 1, NULL, NULL));
  say("no list", clEnqueueSVMFree(queue, kListed, NULL, NULL, NULL, 0, NULL, NULL));
  say("by a function", clEnqueueSVMFree(queue, kListed, by_function, give_back, NULL, 0, NULL, NULL));
  clReleaseCommandQueue(queue);
  clReleaseContext(context);
  return 0;
}
