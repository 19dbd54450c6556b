// Counts kernels of an API that loads modules and launches their functions by handles (CUDA, HIP), if the kernels have
// counted copies (abi/device_counts.h). When the program gets a kernel from a module, the hooks also get the kernel's
// copy. A launch runs the kernel or its copy. The hooks read the counters after the program has waited itself, and at
// the exit.
//
// Some kernels count themselves and have no copy (abi::kInKernelPrefix). The hooks write the address of the counters
// into a variable of their module.
#pragma once

#include "counting/module_driver.h"

namespace msleaks::hooks {

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

// One launch: of the kernel itself or of its counted copy. The kernel itself runs if the launch is part of a capture.
// It also runs if the copy cannot be launched, or if the buffer of counters cannot be made. The arguments must stay
// where they are as long as this object exists.
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
  PlacedBanks<ModuleDriver> *banks_ = nullptr;
  struct CopyArguments *arguments_ = nullptr; // arguments of the copy
  Handle copy_ = nullptr, stream_;
  uint64_t counts_ = 0;      // address of the counters for this launch; 0: the launch is not counted
  bool is_captured_ = false; // the kernel counts itself, and a graph launches it later
  abi::DeviceChoice choice_{};
  LaunchShape shape_;
};

// The source of kernels in binaries that a program registers with HIP's runtime (hip/graphs.cpp).
extern const KernelSource kHipRegistered;

} // namespace msleaks::hooks
