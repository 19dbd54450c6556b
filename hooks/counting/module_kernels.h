// Counts kernels of an API that loads modules and launches their functions by handles (CUDA, HIP), if the kernels have
// counted copies (abi/device_counts.h). When the program gets a kernel from a module, the hooks also get the kernel's
// copy. A launch runs the kernel or its copy. The hooks never wait for a stream of the program. They fill and read the
// buffers of counters through a stream of their own: after the program has waited itself, and at the exit.
//
// The kernel itself runs if the launch is part of a capture, if the copy cannot be launched, or if the buffer cannot be
// made. Some kernels count themselves and have no copy (abi::kInKernelPrefix). The hooks write the address of the
// counters into a variable of their module.
#pragma once

#include "counting/counted_kernels.h"
#include "devices/device.h"

#include "msleaks/hook.h"

namespace msleaks::hooks {

using Handle = const void *;

// The driver's functions, which msleaks calls without its hooks. The result 0 means success.
struct ModuleApi {
  hook::Function *allocate;      // (uint64_t *address, size_t bytes)
  hook::Function *write;         // (uint64_t address, const void *from, size_t bytes, Handle stream)
  hook::Function *read;          // (void *to, uint64_t address, size_t bytes, Handle stream)
  hook::Function *make_stream;   // (Handle *stream, unsigned flags)
  hook::Function *drop_stream;   // (Handle stream)
  hook::Function *wait;          // (Handle stream)
  hook::Function *make_event;    // (Handle *event, unsigned flags)
  hook::Function *record;        // (Handle event, Handle stream)
  hook::Function *query;         // (Handle event)
  hook::Function *is_capturing;  // (Handle stream, int *state)
  hook::Function *exchange_mode; // (int *mode): exchanges what the calling thread may do while a stream is captured
  const LastError *last;         // the error that the driver keeps for the program; null: it keeps none
  Handle (*place)();             // the context or device that the calling thread uses; null: none
  void (*enter)(Handle place);   // makes the calling thread use this context or device
  abi::Family family;
};

// A kind of object that contains kernels: module, library or binary. `find_kernel`: (Handle *kernel, Handle source,
// const char *name), `find_constant`: (uint64_t *address, size_t *bytes, Handle source, const char *name).
struct KernelSource {
  const ModuleApi *api;
  hook::Function *find_kernel, *find_constant;
  // Only for binaries that HIP's runtime loads itself; null for other sources. The hooks load such a binary a second
  // time, as a module, to read its constants. `load`: (Handle *module, const void *binary), `unload`: (Handle module).
  hook::Function *load = nullptr, *unload = nullptr;
};

// Call this when the program has got `kernel` from `module` by its name.
void kernelFound(const KernelSource &source, Handle module, Handle kernel, const char *name) noexcept;
// Call this when `copy` was registered as the counted copy of `kernel`. `binary` contains both.
void kernelRegistered(const KernelSource &source, Handle binary, Handle kernel, Handle copy, const char *name) noexcept;
// Call this when the program has got a second handle of `kernel`: `other`. `copyOf` returns the second handle of the
// copy; null: there is none.
void kernelNamed(Handle kernel, Handle other, Handle (*copyOf)(Handle copy)) noexcept;
// Returns the kernel's counted copy; null: it has none, or only the kernel itself may be launched.
Handle countedCopyOf(Handle kernel) noexcept;
// Call this before the module is unloaded.
void moduleGoes(Handle module) noexcept;
// Call this before all memory of a context or device is freed. Null: it is not known which one, so all count as freed.
void placeGoes(Handle place) noexcept;
// Call this when the program has waited for the device.
void deviceWaited() noexcept;

// One launch. The arguments must stay where they are as long as this object exists.
class ModuleLaunch {
public:
  // `each`: the addresses of the arguments. `packed`: instead, a list with the address and the size of all arguments,
  // as for cuLaunchKernel.
  ModuleLaunch(Handle kernel, const LaunchShape &shape, Handle stream, void **each, void **packed) noexcept;
  ~ModuleLaunch();
  ModuleLaunch(const ModuleLaunch &) = delete;
  ModuleLaunch &operator=(const ModuleLaunch &) = delete;

  Handle copy() const noexcept { return copy_; } // null: launch the kernel itself
  void **each() const noexcept;
  void **packed() const noexcept;
  void tellArguments(void **each, void **packed) const noexcept; // records the arguments, after the launch's event
  void refused() noexcept;  // the copy could not be launched: now and later, launch the kernel itself
  void launched() noexcept; // the kernel or its copy was launched
  bool isKnown() const noexcept { return known_ != nullptr; }

private:
  void plan(void **each, void **packed) noexcept;
  void planInKernel() noexcept;

  struct LoadedKernel *known_ = nullptr;
  struct PlacedBanks *banks_ = nullptr;
  struct CopyArguments *arguments_ = nullptr; // arguments of the copy
  Handle copy_ = nullptr, stream_;
  uint64_t counts_ = 0;      // address of the counters for this launch; 0: the launch is not counted
  bool is_captured_ = false; // the kernel counts itself, and a graph launches it later
  abi::DeviceChoice choice_{};
  LaunchShape shape_;
};

// The source of kernels in binaries that a program registers with HIP's runtime (hip/graphs.cpp).
extern const KernelSource kHipRegistered;

// Bodies of hooks: of functions that return a module's kernel by its name, and of functions that wait for the device.
template <const KernelSource &kSource>
constexpr auto kKernelOf = [](auto real, void *, auto *kernel, auto module, const char *name) {
  const auto status = real(kernel, module, name);
  if (status == decltype(status)(0))
    kernelFound(kSource, module, *kernel, name);
  return status;
};
constexpr auto kWaited = [](auto real, void *, auto... parameters) {
  const auto status = real(parameters...);
  if (status == decltype(status)(0))
    deviceWaited();
  return status;
};

// Applies a setting of the program's kernel to the copy, too. `call` applies it to one of them. The status for the copy
// is ignored: if the driver refuses the setting for the copy, it also refuses to launch the copy.
template <class Kernel, class Call> auto forBoth(const ModuleApi &api, Kernel kernel, Call call) {
  const auto status = call(kernel);
  const Handle copy = status == decltype(status)(0) ? countedCopyOf(kernel) : nullptr;
  if (copy == nullptr)
    return status;
  const hook::OwnWork own;
  const auto again = [&] { return static_cast<int>(call(static_cast<Kernel>(const_cast<void *>(copy)))); };
  api.last != nullptr ? leavingLastError(*api.last, again) : again();
  return status;
}

// Launches the copy or, if this fails, the kernel `itself`. `call` launches one of them with the given arguments.
template <class Kernel, class Call>
auto launchEither(ModuleLaunch &launch, Kernel itself, void **each, void **packed, Call call) {
  using Status = decltype(call(itself, each, packed));
  launch.tellArguments(each, packed);
  if (launch.copy() != nullptr) {
    if (call(static_cast<Kernel>(const_cast<void *>(launch.copy())), launch.each(), launch.packed()) == Status(0))
      return Status(0);
    launch.refused();
  }
  return call(itself, each, packed);
}

// The unit of a launch's three grid sizes.
enum class GridIn : uint8_t { Blocks, Threads };
constexpr LaunchShape launchShape(GridIn in, const uint32_t (&grid)[3], const uint32_t (&block)[3]) {
  LaunchShape shape{{}, {}, 1};
  for (int i = 0; i < 3; ++i) {
    shape.grid[i] = in == GridIn::Blocks ? grid[i] : abi::blocksOf(grid[i], block[i]);
    shape.block[i] = block[i];
    shape.threads *= in == GridIn::Threads ? grid[i] : uint64_t{grid[i]} * block[i];
  }
  return shape;
}

template <class OfRow, class Either, class... Parameters>
auto launchRecorded(ModuleLaunch &launch, Either either, void *caller, Parameters... parameters) {
  const auto status = hook::callRecorded<OfRow>(either, caller, parameters...);
  if (status == decltype(status)(0) && launch.isKnown())
    launch.launched();
  return status;
}

// The body of the hooks of cuLaunchKernel, hipModuleLaunchKernel and HIP's launch functions that have more parameters
// at the end.
template <class OfRow, GridIn kIn = GridIn::Blocks, class Real, class Kernel, class Bytes, class Stream, class... Rest>
auto launchModule(Real real, void *caller, Kernel kernel, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                  unsigned block_x, unsigned block_y, unsigned block_z, Bytes shared, Stream stream, void **each,
                  void **packed, Rest... rest) {
  const LaunchShape shape = launchShape(kIn, {grid_x, grid_y, grid_z}, {block_x, block_y, block_z});
  ModuleLaunch launch(kernel, shape, stream, each, packed);
  const auto either = [&](Kernel itself, auto gx, auto gy, auto gz, auto bx, auto by, auto bz, auto bytes, Stream on,
                          void **e, void **p, Rest... behind) {
    return launchEither(launch, itself, e, p, [&](Kernel one, void **to_each, void **to_packed) {
      return real(one, gx, gy, gz, bx, by, bz, bytes, on, to_each, to_packed, behind...);
    });
  };
  return launchRecorded<OfRow>(launch, either, caller, kernel, grid_x, grid_y, grid_z, block_x, block_y, block_z,
                               shared, stream, each, packed, rest...);
}

// The fields that follow abi::LaunchConfig in CUlaunchConfig, HIP_LAUNCH_CONFIG and hipLaunchConfig_t.
struct LaunchAttribute {
  uint32_t what, reserved;
  uint64_t value[8];
};
struct AttributedConfig {
  abi::LaunchConfig config;
  const LaunchAttribute *attributes;
  uint32_t attribute_count;
};

// Whether all blocks of a launch have to run at the same time. The copy is then not launched. The program computed the
// number of blocks for its own kernel, and the device may run fewer blocks of the copy at a time.
inline bool isCooperative(const void *config) {
  constexpr uint32_t kCooperative = 2, kMost = 64;
  const auto *const launch = static_cast<const AttributedConfig *>(config);
  if (launch == nullptr || launch->attributes == nullptr)
    return false;
  for (uint32_t i = 0; i < launch->attribute_count && i < kMost; ++i)
    if (launch->attributes[i].what == kCooperative && static_cast<uint32_t>(launch->attributes[i].value[0]) != 0)
      return true;
  return false;
}

// The body of the hooks of cuLaunchKernelEx, hipDrvLaunchKernelEx and hipLaunchKernelExC, which has no parameter
// `packed`.
template <class OfRow, class Real, class Config, class Kernel, class... Packed>
auto launchConfigured(Real real, void *caller, const Config *config, Kernel kernel, void **each, Packed... packed) {
  if (isCooperative(config))
    return hook::callRecorded<OfRow>(real, caller, config, kernel, each, packed...);
  constexpr abi::LaunchConfig kNothing{};
  const auto &known = config != nullptr ? *reinterpret_cast<const abi::LaunchConfig *>(config) : kNothing;
  const auto given = [](void **behind = nullptr) { return behind; };
  ModuleLaunch launch(kernel, launchShape(GridIn::Blocks, known.grid, known.block), known.stream, each,
                      given(packed...));
  const auto either = [&](const Config *to, Kernel itself, void **e, Packed... p) {
    return launchEither(launch, itself, e, given(p...), [&](Kernel one, void **to_each, void **to_packed) {
      if constexpr (sizeof...(Packed) == 0)
        return real(to, one, to_each);
      else
        return real(to, one, to_each, to_packed);
    });
  };
  return launchRecorded<OfRow>(launch, either, caller, config, kernel, each, packed...);
}

} // namespace msleaks::hooks
