// Creates pipes, shared virtual memory and images of OpenCL. Also retains buffers. A size identifies a block.
// "parts": creates sub-buffers, which kernels get as arguments, and an image of a buffer. "native": runs a
// function of the host as a kernel.
#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_1_APIS
#include <CL/cl.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
  kPacket = 24,
  kPackets = 100,
  kShared = 7000,
  kOwned = 300000,
  kInts = 1 << 18,
  kBytes = kInts * 4,
  kWidth = 16
};

static const char *kSource = "kernel void scale(global int *x) { x[get_global_id(0)] *= 2; }\n";

static cl_context context;
static cl_device_id device;
static cl_command_queue queue;
static cl_program program;

static void expect(cl_int status, const char *what) {
  if (status != CL_SUCCESS) {
    printf("%s: %d\n", what, status);
    exit(1);
  }
}

static cl_kernel kernel_of(const char *name) {
  cl_int status;
  cl_kernel kernel = clCreateKernel(program, name, &status);
  expect(status, name);
  return kernel;
}

static void launch(cl_kernel kernel, size_t items) {
  expect(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &items, NULL, 0, NULL, NULL), "launch");
  expect(clFinish(queue), "finish");
  clReleaseKernel(kernel);
}

static void launch_with(const char *name, cl_mem object, size_t items) {
  cl_kernel kernel = kernel_of(name);
  expect(clSetKernelArg(kernel, 0, sizeof object, &object), "argument");
  launch(kernel, items);
}

static cl_mem buffer_of(size_t bytes) {
  cl_int status;
  cl_mem buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, bytes, NULL, &status);
  expect(status, "buffer");
  return buffer;
}

// Creates a pipe and prints the status, since some drivers have no pipes.
static void pipes(void) {
  cl_int status = 0;
  cl_mem pipe = clCreatePipe(context, 0, kPacket, kPackets, NULL, &status);
  printf("the pipe: %d\n", status);
  if (pipe != NULL)
    clReleaseMemObject(pipe);
}

static void shared(void) {
  int *block = clSVMAlloc(context, CL_MEM_READ_WRITE, kShared, 0);
  int *more = clSVMAlloc(context, CL_MEM_READ_WRITE, kShared + 4, 0);
  const void *both[] = {block, more};
  cl_kernel kernel = kernel_of("scale");
  expect(clEnqueueSVMMap(queue, CL_TRUE, CL_MAP_WRITE, block, kShared, 0, NULL, NULL), "map");
  block[3] = 21;
  expect(clEnqueueSVMUnmap(queue, block, 0, NULL, NULL), "unmap");
  expect(clSetKernelArgSVMPointer(kernel, 0, block), "argument");
  expect(clSetKernelExecInfo(kernel, CL_KERNEL_EXEC_INFO_SVM_PTRS, sizeof both, both), "what it may use");
  launch(kernel, 16);
  printf("in the shared block: %d\n", block[3]);
  clSVMFree(context, block);
  clSVMFree(context, more);
}

static void images(void) {
  const cl_image_format format = {CL_RGBA, CL_UNSIGNED_INT8};
  const cl_image_desc shape = {.image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = kWidth, .image_height = 3};
  cl_int status[3];
  cl_mem made[3] = {clCreateImage2D(context, CL_MEM_READ_WRITE, &format, kWidth, 5, 0, NULL, &status[0]),
                    clCreateImage3D(context, CL_MEM_READ_WRITE, &format, kWidth, 5, 7, 0, 0, NULL, &status[1]),
                    clCreateImageWithProperties(context, NULL, CL_MEM_READ_WRITE, &format, &shape, NULL, &status[2])};
  for (int i = 0; i < 3; ++i) {
    size_t bytes = 0;
    expect(status[i], "image");
    expect(clGetMemObjectInfo(made[i], CL_MEM_SIZE, sizeof bytes, &bytes, NULL), "its size");
    printf("an image of %zu bytes\n", bytes);
    clReleaseMemObject(made[i]);
  }
}

// Retains a buffer. The buffer is alive until its second release, so it is alive when `between` is allocated.
static void owners(void) {
  cl_mem owned = buffer_of(kOwned);
  expect(clRetainMemObject(owned), "retain");
  clReleaseMemObject(owned);
  cl_mem between = buffer_of(kOwned + 1);
  clReleaseMemObject(owned);
  clReleaseMemObject(between);
  cl_mem forgotten = buffer_of(kOwned + 2); // forgotten
  expect(clRetainMemObject(forgotten), "retain");
  clReleaseMemObject(forgotten);
}

static cl_mem part_of(cl_mem whole, size_t begin, size_t bytes) {
  const cl_buffer_region region = {begin, bytes};
  cl_int status;
  cl_mem part = clCreateSubBuffer(whole, CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION, &region, &status);
  expect(status, "part");
  return part;
}

// Uses buffers only by their sub-buffers. `kept` is released before its sub-buffer. The sub-buffer of `leaked` leaks.
static void parts(void) {
  const cl_image_format format = {CL_RGBA, CL_UNSIGNED_INT8};
  const size_t origin[3] = {0, 0, 0}, extent[3] = {kWidth, 1, 1};
  const unsigned char pixels[4 * kWidth] = {1, 2, 3, 4};
  const int zero = 0;
  cl_int status;
  cl_mem used = buffer_of(2 * kBytes), filled = buffer_of(3 * kBytes), shown = buffer_of(4 * kBytes);
  cl_mem kept = buffer_of(5 * kBytes), idle = buffer_of(6 * kBytes), leaked = buffer_of(7 * kBytes);
  cl_mem half = part_of(used, kBytes, kBytes);
  launch_with("scale", half, kInts);
  expect(clRetainMemObject(half), "retain");
  clReleaseMemObject(half);
  launch_with("scale", half, kInts);
  cl_mem third = part_of(filled, 0, kBytes);
  expect(clEnqueueFillBuffer(queue, third, &zero, sizeof zero, 0, kBytes, 0, NULL, NULL), "fill");
  const cl_image_desc view = {.image_type = CL_MEM_OBJECT_IMAGE1D_BUFFER, .image_width = kWidth, .buffer = shown};
  cl_mem image = clCreateImage(context, CL_MEM_WRITE_ONLY, &format, &view, NULL, &status);
  expect(status, "an image of a buffer");
  expect(clEnqueueWriteImage(queue, image, CL_TRUE, origin, extent, 0, 0, pixels, 0, NULL, NULL), "write");
  cl_mem outlives = part_of(kept, 0, kBytes), forgotten = part_of(leaked, 0, kBytes);
  launch_with("scale", forgotten, kInts);
  clReleaseMemObject(kept);
  launch_with("scale", outlives, kInts);
  clReleaseMemObject(outlives);
  clReleaseMemObject(leaked);
  clReleaseMemObject(image);
  clReleaseMemObject(half);
  clReleaseMemObject(third);
  clReleaseMemObject(used);
  clReleaseMemObject(filled);
  clReleaseMemObject(shown);
  clReleaseMemObject(idle);
}

static void count_up(void *argument) { ++**(int **)argument; }

static void native(void) {
  int count = 0, *where = &count;
  cl_mem buffer = buffer_of(kBytes);
  launch_with("scale", buffer, kInts);
  const cl_int status = clEnqueueNativeKernel(queue, count_up, &where, sizeof where, 0, NULL, NULL, 0, NULL, NULL);
  expect(clFinish(queue), "finish");
  printf("the native kernel: %d, %d times\n", status, count);
  clReleaseMemObject(buffer);
}

int main(int argc, char **argv) {
  const char *topic = argc > 1 ? argv[1] : "";
  cl_platform_id platform;
  cl_int status;
  if (clGetPlatformIDs(1, &platform, NULL) != CL_SUCCESS ||
      clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL) != CL_SUCCESS) {
    puts("no OpenCL device");
    return 77;
  }
  context = clCreateContext(NULL, 1, &device, NULL, NULL, &status);
  expect(status, "context");
  queue = clCreateCommandQueueWithProperties(context, device, NULL, &status);
  expect(status, "queue");
  program = clCreateProgramWithSource(context, 1, &kSource, NULL, &status);
  expect(clBuildProgram(program, 1, &device, "", NULL, NULL), "build");
  if (strcmp(topic, "parts") == 0) {
    parts();
  } else if (strcmp(topic, "native") == 0) {
    native();
  } else {
    pipes();
    shared();
    images();
    owners();
  }
  clReleaseProgram(program);
  clReleaseCommandQueue(queue);
  clReleaseContext(context);
  return 0;
}
