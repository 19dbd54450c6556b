// Imitates CUDA's runtime library in a program that is linked with it statically. Its functions are hidden symbols.
// They look up the driver's functions by dlsym or by the driver's own cuGetProcAddress.
#include "cudart_static.h"

#include <dlfcn.h>
#include <stdlib.h>

namespace {

using Device = unsigned long long;

struct Driver {
  Driver() : library_(dlopen("libcuda.so.1", RTLD_NOW)) {
    if (library_ == nullptr)
      abort();
    reinterpret_cast<void *&>(procAddress_) = symbol("cuGetProcAddress_v2");
    reinterpret_cast<void *&>(createContext) = symbol("cuCtxCreate_v2");
    reinterpret_cast<void *&>(release) = symbol("cuMemFree_v2");
    reinterpret_cast<void *&>(copyBack) = symbol("cuMemcpyDtoH_v2");
    reinterpret_cast<void *&>(allocate) = function("cuMemAlloc");
    reinterpret_cast<void *&>(allocatePinned) = function("cuMemHostAlloc");
    reinterpret_cast<void *&>(releasePinned) = function("cuMemFreeHost");
    reinterpret_cast<void *&>(allocateManaged) = function("cuMemAllocManaged");
    reinterpret_cast<void *&>(allocateLater) = function("cuMemAllocAsync");
    reinterpret_cast<void *&>(releaseLater) = function("cuMemFreeAsync");
    reinterpret_cast<void *&>(copy) = function("cuMemcpyHtoD");
    reinterpret_cast<void *&>(copyLater) = function("cuMemcpyHtoDAsync");
    reinterpret_cast<void *&>(fill) = function("cuMemsetD8");
    reinterpret_cast<void *&>(launch) = function("cuLaunchKernel");
    void *context = nullptr;
    if (createContext(&context, 0, 0) != 0)
      abort();
  }
  int (*createContext)(void **, unsigned, int);
  int (*allocate)(void **, size_t), (*release)(Device);
  int (*allocatePinned)(void **, size_t, unsigned), (*releasePinned)(void *);
  int (*allocateManaged)(void **, size_t, unsigned);
  int (*allocateLater)(void **, size_t, void *), (*releaseLater)(Device, void *);
  int (*copy)(Device, const void *, size_t), (*copyLater)(Device, const void *, size_t, void *);
  int (*copyBack)(void *, Device, size_t);
  int (*fill)(Device, unsigned char, size_t);
  int (*launch)(const void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **,
                void **);

private:
  void *symbol(const char *name) {
    void *const found = dlsym(library_, name);
    if (found == nullptr)
      abort();
    return found;
  }
  void *function(const char *name) {
    void *found = nullptr;
    int outcome = 0;
    if (procAddress_(name, &found, 12000, 0, &outcome) != 0)
      abort();
    return found;
  }
  void *library_;
  int (*procAddress_)(const char *, void **, int, unsigned long long, int *);
};

Driver &driver() {
  static Driver made;
  return made;
}
Device address(const void *block) { return reinterpret_cast<Device>(block); }

} // namespace

// The real library has inner functions with names like this one.
extern "C" [[gnu::noinline]] int libcudart_static_5382377d5c772c9d(void **block, size_t size) {
  return driver().allocate(block, size);
}
int cudaMalloc(void **block, size_t size) { return libcudart_static_5382377d5c772c9d(block, size); }
int cudaMallocManaged(void **block, size_t size, unsigned flags) {
  return driver().allocateManaged(block, size, flags);
}
int cudaMallocHost(void **block, size_t size) { return driver().allocatePinned(block, size, 0); }
int cudaMallocAsync(void **block, size_t size, void *stream) { return driver().allocateLater(block, size, stream); }
int cudaFree(void *block) { return driver().release(address(block)); }
int cudaFreeHost(void *block) { return driver().releasePinned(block); }
int cudaFreeAsync(void *block, void *stream) { return driver().releaseLater(address(block), stream); }
int cudaMemcpy(void *to, const void *from, size_t size, int kind) {
  constexpr int kToDevice = 1;
  return kind == kToDevice ? driver().copy(address(to), from, size) : driver().copyBack(to, address(from), size);
}
int cudaMemcpyAsync(void *to, const void *from, size_t size, int, void *stream) {
  return driver().copyLater(address(to), from, size, stream);
}
int cudaMemset(void *to, int value, size_t size) {
  return driver().fill(address(to), static_cast<unsigned char>(value), size);
}
int cudaLaunchKernel(const void *kernel, dim3 grid, dim3 block, void **arguments, size_t shared, void *stream) {
  return driver().launch(kernel, grid.x, grid.y, grid.z, block.x, block.y, block.z, static_cast<unsigned>(shared),
                         stream, arguments, nullptr);
}
