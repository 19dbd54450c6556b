// Creates two images, a buffer with properties, and an image of this buffer. Prints the sizes of the images and the
// buffer, as OpenCL reports them. Leaks one image. Also creates a plain buffer, which is larger than these objects.
#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl.h>

#include <stdio.h>
#include <string.h>

enum { kWidth = 60, kHeight = 40, kBytes = kWidth * kHeight * 4, kBuffer = 4096, kLarge = 256 << 20 };

static cl_context context;
static cl_command_queue queue;

static void expect(cl_int status, const char *what) {
  if (status != CL_SUCCESS)
    printf("%s: %d\n", what, status);
}

static void say(const char *what, cl_mem object) {
  size_t bytes = 0;
  clGetMemObjectInfo(object, CL_MEM_SIZE, sizeof bytes, &bytes, NULL);
  printf("%s has %zu bytes\n", what, bytes);
}

static cl_mem image_of(cl_mem buffer) {
  const cl_image_format format = {CL_RGBA, CL_UNSIGNED_INT8};
  const cl_image_desc plain = {.image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = kWidth, .image_height = kHeight};
  const cl_image_desc view = {.image_type = CL_MEM_OBJECT_IMAGE1D_BUFFER, .image_width = 16, .buffer = buffer};
  cl_int status = 0;
  cl_mem image =
      clCreateImage(context, CL_MEM_READ_WRITE, &format, buffer != NULL ? &view : &plain, NULL, &status);
  expect(status, "image");
  return image;
}

static void fill(cl_mem image) {
  static unsigned char pixels[kBytes], read[kBytes];
  const size_t origin[3] = {0, 0, 0}, region[3] = {kWidth, kHeight, 1};
  memset(pixels, 7, sizeof pixels);
  expect(clEnqueueWriteImage(queue, image, CL_TRUE, origin, region, 0, 0, pixels, 0, NULL, NULL), "write");
  expect(clEnqueueReadImage(queue, image, CL_TRUE, origin, region, 0, 0, read, 0, NULL, NULL), "read");
  printf("read %s\n", memcmp(pixels, read, sizeof read) == 0 ? "what was written" : "something else");
}

// Uses a large buffer, since the driver allocates a buffer's memory at the first use.
static void use_large(void) {
  const int zero = 0;
  cl_int status;
  cl_mem large = clCreateBuffer(context, CL_MEM_READ_WRITE, kLarge, NULL, &status);
  expect(status, "large buffer");
  expect(clEnqueueFillBuffer(queue, large, &zero, sizeof zero, 0, 4096, 0, NULL, NULL), "fill");
  expect(clFinish(queue), "finish");
  clReleaseMemObject(large);
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
  queue = clCreateCommandQueueWithProperties(context, device, NULL, &status);
  expect(status, "queue");
  cl_mem used = image_of(NULL), forgotten = image_of(NULL);
  cl_mem buffer = clCreateBufferWithProperties(context, NULL, CL_MEM_READ_WRITE, kBuffer, NULL, &status);
  expect(status, "buffer");
  cl_mem view = image_of(buffer);
  say("the image", used);
  say("the forgotten image", forgotten);
  say("the buffer", buffer);
  fill(used);
  if (view != NULL)
    clReleaseMemObject(view);
  clReleaseMemObject(buffer);
  clReleaseMemObject(used);
  use_large();
  clReleaseCommandQueue(queue);
  clReleaseContext(context);
  return 0;
}
