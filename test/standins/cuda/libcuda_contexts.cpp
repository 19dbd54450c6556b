// Imitates the contexts of CUDA's driver. A thread has contexts, each for one device, and allocates in the current
// context. cuGetProcAddress_v2 must return the driver's own functions, not hooks. So link this library with
// -Bsymbolic-functions.
#include "../common/capture.h"
#include "../common/machine.h"
#include "../common/refusal.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>

namespace {

standin::Machine &machine() {
  static auto *const made = new standin::Machine;
  return *made;
}

constexpr int kInvalid = 1, kOutOfMemory = 2, kNoContext = 201, kNotFound = 500;

struct Context {
  int device;
};
thread_local std::vector<Context *> contexts; // the last one is current

int allocate(void **block, size_t bytes) {
  if (contexts.empty())
    return kNoContext;
  *block = machine().device(static_cast<unsigned>(contexts.back()->device)).allocate(bytes);
  return *block != nullptr ? 0 : kOutOfMemory;
}
int allocatePinned(void **block, size_t bytes) {
  if (contexts.empty())
    return kNoContext;
  *block = machine().pinned().allocate(bytes);
  return *block != nullptr ? 0 : kOutOfMemory;
}
int release(void *block) { return machine().release(block) ? 0 : kInvalid; }
int launch(const void *kernel) { return kernel != nullptr ? 0 : kInvalid; }
// A function of a module, without code. After the module was unloaded, the next look-up reuses the function's handle.
struct Function {
  std::string name;
  const void *module;
  bool is_gone = false;
};
auto &functions = *new std::vector<Function *>;
void *pointer(unsigned long long address) { return reinterpret_cast<void *>(address); }

} // namespace

extern "C" {
// libcuda_copies.cpp defines these functions, if it is linked.
[[gnu::weak]] int cuMemcpyHtoD_v2(unsigned long long to, const void *from, size_t bytes);
[[gnu::weak]] int cuMemcpyHtoDAsync_v2(unsigned long long to, const void *from, size_t bytes, void *stream);
[[gnu::weak]] int cuMemcpyDtoH_v2(void *to, unsigned long long from, size_t bytes);
[[gnu::weak]] int cuMemsetD8_v2(unsigned long long to, unsigned char value, size_t count);

int cuDriverGetVersion(int *version) {
  *version = static_cast<int>(standin::fromEnvironment("STANDIN_VERSION", 12090));
  return 0;
}
int cuCtxCreate_v2(void **made, unsigned, int device) {
  if (device < 0 || device >= static_cast<int>(machine().count()))
    return kInvalid;
  contexts.push_back(new Context{device});
  *made = contexts.back();
  return 0;
}
int cuCtxCreate_v4(void **made, void *, unsigned, int device) { return cuCtxCreate_v2(made, 0, device); }
int cuCtxDestroy_v2(void *context) {
  contexts.erase(std::remove(contexts.begin(), contexts.end(), context), contexts.end());
  delete static_cast<Context *>(context);
  return 0;
}
int cuCtxSetCurrent(void *context) {
  if (!contexts.empty())
    contexts.pop_back();
  if (context != nullptr)
    contexts.push_back(static_cast<Context *>(context));
  return 0;
}
int cuCtxPushCurrent_v2(void *context) {
  if (context == nullptr)
    return kInvalid;
  contexts.push_back(static_cast<Context *>(context));
  return 0;
}
int cuCtxPopCurrent_v2(void **context) {
  if (contexts.empty())
    return kNoContext;
  if (context != nullptr)
    *context = contexts.back();
  contexts.pop_back();
  return 0;
}
int cuCtxGetDevice(int *device) {
  errno = EXDEV; // the call may change errno
  if (contexts.empty())
    return kNoContext;
  *device = contexts.back()->device;
  return 0;
}

int cuDeviceGetPCIBusId(char *text, int bytes, int device) {
  machine().bus(static_cast<unsigned>(device), text, bytes);
  return 0;
}
int cuMemGetInfo_v2(size_t *free, size_t *total) {
  errno = EXDEV;
  if (contexts.empty())
    return kNoContext;
  const standin::Memory &memory = machine().device(static_cast<unsigned>(contexts.back()->device));
  *free = memory.free();
  *total = memory.total();
  return 0;
}
size_t standin_in_use(size_t bus) { return machine().inUseAt(bus); } // NVML's stand-in calls this function

int cuMemAlloc(unsigned *, unsigned) { return kInvalid; } // the first version, which has 32-bit addresses
int cuMemAlloc_v2(void **block, size_t bytes) {
  STANDIN_MAY_REFUSE();
  return allocate(block, bytes);
}
int cuMemAllocManaged(void **block, size_t bytes, unsigned) { return allocate(block, bytes); }
int cuMemAllocHost_v2(void **block, size_t bytes) {
  STANDIN_MAY_REFUSE();
  return allocatePinned(block, bytes);
}
int cuMemHostAlloc(void **block, size_t bytes, unsigned) { return allocatePinned(block, bytes); }
int cuMemFreeHost(void *block) {
  STANDIN_MAY_REFUSE();
  return release(block);
}
int cuMemAllocPitch_v2(void **block, size_t *pitch, size_t width, size_t height, unsigned) {
  *pitch = (width + 511) / 512 * 512;
  return allocate(block, *pitch * height);
}
int cuMemAllocAsync(void **block, size_t bytes, void *) { return allocate(block, bytes); }
int cuMemAllocAsync_ptsz(void **block, size_t bytes, void *) { return allocate(block, bytes); }
int cuMemAllocFromPoolAsync(void **block, size_t bytes, void *, void *) { return allocate(block, bytes); }
int cuMemAllocFromPoolAsync_ptsz(void **block, size_t bytes, void *, void *) { return allocate(block, bytes); }
int cuMemFree_v2(unsigned long long block) {
  STANDIN_MAY_REFUSE();
  return release(pointer(block));
}
int cuMemFreeAsync(unsigned long long block, void *) { return release(pointer(block)); }
int cuMemFreeAsync_ptsz(unsigned long long block, void *) { return release(pointer(block)); }

int cuModuleGetFunction(void **function, void *module, const char *name) {
  for (Function *const old : functions)
    if (old->is_gone) {
      *old = {name, module};
      *function = old;
      return 0;
    }
  functions.push_back(new Function{name, module});
  *function = functions.back();
  return 0;
}
int cuModuleUnload(void *module) {
  for (Function *const function : functions)
    function->is_gone |= function->module == module;
  return 0;
}
int cuFuncGetName(const char **name, void *function) {
  errno = EXDEV;
  *name = static_cast<Function *>(function)->name.c_str();
  return 0;
}
int cuLaunchKernel(void *kernel, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **,
                   void **) {
  STANDIN_MAY_REFUSE();
  return launch(kernel);
}
int cuLaunchKernel_ptsz(void *kernel, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *,
                        void **, void **) {
  return launch(kernel);
}
int cuLaunchKernelEx(const void *config, void *, void **, void **) { return launch(config); }
int cuLaunchKernelEx_ptsz(const void *config, void *, void **, void **) { return launch(config); }
int cuLaunchCooperativeKernel(void *kernel, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                              void *, void **) {
  return launch(kernel);
}
int cuLaunchCooperativeKernel_ptsz(void *kernel, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                                   void *, void **) {
  return launch(kernel);
}

// Returns the newest form of the function that CUDA `version` has. Since version 3.2, addresses have 64 bits.
int cuGetProcAddress_v2(const char *name, void **function, int version, unsigned long long flags, int *outcome) {
  constexpr unsigned long long kPerThread = 2;
  struct Form {
    const char *name;
    int since;
    unsigned long long flags;
    void *function;
  };
  static const Form forms[] = {{"cuMemAlloc", 2000, 0, reinterpret_cast<void *>(cuMemAlloc)},
                               {"cuMemAlloc", 3020, 0, reinterpret_cast<void *>(cuMemAlloc_v2)},
                               {"cuMemFree", 3020, 0, reinterpret_cast<void *>(cuMemFree_v2)},
                               {"cuMemAllocManaged", 6000, 0, reinterpret_cast<void *>(cuMemAllocManaged)},
                               {"cuMemHostAlloc", 2020, 0, reinterpret_cast<void *>(cuMemHostAlloc)},
                               {"cuMemFreeHost", 2000, 0, reinterpret_cast<void *>(cuMemFreeHost)},
                               {"cuCtxCreate", 3020, 0, reinterpret_cast<void *>(cuCtxCreate_v2)},
                               {"cuCtxSetCurrent", 4000, 0, reinterpret_cast<void *>(cuCtxSetCurrent)},
                               {"cuMemAllocAsync", 11020, 0, reinterpret_cast<void *>(cuMemAllocAsync)},
                               {"cuMemAllocAsync", 11020, kPerThread, reinterpret_cast<void *>(cuMemAllocAsync_ptsz)},
                               {"cuMemFreeAsync", 11020, 0, reinterpret_cast<void *>(cuMemFreeAsync)},
                               {"cuMemFreeAsync", 11020, kPerThread, reinterpret_cast<void *>(cuMemFreeAsync_ptsz)},
                               {"cuMemcpyHtoD", 3020, 0, reinterpret_cast<void *>(cuMemcpyHtoD_v2)},
                               {"cuMemcpyDtoH", 3020, 0, reinterpret_cast<void *>(cuMemcpyDtoH_v2)},
                               {"cuMemcpyHtoDAsync", 3020, 0, reinterpret_cast<void *>(cuMemcpyHtoDAsync_v2)},
                               {"cuMemsetD8", 3020, 0, reinterpret_cast<void *>(cuMemsetD8_v2)},
                               {"cuLaunchKernel", 4000, 0, reinterpret_cast<void *>(cuLaunchKernel)},
                               {"cuLaunchKernel", 7000, kPerThread, reinterpret_cast<void *>(cuLaunchKernel_ptsz)}};
  *function = nullptr;
  for (const Form &form : forms)
    if (std::strcmp(form.name, name) == 0 && form.since <= version && (form.flags & ~flags) == 0)
      *function = form.function;
  *outcome = *function == nullptr;
  return *function != nullptr ? 0 : kNotFound;
}
int cuGetProcAddress(const char *name, void **function, int version, unsigned long long flags) {
  int outcome = 0;
  return cuGetProcAddress_v2(name, function, version, flags, &outcome);
}
}
