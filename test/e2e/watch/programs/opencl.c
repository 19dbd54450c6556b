// Has two adjacent OpenCL buffers. In step 2 a kernel writes past the first buffer. The report must not name the
// kernels that get the second buffer or its sub-buffer. It must not name copies and fills into the second buffer.
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <msleaks/api.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kInts = 1024, kBytes = kInts * 4, kStray = 8 };

static const char *kSource = "kernel void relu(global int *a) { a[get_global_id(0)] = (int)0x9d9d9d9du; }\n"
                             "kernel void scale(global int *w) { w[get_global_id(0)] *= 2; }\n";

static cl_command_queue queue;
static cl_program program;

static void expect(cl_int status, const char *what) {
  if (status != CL_SUCCESS) {
    printf("%s: %d\n", what, status);
    exit(1);
  }
}

static void launch(const char *name, cl_mem buffer, size_t items) {
  cl_int status;
  cl_kernel kernel = clCreateKernel(program, name, &status);
  expect(status, name);
  expect(clSetKernelArg(kernel, 0, sizeof buffer, &buffer), "argument");
  expect(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &items, NULL, 0, NULL, NULL), "launch"); // launch
  clReleaseKernel(kernel);
}

int main(int count, char **arguments) {
  const int is_mended = count > 1 && strcmp(arguments[1], "mended") == 0;
  cl_platform_id platform;
  cl_device_id device;
  cl_int status;
  if (clGetPlatformIDs(1, &platform, NULL) != CL_SUCCESS ||
      clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL) != CL_SUCCESS) {
    puts("no OpenCL device");
    return 77;
  }
  cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, &status);
  queue = clCreateCommandQueue(context, device, 0, &status);
  program = clCreateProgramWithSource(context, 1, &kSource, NULL, &status);
  expect(clBuildProgram(program, 1, &device, "", NULL, NULL), "build");
  int *pool = aligned_alloc(4096, 2 * kBytes);
  memset(pool, 0, 2 * kBytes);
  cl_mem activations = clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, kBytes, pool, &status);
  cl_mem weights = clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, kBytes, pool + kInts, &status);
  expect(status, "buffer");
  const cl_buffer_region all = {0, kBytes};
  cl_mem part = clCreateSubBuffer(weights, CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION, &all, &status);
  expect(status, "part");
  msl_watch(weights, kBytes, "weights");
  for (int step = 1; step <= 3; ++step) {
    const int one = step;
    int read[kInts];
    msl_step((uint64_t)step);
    launch("relu", activations, kInts + (step == 2 && !is_mended ? kStray : 0));
    launch("scale", step == 3 ? part : weights, kInts);
    expect(clEnqueueFillBuffer(queue, weights, &one, sizeof one, kBytes / 2, kBytes / 2, 0, NULL, NULL), "fill");
    expect(clEnqueueReadBuffer(queue, weights, CL_TRUE, 0, kBytes, read, 0, NULL, NULL), "read");
    read[0] += step;
    expect(clEnqueueWriteBuffer(queue, weights, CL_FALSE, 0, 64, read, 0, NULL, NULL), "write");
    expect(clFinish(queue), "finish");
    printf("step %d: %d %d\n", step, read[0], read[kInts - 1]);
  }
  msl_unwatch(weights);
  clReleaseMemObject(part);
  clReleaseMemObject(weights);
  clReleaseMemObject(activations);
  clReleaseProgram(program);
  clReleaseCommandQueue(queue);
  clReleaseContext(context);
  free(pool);
  return 0;
}
