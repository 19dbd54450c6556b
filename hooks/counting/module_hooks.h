// Bodies of the hooks of CUDA and HIP for kernels that have counted copies.
#pragma once

#include "counting/module_kernels.h"

#include "msleaks/hook.h"

namespace msleaks::hooks {

// Tells the runtime the name of a kernel that the driver has returned.
template <abi::Family kFamily, class Kernel> void tellName(Kernel kernel, const char *name) {
  if (__msl_hook_kernel != nullptr)
    __msl_hook_kernel(abi::Traits(abi::Verb::Kernel, kFamily, abi::Heap::Device, 0).packed(), kernel, name);
}

// Functions that return a module's kernel by its name. The name is recorded each time: after a module was unloaded, the
// driver may use a handle again for another kernel.
template <const KernelSource &kSource>
constexpr auto kNamedKernelOf = [](auto real, void *, auto *kernel, auto module, const char *name) {
  const auto status = real(kernel, module, name);
  if (status != decltype(status)(0))
    return status;
  kernelFound(kSource, module, *kernel, name);
  tellName<kSource.api->family>(*kernel, name);
  return status;
};

template <hook::Name kName>
constexpr auto kUnload = [](auto real, void *caller, auto module) {
  moduleGoes(module);
  return hook::callRecorded<hook::Known<kName>>(real, caller, module);
};

// Functions that wait for the device.
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

// Launches the kernel's copy or, if this fails, the kernel itself. `call` launches one of them with the given
// arguments. The other parameters are those of the hook.
template <class OfRow, class Kernel, class Call, class... Parameters>
auto launchEither(Kernel itself, const LaunchShape &shape, Handle stream, void **each, void **packed, Call call,
                  void *caller, Parameters... parameters) {
  using Status = decltype(call(itself, each, packed));
  ModuleLaunch launch(itself, shape, stream, each, packed);
  const auto either = [&](auto...) {
    launch.tellArguments(each, packed);
    if (launch.copy() != nullptr) {
      if (call(static_cast<Kernel>(const_cast<void *>(launch.copy())), launch.each(), launch.packed()) == Status(0))
        return Status(0);
      launch.refused();
    }
    return call(itself, each, packed);
  };
  const Status status = hook::callRecorded<OfRow>(either, caller, parameters...);
  if (status == Status(0) && launch.isKnown())
    launch.launched();
  return status;
}

// For cuLaunchKernel, hipModuleLaunchKernel and HIP's launch functions that have more parameters at the end.
template <hook::Name kName, GridIn kIn>
constexpr auto kLaunchIn = [](auto real, void *caller, auto kernel, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                              unsigned block_x, unsigned block_y, unsigned block_z, auto shared, auto stream,
                              void **each, void **packed, auto... rest) {
  const LaunchShape shape = launchShape(kIn, {grid_x, grid_y, grid_z}, {block_x, block_y, block_z});
  const auto call = [&](auto one, void **to_each, void **to_packed) {
    return real(one, grid_x, grid_y, grid_z, block_x, block_y, block_z, shared, stream, to_each, to_packed, rest...);
  };
  return launchEither<hook::Known<kName>>(kernel, shape, stream, each, packed, call, caller, kernel, grid_x, grid_y,
                                          grid_z, block_x, block_y, block_z, shared, stream, each, packed, rest...);
};
template <hook::Name kName> constexpr auto kLaunch = kLaunchIn<kName, GridIn::Blocks>;
template <hook::Name kName> constexpr auto kLaunchThreads = kLaunchIn<kName, GridIn::Threads>;

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

// For cuLaunchKernelEx, hipDrvLaunchKernelEx and hipLaunchKernelExC, which has no parameter `packed`.
template <hook::Name kName>
constexpr auto kLaunchConfigured =
    [](auto real, void *caller, const auto *config, auto kernel, void **each, auto... packed) {
      using OfRow = hook::Known<kName>;
      if (isCooperative(config))
        return hook::callRecorded<OfRow>(real, caller, config, kernel, each, packed...);
      constexpr abi::LaunchConfig kNothing{};
      const auto &known = config != nullptr ? *reinterpret_cast<const abi::LaunchConfig *>(config) : kNothing;
      const auto given = [](void **behind = nullptr) { return behind; };
      const auto call = [&](auto one, void **to_each, [[maybe_unused]] void **to_packed) {
        if constexpr (sizeof...(packed) == 0)
          return real(config, one, to_each);
        else
          return real(config, one, to_each, to_packed);
      };
      return launchEither<OfRow>(kernel, launchShape(GridIn::Blocks, known.grid, known.block), known.stream, each,
                                 given(packed...), call, caller, config, kernel, each, packed...);
    };

} // namespace msleaks::hooks
