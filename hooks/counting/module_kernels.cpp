#include "counting/module_kernels.h"

#include "counting/loaded_kernel.h"

#include <algorithm>
#include <cstring>

namespace msleaks::hooks {
namespace {

// The name's text follows this struct in memory.
struct Name {
  Name *next;
  const char *text() const { return reinterpret_cast<const char *>(this + 1); }
};

constexpr size_t kNameBuckets = 1024;
Wiped<Name *[kNameBuckets]> kept_names;

// Returns a copy of the name that is never freed. A program may load a module many times, so each name is copied once.
const char *kept(const char *name) {
  auto *const buckets = kept_names.make();
  if (buckets == nullptr)
    return nullptr;
  const size_t bytes = std::strlen(name) + 1;
  Name *&names = (*buckets)[abi::fnv1a32(reinterpret_cast<const unsigned char *>(name), bytes) % kNameBuckets];
  for (const Name *known = names; known != nullptr; known = known->next)
    if (std::strcmp(known->text(), name) == 0)
      return known->text();
  auto *const added = static_cast<Name *>(keep(sizeof(Name) + bytes));
  if (added == nullptr)
    return nullptr;
  std::memcpy(added + 1, name, bytes);
  added->next = names;
  names = added;
  return added->text();
}

LoadedKernel *remember(const LoadedKernel &made) {
  return module_state.add(made, [] { module_state.end(); });
}

bool isOurs(const char *name) { return std::strncmp(name, abi::kCountedPrefix, sizeof abi::kCountedPrefix - 1) == 0; }

// Returns the kernel whose name is `prefix` followed by `name`; null: there is none.
Handle findNamed(const KernelSource &source, Handle module, const char *prefix, const char *name) {
  const LongName full_name(prefix, name);
  using Find = int(Handle *, Handle, const char *);
  Handle found = nullptr;
  const bool is_found = full_name.get() != nullptr &&
                        ask<Find>(*source.api, source.find_kernel, &found, module, full_name.get()) == kDone;
  return is_found ? found : nullptr;
}

// The kernel that belongs to a program's kernel: its counted copy, or the mark of a kernel that counts itself.
struct Beside {
  Handle kernel = nullptr; // null: the program has neither
  bool in_kernel = false;
};

Beside findBeside(const KernelSource &source, Handle module, const char *name, abi::DeviceChoice &choice) {
  constexpr size_t kLongestPrefix = std::max(sizeof abi::kCountedPrefix, sizeof abi::kInKernelPrefix);
  if (isOurs(name) || std::strlen(name) + kLongestPrefix > LongName::kMost || !countsLaunches(choice))
    return {};
  if (const Handle copy = findNamed(source, module, abi::kCountedPrefix, name))
    return {copy, false};
  return {findNamed(source, module, abi::kInKernelPrefix, name), true};
}

} // namespace

void kernelFound(const KernelSource &source, Handle module, Handle kernel, const char *name) noexcept {
  const hook::OwnWork own;
  abi::DeviceChoice choice;
  // The lock is not held here, because a driver may call itself through the hooks.
  const Beside beside = findBeside(source, module, name, choice);
  if (beside.kernel == nullptr && !module_state.hasKernels())
    return;
  const CountedLock lock;
  if (!lock || !module_state.make())
    return;
  const LoadedKernel *const known = module_state.kernels().find(kernel);
  if (known != nullptr && known->copy == beside.kernel && known->module == module)
    return;
  module_state.kernels().forget(kernel); // the handle belonged to an unloaded module
  const char *const text = beside.kernel != nullptr ? kept(name) : nullptr;
  if (text == nullptr)
    return;
  LoadedKernel *const added = remember({kernel, beside.kernel, module, &source, text, beside.in_kernel});
  if (added != nullptr && beside.in_kernel) // its launches may pass through no hook
    tellModule(*added, choice);
}

void kernelRegistered(const KernelSource &source, Handle binary, Handle kernel, Handle copy,
                      const char *name) noexcept {
  const CountedLock lock;
  if (!lock || !module_state.make())
    return;
  module_state.kernels().forget(kernel); // the stub belonged to an unloaded library
  if (const char *const text = kept(name))
    remember({kernel, copy, binary, &source, text, false});
}

void kernelNamed(Handle kernel, Handle other, Handle (*copyOf)(Handle copy)) noexcept {
  if (!module_state.hasKernels() || kernel == other)
    return;
  const hook::OwnWork own;
  const CountedLock lock;
  const LoadedKernel *const known = module_state.kernels().find(kernel);
  const LoadedKernel *const before = module_state.kernels().find(other);
  if (before != nullptr && known != nullptr && before->source == known->source && before->name == known->name)
    return;
  module_state.kernels().forget(other);
  LoadedKernel added = known != nullptr ? *known : LoadedKernel{};
  added.handle = other;
  added.copy = known != nullptr ? copyOf(known->copy) : nullptr;
  if (added.copy != nullptr)
    remember(added);
}

Handle countedCopyOf(Handle kernel) noexcept {
  if (!module_state.hasKernels())
    return nullptr;
  const CountedLock lock;
  const LoadedKernel *const known = module_state.kernels().find(kernel);
  return known != nullptr && !known->is_doubtful ? known->copy : nullptr;
}

void moduleGoes(Handle module) noexcept {
  if (!module_state.hasKernels())
    return;
  const CountedLock lock;
  module_state.kernels().forEach([&](LoadedKernel &kernel) {
    if (kernel.module == module)
      module_state.kernels().forget(kernel.handle);
  });
}

void placeGoes(Handle place) noexcept {
  if (!module_state.hasBanks())
    return;
  const hook::OwnWork own;
  const CountedLock lock;
  module_state.banks().forEach([&](ModuleBanks &banks) {
    if (place == nullptr || banks.place == place)
      banks.drop();
  });
  // The next launch writes the address again.
  module_state.kernels().forEach([](LoadedKernel &kernel) { kernel.told = 0; });
}

void deviceWaited() noexcept {
  if (!module_state.hasBanks())
    return;
  const hook::OwnWork own;
  const CountedLock lock;
  module_state.banks().readSome();
}

} // namespace msleaks::hooks
