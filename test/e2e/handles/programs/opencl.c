// Creates each kind of OpenCL's reference-counted objects, by each function that creates one. N objects of a line
// with the comment `forgets KIND N` are never released. With `mended` the program releases all objects.
#define CL_TARGET_OPENCL_VERSION 300
// clang-format off: a call and its comment must be in one line
#include <CL/cl.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kBytes = 4096, kWidth = 16 };

static int mended;
static cl_platform_id platform;
static cl_device_id device;
static cl_context context;
static cl_command_queue queue;
static cl_mem buffer, other, image, picture;

static void expect(cl_int status, const char *what) {
  if (status != CL_SUCCESS) {
    printf("%s: %d\n", what, status);
    exit(1);
  }
}

static void keep_event(cl_event event) {
  if (event == NULL) {
    puts("no event");
    exit(1);
  }
  clWaitForEvents(1, &event);
  if (mended)
    clReleaseEvent(event);
}

static void contexts(void) {
  cl_int status;
  const cl_context_properties properties[] = {CL_CONTEXT_PLATFORM, (cl_context_properties)platform, 0};
  cl_context one = clCreateContext(properties, 1, &device, NULL, NULL, &status); // forgets cl_context 1
  expect(status, "a context");
  cl_context two = clCreateContextFromType(properties, CL_DEVICE_TYPE_ALL, NULL, NULL, &status); // forgets cl_context 1
  expect(status, "a context by type");
  clRetainContext(one);
  clReleaseContext(one);
  if (mended) {
    clReleaseContext(one);
    clReleaseContext(two);
  }
  cl_context none = clCreateContext(NULL, 0, NULL, NULL, NULL, &status);
  printf("a context without a device: %d\n", none == NULL && status == CL_INVALID_VALUE);
}

static void queues(void) {
  cl_int status;
  for (int i = 0; i < 3; ++i) {
    cl_command_queue made = clCreateCommandQueue(context, device, 0, &status); // forgets cl_command_queue 2
    expect(status, "a queue");
    clRetainCommandQueue(made);
    clReleaseCommandQueue(made);
    if (mended || i == 1)
      clReleaseCommandQueue(made);
  }
  cl_command_queue made = clCreateCommandQueueWithProperties(context, device, NULL, NULL); // forgets cl_command_queue 1
  if (mended)
    clReleaseCommandQueue(made);
}

static void release_program(cl_program program) {
  if (mended && program != NULL)
    clReleaseProgram(program);
}

static void programs(void) {
  cl_int status;
  const char *text = "kernel void a(global int *x) { x[0] = 1; } kernel void b(global int *x) { x[0] = 2; }";
  cl_program program = clCreateProgramWithSource(context, 1, &text, NULL, &status); // forgets cl_program 1
  expect(status, "a program");
  expect(clBuildProgram(program, 1, &device, "", NULL, NULL), "its build");
  cl_kernel kernel = clCreateKernel(program, "a", &status); // forgets cl_kernel 1
  expect(status, "a kernel");
  clRetainKernel(kernel);
  clReleaseKernel(kernel);
  if (clCreateKernel(program, "none", &status) != NULL)
    exit(1);
  cl_kernel copy = clCloneKernel(kernel, &status); // forgets cl_kernel 1
  if (status != CL_SUCCESS)
    copy = clCreateKernel(program, "a", &status);
  cl_kernel all[2], more[2];
  cl_uint count = 0;
  expect(clCreateKernelsInProgram(program, 2, all, &count), "kernels"); // forgets cl_kernel 2
  expect(clCreateKernelsInProgram(program, 2, more, NULL), "kernels");
  clReleaseKernel(more[0]);
  clReleaseKernel(more[1]);
  printf("%u kernels\n", count);
  cl_event event = NULL;
  const size_t one = 1;
  expect(clSetKernelArg(kernel, 0, sizeof buffer, &buffer), "its argument");
  expect(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &one, NULL, 0, NULL, &event), "a launch"); // forgets cl_event 1
  keep_event(event);
  expect(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &one, NULL, 0, NULL, NULL), "a launch without");
  expect(clEnqueueTask(queue, kernel, 0, NULL, &event), "a task"); // forgets cl_event 1
  keep_event(event);
  size_t bytes = 0;
  unsigned char *binary;
  expect(clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof bytes, &bytes, NULL), "the size of the binary");
  binary = malloc(bytes);
  expect(clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof binary, &binary, NULL), "the binary");
  const unsigned char *given = binary;
  cl_program again = clCreateProgramWithBinary(context, 1, &device, &bytes, &given, NULL, &status); // forgets cl_program 1
  expect(status, "a program of a binary");
  free(binary);
  cl_program library = clCreateProgramWithSource(context, 1, &text, NULL, &status);
  expect(clCompileProgram(library, 1, &device, "", 0, NULL, NULL, NULL, NULL), "a compilation");
  cl_program linked = clLinkProgram(context, 1, &device, "", 1, &library, NULL, NULL, &status); // forgets cl_program 1
  expect(status, "a link");
  char names[4096] = "";
  clGetDeviceInfo(device, CL_DEVICE_BUILT_IN_KERNELS, sizeof names, names, NULL);
  names[strcspn(names, ";")] = 0;
  cl_program built_in = names[0] != 0 ? clCreateProgramWithBuiltInKernels(context, 1, &device, names, &status) : clCreateProgramWithSource(context, 1, &text, NULL, &status); // forgets cl_program 1
  expect(status, "a program of the device's own kernels");
  release_program(built_in);
  clReleaseProgram(library);
  clRetainProgram(again);
  clReleaseProgram(again);
  if (mended) {
    clReleaseKernel(kernel);
    clReleaseKernel(copy);
    clReleaseKernel(all[0]);
    clReleaseKernel(all[1]);
  }
  release_program(program);
  release_program(again);
  release_program(linked);
}

// Creates programs from words that begin with the magic number of SPIR-V, and tries words with a wrong number.
static void programs_of_words(void) {
  const unsigned words[] = {0x07230203, 0x00010000, 0, 1, 0}, none[] = {1, 2, 3, 4, 5};
  cl_int status;
  for (int i = 0; i < 3; ++i) {
    cl_program made = clCreateProgramWithIL(context, words, sizeof words, &status); // forgets cl_program 2
    expect(status, "a program of SPIR-V");
    if (mended || i == 1)
      clReleaseProgram(made);
  }
  printf("a program of other words: %d\n", clCreateProgramWithIL(context, none, sizeof none, &status) == NULL);
}

static void samplers(void) {
  cl_int status;
  cl_sampler one = clCreateSampler(context, CL_FALSE, CL_ADDRESS_CLAMP, CL_FILTER_NEAREST, &status); // forgets cl_sampler 1
  expect(status, "a sampler");
  const cl_sampler_properties properties[] = {CL_SAMPLER_NORMALIZED_COORDS, CL_FALSE, 0};
  cl_sampler two = clCreateSamplerWithProperties(context, properties, &status); // forgets cl_sampler 1
  expect(status, "a sampler with properties");
  clRetainSampler(one);
  clReleaseSampler(one);
  if (mended) {
    clReleaseSampler(one);
    clReleaseSampler(two);
  }
}

static void memory_objects(void) {
  cl_int status;
  const cl_image_format format = {CL_RGBA, CL_UNSIGNED_INT8};
  const cl_image_desc flat = {.image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = kWidth, .image_height = kWidth};
  buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, kBytes, NULL, &status);
  other = clCreateBuffer(context, CL_MEM_READ_WRITE, kBytes, NULL, &status);
  image = clCreateImage(context, CL_MEM_READ_WRITE, &format, &flat, NULL, &status);
  picture = clCreateImage(context, CL_MEM_READ_WRITE, &format, &flat, NULL, &status);
  expect(status, "an image");
}

static void buffer_events(void) {
  static char host[kBytes];
  const size_t at[3] = {0, 0, 0}, region[3] = {8, 8, 1};
  const char zero = 0;
  cl_event event = NULL;
  cl_int status;
  expect(clEnqueueWriteBuffer(queue, buffer, CL_TRUE, 0, kBytes, host, 0, NULL, &event), "write"); // forgets cl_event 1
  keep_event(event);
  expect(clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, kBytes, host, 0, NULL, &event), "read"); // forgets cl_event 1
  keep_event(event);
  expect(clEnqueueCopyBuffer(queue, buffer, other, 0, 0, kBytes, 0, NULL, &event), "copy"); // forgets cl_event 1
  keep_event(event);
  expect(clEnqueueFillBuffer(queue, buffer, &zero, 1, 0, kBytes, 0, NULL, &event), "fill"); // forgets cl_event 1
  keep_event(event);
  expect(clEnqueueWriteBufferRect(queue, buffer, CL_TRUE, at, at, region, 8, 0, 8, 0, host, 0, NULL, &event), "wr"); // forgets cl_event 1
  keep_event(event);
  expect(clEnqueueReadBufferRect(queue, buffer, CL_TRUE, at, at, region, 8, 0, 8, 0, host, 0, NULL, &event), "rr"); // forgets cl_event 1
  keep_event(event);
  expect(clEnqueueCopyBufferRect(queue, buffer, other, at, at, region, 8, 0, 8, 0, 0, NULL, &event), "cr"); // forgets cl_event 1
  keep_event(event);
  void *mapped = clEnqueueMapBuffer(queue, buffer, CL_TRUE, CL_MAP_READ, 0, kBytes, 0, NULL, &event, &status); // forgets cl_event 1
  expect(status, "map");
  keep_event(event);
  expect(clEnqueueUnmapMemObject(queue, buffer, mapped, 0, NULL, &event), "unmap"); // forgets cl_event 1
  keep_event(event);
  expect(clEnqueueMigrateMemObjects(queue, 1, &buffer, 0, 0, NULL, &event), "migrate"); // forgets cl_event 1
  keep_event(event);
  expect(clEnqueueMarker(queue, &event), "marker"); // forgets cl_event 1
  keep_event(event);
  expect(clEnqueueMarkerWithWaitList(queue, 0, NULL, &event), "marker with a list"); // forgets cl_event 1
  keep_event(event);
  expect(clEnqueueBarrierWithWaitList(queue, 0, NULL, &event), "barrier"); // forgets cl_event 1
  keep_event(event);
  expect(clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, kBytes, host, 0, NULL, NULL), "read without an event");
  printf("a read that is refused: %d\n", clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, 2 * kBytes, host, 0, NULL, &event));
}

static void image_events(void) {
  static unsigned char pixels[kWidth * kWidth * 4];
  const size_t at[3] = {0, 0, 0}, region[3] = {kWidth, kWidth, 1};
  const cl_uint color[4] = {1, 2, 3, 4};
  size_t pitch;
  cl_event event = NULL;
  cl_int status;
  expect(clEnqueueWriteImage(queue, image, CL_TRUE, at, region, 0, 0, pixels, 0, NULL, &event), "write"); // forgets cl_event 1
  keep_event(event);
  expect(clEnqueueReadImage(queue, image, CL_TRUE, at, region, 0, 0, pixels, 0, NULL, &event), "read"); // forgets cl_event 1
  keep_event(event);
  expect(clEnqueueCopyImage(queue, image, picture, at, at, region, 0, NULL, &event), "copy"); // forgets cl_event 1
  keep_event(event);
  expect(clEnqueueFillImage(queue, image, color, at, region, 0, NULL, &event), "fill"); // forgets cl_event 1
  keep_event(event);
  expect(clEnqueueCopyImageToBuffer(queue, image, buffer, at, region, 0, 0, NULL, &event), "to a buffer"); // forgets cl_event 1
  keep_event(event);
  expect(clEnqueueCopyBufferToImage(queue, buffer, image, 0, at, region, 0, NULL, &event), "to an image"); // forgets cl_event 1
  keep_event(event);
  void *mapped = clEnqueueMapImage(queue, image, CL_TRUE, CL_MAP_READ, at, region, &pitch, NULL, 0, NULL, &event, &status); // forgets cl_event 1
  expect(status, "map");
  keep_event(event);
  expect(clEnqueueUnmapMemObject(queue, image, mapped, 0, NULL, NULL), "unmap");
}

static void svm_events(void) {
  cl_event event = NULL;
  const char zero = 0;
  char *one = clSVMAlloc(context, CL_MEM_READ_WRITE, kBytes, 0), *two = clSVMAlloc(context, CL_MEM_READ_WRITE, kBytes, 0);
  expect(clEnqueueSVMMap(queue, CL_TRUE, CL_MAP_WRITE, one, kBytes, 0, NULL, &event), "map"); // forgets cl_event 1
  keep_event(event);
  expect(clEnqueueSVMUnmap(queue, one, 0, NULL, &event), "unmap"); // forgets cl_event 1
  keep_event(event);
  expect(clEnqueueSVMMemFill(queue, one, &zero, 1, kBytes, 0, NULL, &event), "fill"); // forgets cl_event 1
  keep_event(event);
  expect(clEnqueueSVMMemcpy(queue, CL_TRUE, two, one, kBytes, 0, NULL, &event), "copy"); // forgets cl_event 1
  keep_event(event);
  const void *both[] = {one, two};
  expect(clEnqueueSVMMigrateMem(queue, 2, both, NULL, 0, 0, NULL, &event), "migrate"); // forgets cl_event 1
  keep_event(event);
  void *freed[] = {two};
  expect(clEnqueueSVMFree(queue, 1, freed, NULL, NULL, 0, NULL, &event), "free"); // forgets cl_event 1
  keep_event(event);
  clSVMFree(context, one);
}

static void user_events(void) {
  cl_int status;
  for (int i = 0; i < 4; ++i) {
    cl_event event = clCreateUserEvent(context, &status); // forgets cl_event 3
    expect(status, "an event");
    clSetUserEventStatus(event, CL_COMPLETE);
    clRetainEvent(event);
    clReleaseEvent(event);
    if (mended || i == 0)
      clReleaseEvent(event);
  }
}

int main(int argc, char **argv) {
  cl_int status;
  mended = argc > 1 && strcmp(argv[1], "mended") == 0;
  if (clGetPlatformIDs(1, &platform, NULL) != CL_SUCCESS ||
      clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL) != CL_SUCCESS) {
    puts("no OpenCL device");
    return 77;
  }
  context = clCreateContext(NULL, 1, &device, NULL, NULL, &status);
  expect(status, "context");
  queue = clCreateCommandQueueWithProperties(context, device, NULL, &status);
  expect(status, "queue");
  memory_objects();
  contexts();
  queues();
  programs();
  programs_of_words();
  samplers();
  buffer_events();
  image_events();
  svm_events();
  user_events();
  clFinish(queue);
  clReleaseMemObject(buffer);
  clReleaseMemObject(other);
  clReleaseMemObject(image);
  clReleaseMemObject(picture);
  clReleaseCommandQueue(queue);
  clReleaseContext(context);
  return 0;
}
