// Kernels of an API that loads modules and launches their functions by handles (CUDA, HIP), as far as they have counted
// copies (abi/device_counts.h). Where the program asks a module for a kernel, its copy is asked for beside it. A launch
// runs one or the other. Nothing waits for a stream of the program: buffers of counters are made and read through a
// stream of our own, where the program has waited itself, and at the exit.
//
// On any doubt the kernel runs as it is: the launch is part of a capture, the copy cannot be launched, the buffer
// cannot be made. A kernel that counts itself is launched as it is, and its module is told where it counts.
#pragma once

#include "counted_kernels.h"
#include "device.h"

#include "msleaks/hook.h"

namespace msleaks::hooks {

using Handle = const void *;

// The driver's own functions, called past our hooks; 0 says that it is done.
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
  hook::Function *exchange_mode; // (int *mode): of what the calling thread may do while a stream is captured
  const LastError *last;         // what the program may ask for later; null: the driver keeps no error
  Handle (*place)();             // what memory and streams belong to, as the calling thread has it; null: nothing
  void (*enter)(Handle place);   // the calling thread uses it
  abi::Family family;
};

// Where kernels come from: modules, libraries. `find_kernel`: (Handle *kernel, Handle source, const char *name),
// `find_constant`: (uint64_t *address, size_t *bytes, Handle source, const char *name).
struct KernelSource {
  const ModuleApi *api;
  hook::Function *find_kernel, *find_constant;
  // Of binaries that the driver's runtime loads by itself: constants are looked up in a module of our own.
  // (Handle *module, const void *binary), (Handle module); null: the source is a module.
  hook::Function *load = nullptr, *unload = nullptr;
};

// The program was given `kernel`, by its name; `module` is of the source.
void kernelFound(const KernelSource &source, Handle module, Handle kernel, const char *name) noexcept;
// A copy has been registered beside it; `binary`: that both are in.
void kernelRegistered(const KernelSource &source, Handle binary, Handle kernel, Handle copy, const char *name) noexcept;
// It was given the same kernel by another handle. `copyOf` gives that of the copy, null: there is none.
void kernelNamed(Handle kernel, Handle other, Handle (*copyOf)(Handle copy)) noexcept;
// The kernel's counted copy; null: it has none, or only the kernel itself is launched.
Handle countedCopyOf(Handle kernel) noexcept;
// The module is about to go.
void moduleGoes(Handle module) noexcept;
// All memory of the place is about to go; null: of a place that is not known.
void placeGoes(Handle place) noexcept;
// The program has waited for the device.
void deviceWaited() noexcept;

// One launch. Its arguments stay where they are until it ends.
class ModuleLaunch {
public:
  // `each`: addresses of the arguments; `packed`: or a list with their place and size, as cuLaunchKernel takes both.
  ModuleLaunch(Handle kernel, const LaunchShape &shape, Handle stream, void **each, void **packed) noexcept;
  ~ModuleLaunch();
  ModuleLaunch(const ModuleLaunch &) = delete;
  ModuleLaunch &operator=(const ModuleLaunch &) = delete;

  Handle copy() const noexcept { return copy_; } // null: the kernel itself is to be launched
  void **each() const noexcept;
  void **packed() const noexcept;
  void tellArguments(void **each, void **packed) const noexcept; // behind the event of the launch
  void refused() noexcept;  // the copy was; the kernel itself is launched, now and later
  void launched() noexcept; // one of the two was
  bool isKnown() const noexcept { return known_ != nullptr; }

private:
  void plan(void **each, void **packed) noexcept;
  void planInKernel() noexcept;

  struct LoadedKernel *known_ = nullptr;
  struct PlacedBanks *banks_ = nullptr;
  struct CopyArguments *arguments_ = nullptr; // of a copy that is launched
  Handle copy_ = nullptr, stream_;
  uint64_t counts_ = 0;      // where the launch counts; 0: it does not
  bool is_captured_ = false; // of a kernel that counts itself: launched by a graph, later
  abi::DeviceChoice choice_{};
  LaunchShape shape_;
};

// Binaries that are registered with HIP's runtime (hip_graphs.cpp).
extern const KernelSource kHipRegistered;

// Hooks of functions that give a kernel of a module by its name, and of those that wait.
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

// What the program tells the driver of its kernel is told of the copy, too. `call` tells it of one of them; a copy of
// which it is refused is refused again when it is launched.
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

// `call` launches a kernel with these arguments: the copy, or else `itself`.
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

// What the six sizes of a launch are: of a grid in blocks, or in threads.
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

// cuLaunchKernel, hipModuleLaunchKernel, and those of HIP's that have more parameters behind these.
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

// What stands behind abi::LaunchConfig in CUlaunchConfig, HIP_LAUNCH_CONFIG and hipLaunchConfig_t.
struct LaunchAttribute {
  uint32_t what, reserved;
  uint64_t value[8];
};
struct AttributedConfig {
  abi::LaunchConfig config;
  const LaunchAttribute *attributes;
  uint32_t attribute_count;
};

// Whether all blocks have to run at once. The program has asked how many of its own kernel do, not of the copy.
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

// cuLaunchKernelEx and hipDrvLaunchKernelEx; hipLaunchKernelExC has no `packed`.
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
