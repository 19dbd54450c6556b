// Measures the time of calls of driver.c, whose functions do almost nothing. The calls are pairs of cudaMalloc and
// cudaFree, launches, and pairs of halMemAlloc and halMemFree.
//
// If the machine has OpenCL, also measures pairs of clCreateBuffer and clReleaseMemObject. The first measurement calls
// OpenCL's loader, which msleaks hooks. The second calls the vendor's functions, which have no hooks.
//
//   usage: calls COUNT
//
// Prints `pair cpu X wall Y`: the ns of one pair of cudaMalloc and cudaFree, in processor time and in real time. The
// lines of the other calls begin with launch, hal, cl and vendor.
#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

typedef struct {
  unsigned x, y, z;
} dim3;
int cudaMalloc(void **block, size_t size), cudaFree(void *block);
int cudaLaunchKernel(const void *kernel, dim3 grid, dim3 block, void **arguments, size_t shared, void *stream);
int halMemAlloc(void **block, unsigned long long size, unsigned long long flag), halMemFree(void *block);

static double now_ns(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static void pair(void) {
  void *block;
  cudaMalloc(&block, 1000);
  cudaFree(block);
}
static void launch(void) {
  const dim3 grid = {4, 1, 1}, block = {256, 1, 1};
  cudaLaunchKernel((const void *)1, grid, block, NULL, 0, NULL);
}
static void hal_pair(void) {
  void *block;
  halMemAlloc(&block, 1000, 1ull << 10 | 3ull << 56); // flags: memory of a device, for HCCL
  halMemFree(block);
}

// OpenCL is loaded with dlopen, so the benchmark can be built without it.
static void *cl_context;
static void *(*cl_create)(void *, unsigned long, size_t, void *, int *);
static int (*cl_release)(void *);

static int begin_opencl(void) {
  void *library = dlopen("libOpenCL.so.1", RTLD_NOW), *platform = NULL, *device = NULL;
  if (library == NULL)
    return 0;
  int (*platforms)(unsigned, void **, unsigned *) =
      (int (*)(unsigned, void **, unsigned *))dlsym(library, "clGetPlatformIDs");
  int (*devices)(void *, unsigned long, unsigned, void **, unsigned *) =
      (int (*)(void *, unsigned long, unsigned, void **, unsigned *))dlsym(library, "clGetDeviceIDs");
  void *(*context)(const void *, unsigned, void **, void *, void *, int *) =
      (void *(*)(const void *, unsigned, void **, void *, void *, int *))dlsym(library, "clCreateContext");
  cl_create = (void *(*)(void *, unsigned long, size_t, void *, int *))dlsym(library, "clCreateBuffer");
  cl_release = (int (*)(void *))dlsym(library, "clReleaseMemObject");
  enum { kAllDevices = -1 };
  if (platforms(1, &platform, NULL) != 0 || devices(platform, (unsigned)kAllDevices, 1, &device, NULL) != 0)
    return 0;
  cl_context = context(NULL, 1, &device, NULL, NULL, NULL);
  return cl_context != NULL;
}
static void cl_pair(void) {
  const unsigned long kReadWrite = 1;
  cl_release(cl_create(cl_context, kReadWrite, 1000, NULL, NULL));
}

// Switches to the vendor's functions. Each OpenCL object begins with the address of a table of the vendor's functions
// (cl_icd.h).
static void begin_vendor(void) {
  enum { kCreateBuffer = 14, kReleaseMemObject = 18 };
  void *const *table = *(void *const *const *)cl_context;
  cl_create = (void *(*)(void *, unsigned long, size_t, void *, int *))table[kCreateBuffer];
  cl_release = (int (*)(void *))table[kReleaseMemObject];
}

static void measure(const char *what, void (*call)(void), long count) {
  const double cpu_ns = now_ns(CLOCK_THREAD_CPUTIME_ID), wall_ns = now_ns(CLOCK_MONOTONIC);
  for (long i = 0; i < count; ++i)
    call();
  printf("%s cpu %.3f wall %.3f\n", what, (now_ns(CLOCK_THREAD_CPUTIME_ID) - cpu_ns) / (double)count,
         (now_ns(CLOCK_MONOTONIC) - wall_ns) / (double)count);
}

int main(int argc, char **argv) {
  const long count = argc > 1 ? atol(argv[1]) : 1000000;
  measure("pair", pair, count);
  measure("launch", launch, count);
  measure("hal", hal_pair, count);
  if (begin_opencl()) {
    measure("cl", cl_pair, count / 20);
    begin_vendor();
    measure("vendor", cl_pair, count / 20);
  }
  return 0;
}
