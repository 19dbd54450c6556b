// Calls CUDA's driver as a program does, and as a statically linked runtime library does. The program allocates blocks
// in contexts of two devices. Some functions are found by name, with and without a default stream for each thread. The
// size of a block identifies it. With "mended" the program leaks nothing.
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

typedef unsigned long long CUdeviceptr;
int cuCtxCreate_v2(void **made, unsigned flags, int device);
int cuCtxCreate_v4(void **made, void *how, unsigned flags, int device);
int cuCtxDestroy_v2(void *context);
int cuCtxSetCurrent(void *context);
int cuCtxPushCurrent_v2(void *context);
int cuCtxPopCurrent_v2(void **context);
int cuMemAlloc_v2(CUdeviceptr *block, size_t bytes);
int cuMemAllocPitch_v2(CUdeviceptr *block, size_t *pitch, size_t width, size_t height, unsigned element);
int cuMemAllocAsync_ptsz(CUdeviceptr *block, size_t bytes, void *stream);
int cuMemAllocFromPoolAsync(CUdeviceptr *block, size_t bytes, void *pool, void *stream);
int cuMemAllocFromPoolAsync_ptsz(CUdeviceptr *block, size_t bytes, void *pool, void *stream);
int cuMemAllocManaged(CUdeviceptr *block, size_t bytes, unsigned flags);
int cuMemAllocHost_v2(void **block, size_t bytes);
int cuMemHostAlloc(void **block, size_t bytes, unsigned flags);
int cuMemFreeHost(void *block);
int cuMemFree_v2(CUdeviceptr block);
int cuMemFreeAsync(CUdeviceptr block, void *stream);
int cuMemFreeAsync_ptsz(CUdeviceptr block, void *stream);
int cuLaunchKernel_ptsz(void *kernel, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                        unsigned shared, void *stream, void **arguments, void **extra);
int cuLaunchKernelEx_ptsz(const void *config, void *kernel, void **arguments, void **extra);
int cuLaunchCooperativeKernel_ptsz(void *kernel, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                                   unsigned bz, unsigned shared, void *stream, void **arguments);
int cuLaunchKernelEx(const void *config, void *kernel, void **arguments, void **extra);
int cuLaunchCooperativeKernel(void *kernel, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                              unsigned bz, unsigned shared, void *stream, void **arguments);
int cuModuleUnload(void *module);
int cuModuleGetFunction(void **function, void *module, const char *name);
int cuGetProcAddress(const char *name, void **function, int version, unsigned long long flags);
int cuGetProcAddress_v2(const char *name, void **function, int version, unsigned long long flags, int *outcome);

static int mended;

static void expect(int status, int wanted, const char *what) {
  if (status != wanted)
    printf("%s: %d, not %d\n", what, status, wanted);
}

static void block(size_t bytes) {
  CUdeviceptr made = 0;
  expect(cuMemAlloc_v2(&made, bytes), 0, "block");
  expect(cuMemFree_v2(made), 0, "free");
}

static void *other_thread(void *first) {
  CUdeviceptr forgotten;
  expect(cuMemAlloc_v2(&forgotten, 7), 201, "block without a context");
  expect(cuCtxSetCurrent(first), 0, "context of another thread");
  block(1000);
  return NULL;
}

static void contexts(void) {
  void *first, *second, *popped = NULL;
  pthread_t thread;
  CUdeviceptr forgotten;
  expect(cuCtxCreate_v2(&first, 0, 7), 1, "context of no device");
  expect(cuCtxCreate_v2(&first, 0, 0), 0, "context");
  expect(cuCtxCreate_v4(&second, NULL, 0, 1), 0, "context");
  block(1001); // allocated on device 1
  expect(cuCtxPushCurrent_v2(first), 0, "push");
  block(1002); // allocated on device 0
  expect(cuCtxPopCurrent_v2(&popped), 0, "pop");
  expect(popped == first, 1, "what was popped");
  block(1003);                                         // allocated on device 1
  expect(cuMemAlloc_v2(&forgotten, 1004), 0, "block"); // forgotten
  pthread_create(&thread, NULL, other_thread, first);  // allocates on device 0
  pthread_join(thread, NULL);
  if (mended)
    expect(cuMemFree_v2(forgotten), 0, "free");
  expect(cuCtxDestroy_v2(second), 0, "end of the context");
  block(1005); // allocated on device 0
}

static void blocks(void) {
  CUdeviceptr made;
  size_t pitch;
  expect(cuMemAllocPitch_v2(&made, &pitch, 100, 20, 4), 0, "rows");
  expect(cuMemFree_v2(made), 0, "free");
  expect(cuMemAllocAsync_ptsz(&made, 2001, NULL), 0, "block");
  expect(cuMemFreeAsync_ptsz(made, NULL), 0, "free");
  expect(cuMemAllocFromPoolAsync(&made, 2002, NULL, NULL), 0, "block of a pool");
  expect(cuMemFreeAsync(made, NULL), 0, "free");
  expect(cuMemAllocFromPoolAsync_ptsz(&made, 2003, NULL, NULL), 0, "block of a pool");
  expect(cuMemFreeAsync_ptsz(made, NULL), 0, "free");
  void *host;
  expect(cuMemAllocManaged(&made, 2004, 1), 0, "managed");
  expect(cuMemFree_v2(made), 0, "free");
  expect(cuMemAllocHost_v2(&host, 2005), 0, "pinned");
  expect(cuMemFreeHost(host), 0, "free");
  expect(cuMemHostAlloc(&host, 2006, 0), 0, "pinned");
  expect(cuMemFreeHost(host), 0, "free");
}

static void launches(void) {
  const unsigned config[16] = {2, 1, 1, 3, 1, 1}, other[16] = {7, 1, 1, 3, 1, 1};
  void *scale, *shift;
  expect(cuLaunchKernel_ptsz((void *)launches, 4, 1, 1, 8, 1, 1, 0, NULL, NULL, NULL), 0, "launch");
  expect(cuLaunchKernelEx_ptsz(config, (void *)launches, NULL, NULL), 0, "launch");
  expect(cuLaunchCooperativeKernel_ptsz((void *)launches, 5, 1, 1, 8, 1, 1, 0, NULL, NULL), 0, "launch");
  expect(cuModuleGetFunction(&scale, NULL, "scale"), 0, "function");
  expect(cuModuleGetFunction(&shift, NULL, "shift"), 0, "function");
  expect(cuLaunchKernelEx(other, scale, NULL, NULL), 0, "launch");
  expect(cuLaunchCooperativeKernel(shift, 8, 1, 1, 8, 1, 1, 0, NULL, NULL), 0, "launch");
}

static void *function(const char *name, int version, unsigned long long flags) {
  void *found = NULL;
  int outcome = 0;
  expect(cuGetProcAddress_v2(name, &found, version, flags, &outcome), 0, name);
  return found;
}

static void by_name(void) {
  enum { kPerThread = 2 };
  int (*allocate)(CUdeviceptr *, size_t) = function("cuMemAlloc", 12000, 0);
  int (*release)(CUdeviceptr) = function("cuMemFree", 12000, 0);
  int (*old)(unsigned *, unsigned) = function("cuMemAlloc", 2000, 0);
  int (*launch)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **, void **);
  CUdeviceptr made;
  unsigned none;
  expect(allocate(&made, 3001), 0, "block");
  expect(release(made), 0, "free");
  expect(old(&none, 3002), 1, "block of the first version"); // the first version of cuMemAlloc has no hook
  for (unsigned long long flags = 0; flags <= kPerThread; flags += kPerThread) {
    int (*take)(CUdeviceptr *, size_t, void *) = function("cuMemAllocAsync", 12000, flags);
    int (*give)(CUdeviceptr, void *) = function("cuMemFreeAsync", 12000, flags);
    expect(take(&made, 3003 + flags, NULL), 0, "block, in order of a stream");
    expect(give(made, NULL), 0, "free");
    launch = function("cuLaunchKernel", 12000, flags);
    expect(launch((void *)by_name, 6, 1, 1, 8, 1, 1, 0, NULL, NULL, NULL), 0, "launch");
  }
}

// Gets functions by cuGetProcAddress of CUDA 11, which returns only a status.
static void by_first_version(void) {
  int (*allocate)(CUdeviceptr *, size_t) = NULL;
  int (*release)(CUdeviceptr) = NULL;
  CUdeviceptr made;
  expect(cuGetProcAddress("cuMemAlloc", (void **)&allocate, 11030, 0), 0, "cuMemAlloc");
  expect(cuGetProcAddress("cuMemFree", (void **)&release, 11030, 0), 0, "cuMemFree");
  expect(allocate(&made, 3006), 0, "block");
  expect(release(made), 0, "free");
}

// Unloads a module and loads another one. The second module's kernel gets the handle of the first module's kernel.
static void reloaded(void) {
  int modules[2];
  void *first, *second;
  expect(cuModuleGetFunction(&first, &modules[0], "first"), 0, "function");
  expect(cuLaunchKernel_ptsz(first, 1, 1, 1, 8, 1, 1, 0, NULL, NULL, NULL), 0, "launch");
  expect(cuModuleUnload(&modules[0]), 0, "end of the module");
  expect(cuModuleGetFunction(&second, &modules[1], "second"), 0, "function");
  expect(cuLaunchKernel_ptsz(second, 2, 1, 1, 8, 1, 1, 0, NULL, NULL, NULL), 0, "launch");
  expect(first == second, 1, "the number");
}

int main(int argc, char **argv) {
  if (argc > 1 && strcmp(argv[1], "reloaded") == 0) {
    reloaded();
    return 0;
  }
  mended = argc > 1 && strcmp(argv[1], "mended") == 0;
  contexts();
  blocks();
  launches();
  by_name();
  by_first_version();
  puts("done");
  return 0;
}
