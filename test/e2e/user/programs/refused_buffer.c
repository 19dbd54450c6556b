// Requests an OpenCL buffer that is too large, while two other buffers are alive.
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>

int main(void) {
  cl_platform_id platform;
  cl_device_id device;
  if (clGetPlatformIDs(1, &platform, 0) != CL_SUCCESS ||
      clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, 0) != CL_SUCCESS)
    return 77;
  cl_context context = clCreateContext(0, 1, &device, 0, 0, 0);
  cl_ulong all = 0;
  clGetDeviceInfo(device, CL_DEVICE_GLOBAL_MEM_SIZE, sizeof all, &all, 0);
  cl_mem weights = clCreateBuffer(context, CL_MEM_READ_WRITE, 3 << 20, 0, 0); // the largest
  cl_mem input = clCreateBuffer(context, CL_MEM_READ_WRITE, 1 << 20, 0, 0);
  cl_int status = CL_SUCCESS;
  cl_mem output = clCreateBuffer(context, CL_MEM_READ_WRITE, (size_t)all * 2, 0, &status); // too much
  fprintf(stderr, "status %d\n", status);
  if (output == 0)
    abort();
  clReleaseMemObject(input);
  clReleaseMemObject(weights);
  return 0;
}
