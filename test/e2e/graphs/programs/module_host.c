// module_host MODULE LAUNCHES [how...]   Launches a module's kernels by CUDA's driver (for HIP, functions are renamed).
//   library   loads the module as a library, as CUDA's runtime does
//   packed    passes the arguments in one buffer
//   odd       like packed, but the list that describes the buffer has an entry of an unknown kind
//   config    launches by cuLaunchKernelEx
//   together  launches cooperatively, by an attribute of the launch
//   shared    launches thread blocks with more shared memory than the driver allows without a request
//   reload    loads the module again for each launch
//   static    HIP only: registers the kernels, and launches them by their stubs
//   ext, hcc  HIP only: launches by the functions with these names, with the grid in threads (for stubs, in blocks)
//   ends=NAME waits after the launches, calls this function, and exits without exit handlers
#include "module_driver.h"

#include <string.h>
#include <unistd.h>

struct attribute {
  unsigned what, reserved;
  unsigned long long value[8];
};
struct config {
  unsigned grid[3], block[3], shared;
  void *stream;
  struct attribute *attributes;
  unsigned count;
};
int cuModuleUnload(void *);
int cuEventCreate(void **, unsigned), cuEventRecord(void *, void *), cuEventQuery(void *), cuEventSynchronize(void *);
#ifdef HIP
int hipDeviceSynchronize(void), hipDeviceReset(void);
#else
int cuCtxSynchronize(void), cuStreamSynchronize_ptsz(void *), cuDevicePrimaryCtxReset_v2(int);
int cuDevicePrimaryCtxRelease_v2(int);
int cuLaunchKernelEx(const struct config *, void *, void **, void **);
int cuKernelSetAttribute(int, int, void *, int), cuFuncSetAttribute(void *, int, int);
int cuLibraryLoadFromFile(void **, const char *, int *, void **, unsigned, int *, void **, unsigned);
int cuLibraryGetKernel(void **, void *, const char *), cuKernelGetFunction(void **, void *);
#endif

#ifdef HIP
struct dim3 {
  unsigned x, y, z;
};
void **__hipRegisterFatBinary(const void *);
void __hipRegisterFunction(void **, const void *, char *, const char *, unsigned, void *, void *, void *, void *,
                           int *);
void __hipUnregisterFatBinary(void **);
int hipLaunchKernel(const void *, struct dim3, struct dim3, void **, size_t, void *);
int hipExtLaunchKernel(const void *, struct dim3, struct dim3, void **, size_t, void *, void *, void *, int);
int hipLaunchKernelExC(const struct config *, const void *, void **);
int hipDrvLaunchKernelEx(const struct config *, void *, void **, void **);
int hipFuncSetAttribute(const void *, int, int);
int hipHccModuleLaunchKernel(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, size_t, void *,
                             void **, void **, void *, void *);
#endif

enum { kSize = 1000, kBlock = 64, kBlocks = (kSize + kBlock - 1) / kBlock };
enum { kManyBytes = 64 << 10, kDynamicSharedBytes = 8 };
static int is_library, is_packed, is_together, shared_bytes, is_config, is_reloaded, is_static, is_ext, is_hcc, is_odd;
static void *stream;
static const char *ends;

#ifdef HIP
static void number(char **to, unsigned long long value) {
  memcpy(*to, &value, sizeof value);
  *to += sizeof value;
}

// Registers the binary, as a program that hipcc built does when it starts.
static void *registerBinary(const char *file) {
  static char bundle[1 << 20];
  static struct {
    unsigned magic, version;
    const char *bundle;
    void *unused;
  } wrapper = {0x48495046, 1, bundle, NULL};
  static const char kHost[] = "host-x86_64-unknown-linux-gnu-", kDevice[] = "hipv4-amdgcn-amd-amdhsa--gfx90a";
  FILE *code = fopen(file, "rb");
  const size_t bytes = fread(bundle + 4096, 1, sizeof bundle - 4096, code);
  fclose(code);
  char *to = bundle + sprintf(bundle, "__CLANG_OFFLOAD_BUNDLE__");
  number(&to, 2);
  number(&to, 4096);
  number(&to, 0);
  number(&to, strlen(kHost));
  to += sprintf(to, "%s", kHost);
  number(&to, 4096);
  number(&to, bytes);
  number(&to, strlen(kDevice));
  memcpy(to, kDevice, strlen(kDevice));
  return __hipRegisterFatBinary(&wrapper);
}

static void *stubOf(void *module, const char *name) {
  static char stubs[2][16], is_known[2];
  const int which = strcmp(name, "choose") == 0;
  if (!is_known[which])
    __hipRegisterFunction(module, stubs[which], (char *)name, name, -1u, NULL, NULL, NULL, NULL, NULL);
  is_known[which] = 1;
  return stubs[which];
}
#endif

static void load(void **module, const char *file) {
#ifdef HIP
  if (is_static) {
    *module = registerBinary(file);
    return;
  }
#endif
#ifndef HIP
  if (is_library) {
    must(cuLibraryLoadFromFile(module, file, NULL, NULL, 0, NULL, NULL, 0), "library");
    return;
  }
#endif
  must(cuModuleLoad(module, file), "module");
}

static void *lookUp(void *module, const char *name) {
  void *function;
#ifdef HIP
  if (is_static)
    return stubOf(module, name);
#endif
#ifndef HIP
  if (is_library) {
    must(cuLibraryGetKernel(&function, module, name), name);
    if (shared_bytes != 0)
      must(cuKernelSetAttribute(kDynamicSharedBytes, shared_bytes, function, 0), "attribute");
    must(cuKernelGetFunction(&function, function), name);
    return function;
  }
#endif
  must(cuModuleGetFunction(&function, module, name), name);
  return function;
}

static void *find(void *module, const char *name) {
  void *const function = lookUp(module, name);
#ifdef HIP
  if (shared_bytes != 0)
    must(hipFuncSetAttribute(function, kDynamicSharedBytes, shared_bytes), "attribute");
#else
  if (shared_bytes != 0 && !is_library)
    must(cuFuncSetAttribute(function, kDynamicSharedBytes, shared_bytes), "attribute");
#endif
  return function;
}

static void launch(void *function, void **each, char *bytes, size_t size) {
  void *list[] = {(void *)9, NULL, (void *)1, bytes, (void *)2, &size, NULL}, **const packed = is_odd ? list : list + 2;
  struct attribute together = {2, 0, {1}};
  const struct config config = {{kBlocks, 1, 1}, {kBlock, 1, 1}, shared_bytes, stream, &together, is_together};
#ifdef HIP
  const struct dim3 grid = {kBlocks, 1, 1}, block = {kBlock, 1, 1};
  void **const one_by_one = is_packed ? NULL : each, **const behind = is_packed ? packed : NULL;
  if (is_static && is_ext)
    must(hipExtLaunchKernel(function, grid, block, each, 0, stream, NULL, NULL, 0), "launch");
  else if (is_static && is_config)
    must(hipLaunchKernelExC(&config, function, each), "launch");
  else if (is_static)
    must(hipLaunchKernel(function, grid, block, each, shared_bytes, stream), "launch");
  else if (is_config)
    must(hipDrvLaunchKernelEx(&config, function, one_by_one, behind), "launch");
  else if (is_ext)
    must(hipExtModuleLaunchKernel(function, kBlocks * kBlock, 1, 1, kBlock, 1, 1, 0, stream, one_by_one, behind, NULL,
                                  NULL, 0),
         "launch");
  else if (is_hcc)
    must(hipHccModuleLaunchKernel(function, kBlocks * kBlock, 1, 1, kBlock, 1, 1, 0, stream, one_by_one, behind, NULL,
                                  NULL),
         "launch");
  if (is_static || is_config || is_ext || is_hcc)
    return;
#endif
#ifndef HIP
  if (is_config) {
    must(cuLaunchKernelEx(&config, function, each, NULL), "launch");
    return;
  }
#endif
  must(cuLaunchKernel(function, kBlocks, 1, 1, kBlock, 1, 1, shared_bytes, stream, is_packed ? NULL : each,
                      is_packed ? packed : NULL),
       "launch");
}

#define ENDS(name, ...)                                                                                                \
  if (strcmp(how, #name) == 0)                                                                                         \
    exit_status = name(__VA_ARGS__);

// Waits until msleaks may read the counters again. Then calls only `how`, and msleaks must read them in this call.
static void endsBy(const char *how) {
  enum { kPauseUs = 150000, kMomentUs = 1000 };
  int exit_status = 1;
  void *event;
  must(cuEventCreate(&event, 2), "event");
  must(cuEventRecord(event, stream), "record");
  while (cuEventQuery(event) != 0) // msleaks reads no counters in this call
    usleep(kMomentUs);
  usleep(kPauseUs);
  ENDS(cuStreamSynchronize, stream)
  ENDS(cuEventSynchronize, event)
#ifdef HIP
  ENDS(hipDeviceSynchronize)
  ENDS(hipDeviceReset)
#else
  ENDS(cuCtxSynchronize)
  ENDS(cuStreamSynchronize_ptsz, stream)
  ENDS(cuDevicePrimaryCtxReset_v2, 0)
  ENDS(cuDevicePrimaryCtxRelease_v2, 0)
#endif
  _exit(exit_status);
}

int main(int count, char **words) {
  for (int i = 3; i < count; ++i) {
    is_library |= strcmp(words[i], "library") == 0;
    is_odd |= strcmp(words[i], "odd") == 0;
    is_packed |= is_odd || strcmp(words[i], "packed") == 0;
    is_together |= strcmp(words[i], "together") == 0;
    is_config |= is_together || strcmp(words[i], "config") == 0;
    if (strcmp(words[i], "shared") == 0)
      shared_bytes = kManyBytes;
    is_reloaded |= strcmp(words[i], "reload") == 0;
    is_static |= strcmp(words[i], "static") == 0;
    is_ext |= strcmp(words[i], "ext") == 0;
    is_hcc |= strcmp(words[i], "hcc") == 0;
    if (strncmp(words[i], "ends=", 5) == 0)
      ends = words[i] + 5;
  }
  must(cuInit(0), "driver");
#ifndef HIP
  void *context;
  must(cuCtxCreate_v2(&context, 0, 0), "context");
#endif
  void *module = NULL;
  unsigned values[kSize] = {0};
  CUdeviceptr memory;
  must(cuMemAlloc_v2(&memory, sizeof values), "memory");
  CUdeviceptr spare;
  must(cuMemAlloc_v2(&spare, 2 << 20), "memory"); // no kernel is given it
  must(cuStreamCreate(&stream, 1), "stream");
  must(cuMemcpyHtoDAsync_v2(memory, values, sizeof values, stream), "write");
  unsigned char first = 1;
  int size = kSize;
  char bytes[16];
  for (int i = 0; i < atoi(words[2]); ++i) {
    if (module == NULL || is_reloaded)
      load(&module, words[1]);
    memcpy(bytes, &memory, 8);
    memcpy(bytes + 8, &first, 1);
    memcpy(bytes + 12, &size, 4);
    launch(find(module, "collatz"), (void *[]){&memory, &first, &size}, bytes, 16);
    memcpy(bytes + 8, &size, 4);
    launch(find(module, "choose"), (void *[]){&memory, &size}, bytes, 12);
    if (is_reloaded) {
      must(cuStreamSynchronize(stream), "wait");
      must(cuModuleUnload(module), "unload");
    }
  }
  if (ends != NULL)
    endsBy(ends);
  printSum(memory, values, kSize, stream);
  must(cuMemFree_v2(memory), "free");
  must(cuMemFree_v2(spare), "free");
  must(cuStreamDestroy_v2(stream), "stream");
#ifdef HIP
  if (is_static)
    __hipUnregisterFatBinary(module);
#else
  must(cuCtxDestroy_v2(context), "context");
#endif
  return 0;
}
