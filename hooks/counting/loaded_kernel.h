// A kernel of a module (CUDA, HIP), and what the module's constants say about it.
#pragma once

#include "counting/counting_state.h"
#include "counting/module_driver.h"

#include <cstdio>

namespace msleaks::hooks {

using ModuleBanks = PlacedBanks<ModuleDriver>;

struct LoadedKernel {
  Handle handle;
  Handle copy, module;
  const KernelSource *source;
  const char *name;
  bool in_kernel; // the kernel counts itself, and there is no copy
  abi::DeviceKernel row{};
  CountedFunction *function = nullptr; // null: the kernel was not launched yet
  bool is_doubtful = false;            // the copy is not launched
  uint64_t told = 0; // if in_kernel: the address of counters in the module's variable; 0: not written yet
  LoadedKernel *next = nullptr;
};

inline constinit CountingState<LoadedKernel, ModuleDriver> module_state;

// A name that may be too long for the stack of the thread that launches.
class LongName {
public:
  static constexpr size_t kMost = 4096;
  LongName(const char *prefix, const char *name) : text_(static_cast<char *>(takePages(kMost))) {
    if (text_ != nullptr)
      std::snprintf(text_, kMost, "%s%s", prefix, name);
  }
  ~LongName() {
    if (text_ != nullptr)
      givePages(text_, kMost);
  }
  LongName(const LongName &) = delete;
  LongName &operator=(const LongName &) = delete;
  const char *get() const { return text_; } // null: there is no memory

private:
  char *text_;
};

// Hold CountedLock while you call these functions.

// Reads what the module's constants say about the kernel. Call this at the kernel's first launch: only then the calling
// thread is sure to use the module's device.
bool describe(LoadedKernel &kernel) noexcept;
// For kernels that count themselves: writes the counters' address into the variable of the kernel's module. Each later
// launch of a kernel of the module uses it.
bool tellModule(LoadedKernel &kernel, const abi::DeviceChoice &choice) noexcept;
// Returns the counters for a described kernel in the place that the calling thread uses. Null: there are none.
ModuleBanks *banksFor(const LoadedKernel &kernel, const abi::DeviceChoice &choice) noexcept;

} // namespace msleaks::hooks
