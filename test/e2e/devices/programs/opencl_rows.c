// Calls once each OpenCL function in msleaks' table of functions, and makes some refused calls. It creates
// all objects before it releases one, so no two objects have the same handle. Prints OpenCL's results.
#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_1_APIS
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

enum {
  kInts = 1024,
  kBytes = kInts * 4,
  kPart = kBytes / 4,
  kShared = 8192,
  kWidth = 16,
  kPixels = kWidth * kWidth * 4,
  kPacket = 4,
  kPackets = 300
};

static const char *kSource = "kernel void add(global int *to, global const int *from, int by) {\n"
                             "  to[get_global_id(0)] += from[get_global_id(0)] + by;\n"
                             "}\n"
                             "kernel void twice(global int *x, local int *spare) { x[get_global_id(0)] *= 2; }\n"
                             "kernel void paint(write_only image2d_t to, sampler_t unused) {\n"
                             "  write_imageui(to, (int2)(get_global_id(0), get_global_id(1)), (uint4)(9));\n"
                             "}\n";

static cl_context context;
static cl_command_queue queue;
static cl_program program;
static cl_sampler sampler;
static cl_mem first, second, given, part, pipe_of_ints, picture, copy, view, flat, deep;
static int *shared, *other, *third, *last;
static cl_kernel add, twice, paint, cloned;
static int numbers[kInts];
static unsigned char pixels[kPixels];
static const size_t kBegin[3] = {0, 0, 0};

static void expect(cl_int status, const char *what) {
  if (status != CL_SUCCESS) {
    printf("%s: %d\n", what, status);
    exit(1);
  }
}

static void expect_refused(cl_int status, const char *what) {
  if (status == CL_SUCCESS) {
    printf("%s: is not refused\n", what);
    exit(1);
  }
}

static void make_buffers(void) {
  cl_int status;
  const cl_buffer_region quarter = {kPart, kPart};
  first = clCreateBuffer(context, CL_MEM_READ_WRITE, kBytes, NULL, &status);
  expect(status, "a buffer");
  second = clCreateBuffer(context, CL_MEM_READ_WRITE, kBytes + 4, NULL, &status);
  expect(status, "a second buffer");
  given = clCreateBufferWithProperties(context, NULL, CL_MEM_USE_HOST_PTR, kBytes, numbers, &status);
  expect(status, "a buffer of the host's memory");
  part = clCreateSubBuffer(first, CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION, &quarter, &status);
  expect(status, "a part");
  pipe_of_ints = clCreatePipe(context, 0, kPacket, kPackets, NULL, &status);
  expect(status, "a pipe");
  clCreateBuffer(context, CL_MEM_READ_WRITE, 0, NULL, &status);
  expect_refused(status, "a buffer of nothing");
}

static void make_images(void) {
  const cl_image_format format = {CL_RGBA, CL_UNSIGNED_INT8};
  const cl_image_desc square = {.image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = kWidth, .image_height = kWidth};
  const cl_image_desc row = {.image_type = CL_MEM_OBJECT_IMAGE1D_BUFFER, .image_width = kWidth, .buffer = second};
  cl_int status;
  errno = 0;
  picture = clCreateImage(context, CL_MEM_READ_WRITE, &format, &square, NULL, &status);
  expect(status, "an image");
  copy = clCreateImageWithProperties(context, NULL, CL_MEM_READ_WRITE, &format, &square, NULL, &status);
  expect(status, "an image with properties");
  view = clCreateImage(context, CL_MEM_READ_WRITE, &format, &row, NULL, &status);
  expect(status, "an image of a buffer");
  flat = clCreateImage2D(context, CL_MEM_READ_WRITE, &format, kWidth, 2, 0, NULL, &status);
  expect(status, "a flat image");
  deep = clCreateImage3D(context, CL_MEM_READ_WRITE, &format, kWidth, 2, 3, 0, 0, NULL, &status);
  expect(status, "a deep image");
  printf("errno is EDOM: %d\n", errno == EDOM);
}

static cl_kernel kernel_of(const char *name) {
  cl_int status;
  cl_kernel kernel = clCreateKernel(program, name, &status);
  expect(status, name);
  return kernel;
}

static void make_shared(void) {
  shared = clSVMAlloc(context, CL_MEM_READ_WRITE, kShared, 0);
  other = clSVMAlloc(context, CL_MEM_READ_WRITE, kShared + 4, 0);
  third = clSVMAlloc(context, CL_MEM_READ_WRITE, kShared + 8, 0);
  last = clSVMAlloc(context, CL_MEM_READ_WRITE, kShared + 12, 0);
}

static void copies(void) {
  const int zero = 0;
  expect(clEnqueueWriteBuffer(queue, first, CL_TRUE, 0, kBytes, numbers, 0, NULL, NULL), "write");
  expect(clEnqueueReadBuffer(queue, first, CL_TRUE, 0, kBytes, numbers, 0, NULL, NULL), "read");
  expect(clEnqueueCopyBuffer(queue, first, second, 0, 0, kPart, 0, NULL, NULL), "copy");
  expect(clEnqueueFillBuffer(queue, part, &zero, sizeof zero, 0, kPart, 0, NULL, NULL), "fill");
  expect_refused(clEnqueueReadBuffer(queue, first, CL_TRUE, 1, kBytes, numbers, 0, NULL, NULL), "a read beyond it");
  expect_refused(clEnqueueFillBuffer(queue, first, &zero, sizeof zero, 0, 2 * kBytes, 0, NULL, NULL), "such a fill");
}

static void rectangles(void) {
  const size_t region[3] = {8, 8, 1};
  expect(clEnqueueWriteBufferRect(queue, first, CL_TRUE, kBegin, kBegin, region, 8, 0, 8, 0, numbers, 0, NULL, NULL),
         "write a rectangle");
  expect(clEnqueueReadBufferRect(queue, second, CL_TRUE, kBegin, kBegin, region, 8, 0, 8, 0, numbers, 0, NULL, NULL),
         "read a rectangle");
  expect(clEnqueueCopyBufferRect(queue, first, second, kBegin, kBegin, region, 8, 0, 8, 0, 0, NULL, NULL),
         "copy a rectangle");
}

static void images(void) {
  const size_t region[3] = {kWidth, kWidth, 1};
  const cl_uint color[4] = {1, 2, 3, 4};
  expect(clEnqueueWriteImage(queue, picture, CL_TRUE, kBegin, region, 0, 0, pixels, 0, NULL, NULL), "write an image");
  expect(clEnqueueReadImage(queue, copy, CL_TRUE, kBegin, region, 0, 0, pixels, 0, NULL, NULL), "read an image");
  expect(clEnqueueCopyImage(queue, picture, copy, kBegin, kBegin, region, 0, NULL, NULL), "copy an image");
  expect(clEnqueueFillImage(queue, picture, color, kBegin, region, 0, NULL, NULL), "fill an image");
  expect(clEnqueueCopyImageToBuffer(queue, picture, first, kBegin, region, 0, 0, NULL, NULL), "an image to a buffer");
  expect(clEnqueueCopyBufferToImage(queue, first, copy, 0, kBegin, region, 0, NULL, NULL), "a buffer to an image");
}

static void map_buffer(cl_map_flags flags) {
  cl_int status;
  void *mapped = clEnqueueMapBuffer(queue, second, CL_TRUE, flags, 0, kBytes, 0, NULL, NULL, &status);
  expect(status, "map a buffer");
  expect(clEnqueueUnmapMemObject(queue, second, mapped, 0, NULL, NULL), "unmap it");
}

static void map_image(cl_map_flags flags) {
  const size_t region[3] = {kWidth, kWidth, 1};
  size_t pitch;
  cl_int status;
  void *mapped =
      clEnqueueMapImage(queue, picture, CL_TRUE, flags, kBegin, region, &pitch, NULL, 0, NULL, NULL, &status);
  expect(status, "map an image");
  expect(clEnqueueUnmapMemObject(queue, picture, mapped, 0, NULL, NULL), "unmap it");
}

static void map_shared(cl_map_flags flags) {
  expect(clEnqueueSVMMap(queue, CL_TRUE, flags, other, kShared, 0, NULL, NULL), "map shared memory");
  expect(clEnqueueSVMUnmap(queue, other, 0, NULL, NULL), "unmap it");
}

static void maps(void) {
  const cl_map_flags flags[] = {CL_MAP_READ, CL_MAP_WRITE, CL_MAP_READ | CL_MAP_WRITE, CL_MAP_WRITE_INVALIDATE_REGION};
  for (int i = 0; i < 4; ++i) {
    map_buffer(flags[i]);
    map_image(flags[i]);
    map_shared(flags[i]);
  }
}

static void shared_copies(void) {
  const int one = 1;
  expect(clEnqueueSVMMemFill(queue, shared, &one, sizeof one, kShared, 0, NULL, NULL), "fill shared memory");
  expect(clEnqueueSVMMemcpy(queue, CL_TRUE, other, shared, kShared, 0, NULL, NULL), "copy shared memory");
  printf("copied: %d\n", other[kInts]);
}

static void launches(void) {
  const size_t items = 64, square[4] = {kWidth, kWidth, 1, 1}, groups[2] = {8, 4};
  const int by = 3;
  cl_int status;
  add = kernel_of("add"), twice = kernel_of("twice"), paint = kernel_of("paint");
  expect(clSetKernelArg(add, 0, sizeof first, &first), "argument");
  expect(clSetKernelArg(add, 1, sizeof second, &second), "argument");
  expect(clSetKernelArg(add, 2, sizeof by, &by), "argument");
  expect(clEnqueueNDRangeKernel(queue, add, 1, NULL, &items, NULL, 0, NULL, NULL), "launch");
  cloned = clCloneKernel(add, &status);
  expect(status, "another such kernel");
  expect(clSetKernelArg(cloned, 0, sizeof given, &given), "argument");
  expect(clEnqueueNDRangeKernel(queue, cloned, 1, NULL, &items, &items, 0, NULL, NULL), "launch of that");
  expect(clSetKernelArg(twice, 0, sizeof part, &part), "argument");
  expect(clSetKernelArg(twice, 1, 256, NULL), "argument"); // not for `cloned`: PoCL 3.1 loses a clone's local memory
  expect(clEnqueueTask(queue, twice, 0, NULL, NULL), "task");
  expect(clSetKernelArgSVMPointer(twice, 0, shared), "argument");
  expect(clEnqueueNDRangeKernel(queue, twice, 1, NULL, &items, NULL, 0, NULL, NULL), "launch with shared memory");
  expect(clSetKernelArg(paint, 0, sizeof copy, &copy), "argument");
  expect(clSetKernelArg(paint, 1, sizeof sampler, &sampler), "argument");
  expect(clEnqueueNDRangeKernel(queue, paint, 2, NULL, square, groups, 0, NULL, NULL), "launch with an image");
  expect_refused(clSetKernelArg(paint, 7, sizeof copy, &copy), "argument 7");
  expect_refused(clEnqueueNDRangeKernel(queue, paint, 4, NULL, square, NULL, 0, NULL, NULL), "four dimensions");
  expect(clFinish(queue), "finish");
  printf("in shared memory: %d\n", shared[0]);
}

static void count_up(void *argument) { ++**(int **)argument; }

// Runs a function of the host as a kernel. msleaks cannot find out which memory it uses. Some drivers refuse the call.
static void native(void) {
  int count = 0, *where = &count;
  clEnqueueNativeKernel(queue, count_up, &where, sizeof where, 0, NULL, NULL, 0, NULL, NULL);
  expect(clFinish(queue), "finish");
}

static void CL_CALLBACK give_back(cl_command_queue of, cl_uint count, void **blocks, void *user) {
  (void)of;
  for (cl_uint i = 0; i < count; ++i)
    clSVMFree(user, blocks[i]);
}

static void free_shared(void) {
  void *both[] = {shared, NULL, other}, *one[] = {third};
  expect_refused(clEnqueueSVMFree(queue, 3, both, NULL, NULL, 1, NULL, NULL), "frees behind no event");
  expect_refused(clEnqueueSVMFree(queue, 1, NULL, NULL, NULL, 0, NULL, NULL), "frees of no list");
  both[1] = other;
  expect(clEnqueueSVMFree(queue, 2, both, NULL, NULL, 0, NULL, NULL), "frees");
  expect(clEnqueueSVMFree(queue, 1, one, give_back, context, 0, NULL, NULL), "frees by a function");
  expect(clFinish(queue), "finish");
  clSVMFree(context, last);
}

// Releases all objects. `second` was retained, so only its second release frees it.
static void release(void) {
  cl_mem objects[] = {part, first, view, second, given, pipe_of_ints, picture, copy, flat, deep};
  expect(clRetainMemObject(second), "retain");
  expect(clReleaseMemObject(second), "release");
  for (size_t i = 0; i < sizeof objects / sizeof *objects; ++i)
    expect(clReleaseMemObject(objects[i]), "release");
  clReleaseKernel(add);
  clReleaseKernel(cloned);
  clReleaseKernel(twice);
  clReleaseKernel(paint);
  clReleaseSampler(sampler);
  clReleaseProgram(program);
  clReleaseCommandQueue(queue);
  clReleaseContext(context);
}

int main(void) {
  cl_platform_id platform;
  cl_device_id device;
  cl_int status;
  if (clGetPlatformIDs(1, &platform, NULL) != CL_SUCCESS ||
      clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL) != CL_SUCCESS) {
    puts("no OpenCL device");
    return 77;
  }
  context = clCreateContext(NULL, 1, &device, NULL, NULL, &status);
  expect(status, "context");
  queue = clCreateCommandQueue(context, device, 0, &status);
  expect(status, "queue");
  program = clCreateProgramWithSource(context, 1, &kSource, NULL, &status);
  expect(clBuildProgram(program, 1, &device, "", NULL, NULL), "build");
  sampler = clCreateSampler(context, CL_FALSE, CL_ADDRESS_CLAMP, CL_FILTER_NEAREST, &status);
  expect(status, "a sampler");
  make_buffers();
  make_images();
  make_shared();
  copies();
  rectangles();
  images();
  maps();
  shared_copies();
  launches();
  native();
  free_shared();
  release();
  return 0;
}
