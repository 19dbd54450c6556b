// Imitates modules of CUDA's driver: loads them, and launches their kernels on streams. A module is a library for the
// host with the device's code (test/e2e/graphs/device_modules.py). The stand-in runs one thread after another. With
// STANDIN_HIP and replaced names, it imitates HIP's modules.
#include "../common/machine.h"

#include <atomic>
#include <cstring>
#include <dlfcn.h>
#include <link.h>
#include <map>
#include <string>
#include <sys/mman.h>
#include <unistd.h>

namespace {

standin::Machine &machine() {
  static auto *const made = new standin::Machine;
  return *made;
}

constexpr int kInvalid = 1, kOutOfMemory = 2, kNotFound = 500, kNotReady = 600, kTooManyResources = 701;
constexpr unsigned kSharedBytes = 48 << 10; // limit of a launch, unless allowShared raises it

struct Module {
  void *library;
  char name[512];
};
struct Function {
  void *code;
  void (*run)(void *code, const uint64_t *arguments, unsigned count, const unsigned *threads, const unsigned *block);
  const unsigned *parameters; // number of parameters, then the bytes of each
  unsigned most_shared_bytes;
};
struct Event {
  std::atomic<int> waits{0};
};

standin::Stream &streamOf(void *stream) {
  return stream != nullptr ? *static_cast<standin::Stream *>(stream) : machine().defaultStream();
}
void *pointer(unsigned long long address) { return reinterpret_cast<void *>(address); }

// reset() fills all allocated memory with bytes that must not look like a count.
std::mutex memory_mutex;
auto &memory = *new std::map<unsigned long long, size_t>;
int reset() {
  const std::lock_guard lock(memory_mutex);
  for (const auto &[address, bytes] : memory)
    std::memset(pointer(address), 0xee, bytes);
  return 0;
}

std::mutex mutex;
auto &functions = *new std::map<void *, Function>;

void *symbolOf(const Module &module, const char *name, const char *suffix = "") {
  char text[1024];
  std::snprintf(text, sizeof text, "%s%s", name, suffix);
  return dlsym(module.library, text);
}

// $STANDIN_REFUSED is a text. A launch is refused if the kernel's name contains this text.
bool isRefused(void *code) {
  Dl_info info;
  const char *const refused = std::getenv("STANDIN_REFUSED");
  return refused != nullptr && dladdr(code, &info) != 0 && info.dli_sname != nullptr &&
         std::strstr(info.dli_sname, refused) != nullptr;
}

int allowShared(void *handle, int bytes) {
  const std::lock_guard lock(mutex);
  const auto found = functions.find(handle);
  if (found == functions.end())
    return kInvalid;
  found->second.most_shared_bytes = static_cast<unsigned>(bytes);
  return 0;
}

// The parameters of a launch, except for the kernel and its arguments.
struct Shape {
  const unsigned *grid, *block;
  size_t shared_bytes;
  void *stream;
};

// `shape.grid` counts threads, so the last thread block in a dimension may be smaller than the others.
int launchThreads(void *handle, const Shape &shape, void **each, void **packed) {
  const std::lock_guard lock(mutex);
  const auto found = functions.find(handle);
  if (found == functions.end())
    return kInvalid;
  const Function function = found->second;
  if (shape.shared_bytes > function.most_shared_bytes)
    return kInvalid;
  if (isRefused(function.code))
    return kTooManyResources;
  const char *content = nullptr;
  for (void **word = packed; word != nullptr && *word != nullptr; word += 2)
    if (*word == reinterpret_cast<void *>(1))
      content = static_cast<const char *>(word[1]);
  std::vector<uint64_t> arguments(function.parameters[0]);
  size_t offset = 0;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const size_t bytes = function.parameters[1 + i];
    offset = (offset + bytes - 1) / bytes * bytes;
    std::memcpy(&arguments[i], each != nullptr ? each[i] : content + offset, bytes);
    offset += bytes;
  }
  streamOf(shape.stream)
      .run([=, threads = std::vector(shape.grid, shape.grid + 3), block = std::vector(shape.block, shape.block + 3)] {
        function.run(function.code, arguments.data(), static_cast<unsigned>(arguments.size()), threads.data(),
                     block.data());
      });
  return 0;
}
int launch(void *handle, const Shape &shape, void **each, void **packed) {
  unsigned threads[3];
  for (int i = 0; i < 3; ++i)
    threads[i] = shape.grid[i] * shape.block[i];
  return launchThreads(handle, {threads, shape.block, shape.shared_bytes, shape.stream}, each, packed);
}

} // namespace

extern "C" {
int cuInit(unsigned flags) { return flags == 0 ? 0 : kInvalid; }
int cuDeviceGetCount(int *count) {
  *count = 1;
  return 0;
}

// $STANDIN_MODULE names a library with the code of all modules. In this case the modules' own files are not read.
int cuModuleLoad(void **made, const char *name) {
  const char *const instead = std::getenv("STANDIN_MODULE");
  auto *const module = new Module{dlopen(instead != nullptr ? instead : name, RTLD_NOW | RTLD_LOCAL), {}};
  *made = module;
  return module->library != nullptr ? 0 : kInvalid;
}
int cuModuleUnload(void *module) { return dlclose(static_cast<Module *>(module)->library); }
int cuModuleGetFunction(void **made, void *module, const char *name) {
  const Module &known = *static_cast<Module *>(module);
  void *const code = symbolOf(known, name);
  const auto *const parameters = static_cast<const unsigned *>(symbolOf(known, name, "_parameters"));
  if (code == nullptr || parameters == nullptr)
    return kNotFound;
  const std::lock_guard lock(mutex);
  const auto run = reinterpret_cast<decltype(Function::run)>(symbolOf(known, "standin_run"));
  functions.try_emplace(code, Function{code, run, parameters, kSharedBytes});
  *made = code;
  return 0;
}
int cuModuleGetGlobal_v2(unsigned long long *address, size_t *bytes, void *module, const char *name) {
  void *const known = symbolOf(*static_cast<Module *>(module), name);
  Dl_info info;
  void *symbol = nullptr;
  if (known == nullptr || dladdr1(known, &info, &symbol, RTLD_DL_SYMENT) == 0)
    return kNotFound;
  *address = reinterpret_cast<unsigned long long>(known);
  *bytes = static_cast<const ElfW(Sym) *>(symbol)->st_size;
  return 0;
}
int cuLaunchKernel(void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                   unsigned block_y, unsigned block_z, unsigned shared, void *stream, void **each, void **packed) {
  const unsigned grid[] = {grid_x, grid_y, grid_z}, block[] = {block_x, block_y, block_z};
  return launch(function, {grid, block, shared, stream}, each, packed);
}

int cuMemAlloc_v2(unsigned long long *address, size_t bytes) {
  *address = reinterpret_cast<unsigned long long>(machine().device(0).allocate(bytes));
  const std::lock_guard lock(memory_mutex);
  if (*address != 0)
    memory[*address] = bytes;
  return *address != 0 ? 0 : kOutOfMemory;
}
int cuMemFree_v2(unsigned long long address) {
  const std::lock_guard lock(memory_mutex);
  memory.erase(address);
  return machine().release(pointer(address)) ? 0 : kInvalid;
}
int cuMemcpyHtoDAsync_v2(unsigned long long to, const void *from, size_t bytes, void *stream) {
  streamOf(stream).run([=] { std::memcpy(pointer(to), from, bytes); });
  return 0;
}
int cuMemcpyDtoHAsync_v2(void *to, unsigned long long from, size_t bytes, void *stream) {
  streamOf(stream).run([=] { std::memcpy(to, pointer(from), bytes); });
  return 0;
}

int cuStreamCreate(void **made, unsigned) {
  *made = new standin::Stream;
  return 0;
}
int cuStreamDestroy_v2(void *stream) {
  delete static_cast<standin::Stream *>(stream);
  return 0;
}
int cuStreamSynchronize(void *stream) {
  streamOf(stream).wait();
  return 0;
}
int cuStreamIsCapturing(void *, int *state) {
  *state = static_cast<int>(standin::fromEnvironment("STANDIN_CAPTURING", 0));
  return 0;
}
int cuEventCreate(void **made, unsigned) {
  *made = new Event;
  return 0;
}
int cuEventRecord(void *event, void *stream) {
  auto *const known = static_cast<Event *>(event);
  ++known->waits;
  streamOf(stream).run([=] { --known->waits; });
  return 0;
}
int cuEventQuery(void *event) { return static_cast<Event *>(event)->waits == 0 ? 0 : kNotReady; }
int cuEventSynchronize(void *event) {
  while (cuEventQuery(event) != 0)
    std::this_thread::yield();
  return 0;
}
int cuEventDestroy_v2(void *event) {
  delete static_cast<Event *>(event);
  return 0;
}

#ifdef STANDIN_HIP
int hipGetDevice(int *device) {
  *device = 0;
  return 0;
}
int hipSetDevice(int) { return 0; }
int hipDeviceSynchronize() { return cuStreamSynchronize(nullptr); }
int hipDeviceReset() { return reset(); }

// Loads a bundle whose last entry is the binary for a device. Each call makes a new module.
int hipModuleLoadData(void **made, const void *bundle) {
  const char *at = static_cast<const char *>(bundle) + std::strlen("__CLANG_OFFLOAD_BUNDLE__");
  const auto take = [&] {
    uint64_t number;
    std::memcpy(&number, at, sizeof number);
    at += sizeof number;
    return number;
  };
  uint64_t offset = 0, bytes = 0;
  for (uint64_t entries = take(); entries != 0; --entries) {
    offset = take();
    bytes = take();
    const uint64_t name_bytes = take();
    at += name_bytes;
  }
  const int file = memfd_create("module", 0);
  char path[64];
  std::snprintf(path, sizeof path, "/proc/self/fd/%d", file);
  if (write(file, static_cast<const char *>(bundle) + offset, bytes) != static_cast<ssize_t>(bytes))
    return kInvalid;
  const int status = cuModuleLoad(made, path);
  close(file);
  return status;
}

// The program registers its binaries when it starts. Each binary is loaded at the first use of one of its kernels.
struct Registered {
  const void *bundle;
  void *module;
};
std::map<const void *, std::pair<Registered *, std::string>> stubs;

void **__hipRegisterFatBinary(const void *wrapper) {
  return reinterpret_cast<void **>(new Registered{static_cast<void *const *>(wrapper)[1], nullptr});
}
void __hipRegisterFunction(void **modules, const void *stub, char *, const char *name, unsigned, void *, void *, void *,
                           void *, int *) {
  stubs[stub] = {reinterpret_cast<Registered *>(modules), name};
}
void __hipRegisterVar(void **, void *, char *, const char *, int, size_t, int, int) {} // no test needs it
void __hipUnregisterFatBinary(void **modules) {
  auto *const known = reinterpret_cast<Registered *>(modules);
  if (known->module != nullptr)
    cuModuleUnload(known->module);
  delete known;
}
struct Sizes {
  unsigned xyz[3];
};
// The launch configuration of <<<>>>, until the kernel's stub reads it.
thread_local struct {
  Sizes grid, block;
  size_t shared;
  void *stream;
} configured;
int __hipPushCallConfiguration(Sizes grid, Sizes block, size_t shared, void *stream) {
  configured = {grid, block, shared, stream};
  return 0;
}
int __hipPopCallConfiguration(Sizes *grid, Sizes *block, size_t *shared, void **stream) {
  *grid = configured.grid;
  *block = configured.block;
  *shared = configured.shared;
  *stream = configured.stream;
  return 0;
}
struct LaunchConfig {
  unsigned grid[3], block[3], shared;
  void *stream;
};
int hipDrvLaunchKernelEx(const LaunchConfig *config, void *function, void **each, void **packed) {
  return launch(function, {config->grid, config->block, config->shared, config->stream}, each, packed);
}
// hipExtModuleLaunchKernel and hipHccModuleLaunchKernel get the number of threads in the whole grid, not of blocks.
int hipExtModuleLaunchKernel(void *function, unsigned x, unsigned y, unsigned z, unsigned block_x, unsigned block_y,
                             unsigned block_z, size_t, void *stream, void **each, void **packed, void *, void *,
                             unsigned) {
  const unsigned threads[] = {x, y, z}, block[] = {block_x, block_y, block_z};
  return launchThreads(function, {threads, block, 0, stream}, each, packed);
}
int hipHccModuleLaunchKernel(void *function, unsigned x, unsigned y, unsigned z, unsigned block_x, unsigned block_y,
                             unsigned block_z, size_t bytes, void *stream, void **each, void **packed, void *start,
                             void *stop) {
  return hipExtModuleLaunchKernel(function, x, y, z, block_x, block_y, block_z, bytes, stream, each, packed, start,
                                  stop, 0);
}
constexpr int kInvalidFunction = 98;
int functionOf(const void *stub, void *&function) {
  const auto known = stubs.find(stub);
  if (known == stubs.end())
    return kInvalidFunction;
  auto &[modules, name] = known->second;
  if (modules->module == nullptr && hipModuleLoadData(&modules->module, modules->bundle) != 0)
    return kInvalid;
  return cuModuleGetFunction(&function, modules->module, name.c_str()) == 0 ? 0 : kInvalidFunction;
}
int hipLaunchKernel(const void *stub, Sizes grid, Sizes block, void **each, size_t shared, void *stream) {
  void *function = nullptr;
  const int status = functionOf(stub, function);
  return status == 0 ? launch(function, {grid.xyz, block.xyz, shared, stream}, each, nullptr) : status;
}
// `kernel` is a stub, or a function of a module.
int hipFuncSetAttribute(const void *kernel, int, int bytes) {
  void *function = const_cast<void *>(kernel);
  if (stubs.count(kernel) != 0 && functionOf(kernel, function) != 0)
    return kInvalidFunction;
  return allowShared(function, bytes);
}
int hipFuncSetCacheConfig(const void *, int) { return 0; }
int hipFuncSetSharedMemConfig(const void *, int) { return 0; }
int hipExtLaunchKernel(const void *stub, Sizes grid, Sizes block, void **each, size_t bytes, void *stream, void *,
                       void *, int) {
  return hipLaunchKernel(stub, grid, block, each, bytes, stream);
}
int hipLaunchKernelExC(const LaunchConfig *config, const void *stub, void **each) {
  const auto &[x, y, z] = config->grid;
  const auto &[block_x, block_y, block_z] = config->block;
  return hipLaunchKernel(stub, {{x, y, z}}, {{block_x, block_y, block_z}}, each, config->shared, config->stream);
}
#else
struct LaunchConfig {
  unsigned grid[3], block[3], shared;
  void *stream;
};
int cuLaunchKernelEx(const LaunchConfig *config, void *function, void **each, void **packed) {
  return launch(function, {config->grid, config->block, config->shared, config->stream}, each, packed);
}
int cuFuncSetAttribute(void *function, int, int bytes) { return allowShared(function, bytes); }
int cuFuncSetCacheConfig(void *, int) { return 0; }
int cuFuncSetSharedMemConfig(void *, int) { return 0; }
int cuKernelSetAttribute(int, int bytes, void *kernel, int) {
  return allowShared(static_cast<char *>(kernel) - 1, bytes);
}
int cuKernelSetCacheConfig(void *, int, int) { return 0; }
int cuLibraryLoadFromFile(void **made, const char *name, int *, void **, unsigned, int *, void **, unsigned) {
  return cuModuleLoad(made, name);
}
int cuLibraryUnload(void *library) { return cuModuleUnload(library); }
// Returns a handle of the kernel that differs from the handle of the function.
int cuLibraryGetKernel(void **made, void *library, const char *name) {
  if (cuModuleGetFunction(made, library, name) != 0)
    return kNotFound;
  *made = static_cast<char *>(*made) + 1;
  return 0;
}
int cuKernelGetFunction(void **made, void *kernel) {
  *made = static_cast<char *>(kernel) - 1;
  return 0;
}
int cuLibraryGetGlobal(unsigned long long *address, size_t *bytes, void *library, const char *name) {
  return cuModuleGetGlobal_v2(address, bytes, library, name);
}
thread_local void *context = nullptr;
int cuCtxCreate_v2(void **made, unsigned, int) {
  *made = context = new char;
  return 0;
}
int cuCtxDestroy_v2(void *given) {
  delete static_cast<char *>(given);
  context = nullptr;
  return reset();
}
int cuCtxGetCurrent(void **current) {
  *current = context;
  return 0;
}
int cuCtxSetCurrent(void *given) {
  context = given;
  return 0;
}
int cuCtxSynchronize() { return cuStreamSynchronize(nullptr); }
int cuStreamSynchronize_ptsz(void *stream) { return cuStreamSynchronize(stream); }
int cuDevicePrimaryCtxReset_v2(int) { return reset(); }
int cuDevicePrimaryCtxRelease_v2(int) { return reset(); }
#endif
}
