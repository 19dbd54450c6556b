// Hooks for kernels that a program registers with HIP's runtime at its start. The compiler inserts the code for this.
// The program launches such a kernel by the address of its stub. The binary may have a counted copy of a kernel
// (abi/device_counts.h). At the kernel's first launch, the hooks register this copy, with a stub of its own. So the
// copy uses the variables of the same module.
#include "core/rows.h"
#include "counting/device_binary.h"
#include "counting/handle_table.h"
#include "counting/module_hooks.h"
#include "hip/rows.h"

using namespace msleaks;
using namespace msleaks::hooks;

namespace {

MSL_ASKED(register_function, "libamdhip64", "__hipRegisterFunction")

// The bundle that the compiler passes to HIP's runtime: a binary for each kind of device.
//
//   "__CLANG_OFFLOAD_BUNDLE__" | entries: u64 | { offset: u64, bytes: u64, name bytes: u64, name } × entries | …
constexpr char kBundle[] = "__CLANG_OFFLOAD_BUNDLE__";
struct BundleEntry {
  uint64_t offset, bytes, name_bytes;
};
struct Wrapper {
  uint32_t magic, version;
  const char *bundle;
  void *reserved;
};
constexpr uint32_t kWrapperMagic = 0x4849'5046; // "HIPF"

// Entries are added at the beginning of a list, and never removed. So a launch can check without a lock whether it is
// the first one.
struct Stub {
  const void *stub; // null: this object is free for another kernel
  bool is_new;      // the kernel was not launched yet, and has no setting yet
  unsigned most_threads;
  void **modules;
  const char *bundle, *name;
  Stub *next;
};

enum class Copies : uint8_t { Unknown, None, Some };

struct Modules {
  Handle handle;
  const char *bundle;
  Copies copies = Copies::Unknown; // whether the bundle has any; stored, since a library may have ten thousand kernels
  Modules *next = nullptr;
};

constexpr size_t kBuckets = 8192;
constexpr uint64_t kMostEntries = 256, kMostNameBytes = 4096;
Stub *stubs[kBuckets];
HandleTable<Modules> all_modules{};

Stub *&bucketOf(const void *stub) { return stubs[reinterpret_cast<uintptr_t>(stub) / 16 % kBuckets]; }

Stub *find(const void *stub) {
  Stub *known = __atomic_load_n(&bucketOf(stub), __ATOMIC_ACQUIRE);
  while (known != nullptr && __atomic_load_n(&known->stub, __ATOMIC_ACQUIRE) != stub)
    known = known->next;
  return known;
}

// Whether a binary in the bundle contains this text. A compressed bundle is not read, so its kernels are not counted.
bool mentions(const char *bundle, std::string_view text) {
  uint64_t entries = 0, at = sizeof kBundle - 1;
  if (std::memcmp(bundle, kBundle, at) != 0)
    return false;
  std::memcpy(&entries, bundle + at, sizeof entries);
  at += sizeof entries;
  for (uint64_t i = 0; i < entries && i < kMostEntries; ++i) {
    BundleEntry entry;
    std::memcpy(&entry, bundle + at, sizeof entry);
    at += sizeof entry + entry.name_bytes;
    if (entry.name_bytes > kMostNameBytes)
      return false;
    if (entry.bytes != 0 && DeviceBinary(bundle + entry.offset, entry.bytes).mentions(text))
      return true;
  }
  return false;
}

void keepStub(void **modules, const void *stub, const char *name, unsigned most_threads) {
  const CountedLock lock;
  const Modules *const of = all_modules.find(modules);
  if (of == nullptr)
    return;
  Stub *&bucket = bucketOf(stub);
  Stub *known = bucket;
  while (known != nullptr && known->stub != nullptr && known->stub != stub)
    known = known->next;
  const bool is_added = known == nullptr;
  if (is_added)
    known = static_cast<Stub *>(keep(sizeof(Stub)));
  if (known == nullptr)
    return;
  known->modules = modules;
  known->bundle = of->bundle;
  known->name = name;
  known->most_threads = most_threads;
  __atomic_store_n(&known->is_new, true, __ATOMIC_RELAXED);
  __atomic_store_n(&known->stub, stub, __ATOMIC_RELEASE);
  if (is_added) {
    known->next = bucket;
    __atomic_store_n(&bucket, known, __ATOMIC_RELEASE);
  }
}

void forgetModules(void **handle) {
  const char *bundle = nullptr;
  {
    const CountedLock lock;
    if (const Modules *const known = all_modules.find(handle))
      bundle = known->bundle;
    all_modules.forget(handle);
    for (Stub *stub : stubs)
      for (; stub != nullptr; stub = stub->next)
        if (stub->stub != nullptr && stub->modules == handle)
          __atomic_store_n(&stub->stub, nullptr, __ATOMIC_RELAXED);
  }
  if (bundle != nullptr)
    moduleGoes(bundle);
}

// Whether this is the kernel's first launch, and its bundle has copies of kernels. Stores the kernel's entry in
// `launched`.
bool isToBeCopied(const void *stub, Stub &launched) {
  const CountedLock lock;
  Stub *const known = find(stub);
  if (known == nullptr || !known->is_new)
    return false;
  __atomic_store_n(&known->is_new, false, __ATOMIC_RELAXED);
  launched = *known;
  Modules *const of = all_modules.find(known->modules);
  if (of != nullptr && of->copies == Copies::Unknown)
    of->copies = mentions(of->bundle, abi::kCountedPrefix) ? Copies::Some : Copies::None;
  return of != nullptr && of->copies == Copies::Some;
}

// Returns the name of the kernel's copy. The text's address is also the copy's stub: no function has this address.
// Null: there is no memory.
char *nameOfCopy(const char *name) {
  const size_t bytes = std::strlen(name) + 1;
  constexpr size_t kPrefix = sizeof abi::kCountedPrefix - 1;
  const CountedLock lock;
  auto *const copy = static_cast<char *>(keep(kPrefix + bytes));
  if (copy != nullptr) {
    std::memcpy(copy, abi::kCountedPrefix, kPrefix);
    std::memcpy(copy + kPrefix, name, bytes);
  }
  return copy;
}

// Registers the kernel's copy at its first launch or setting. The lock is not held here, because HIP's runtime may call
// the hooks.
void registerCopy(const void *stub) {
  const Stub *const known = find(stub);
  if (known == nullptr || !__atomic_load_n(&known->is_new, __ATOMIC_RELAXED))
    return;
  Stub launched{};
  abi::DeviceChoice choice;
  if (!isToBeCopied(stub, launched) || !countsLaunches(choice))
    return;
  const hook::OwnWork own;
  char *const copy = nameOfCopy(launched.name);
  if (copy == nullptr || !mentions(launched.bundle, {copy, std::strlen(copy) + 1}))
    return;
  using Register = void(void **, const void *, char *, const char *, unsigned, void *, void *, void *, void *, int *);
  auto *const real = reinterpret_cast<Register *>(hook::realOf(register_function));
  if (real == nullptr)
    return;
  real(launched.modules, copy, copy, copy, launched.most_threads, nullptr, nullptr, nullptr, nullptr, nullptr);
  kernelRegistered(kHipRegistered, launched.bundle, stub, copy, launched.name);
}

template <hook::Name kName>
constexpr auto kLaunchStub = [](auto real, void *caller, const void *stub, dim3 grid, dim3 block, void **each,
                                size_t shared, hipStream_t stream, auto... rest) {
  registerCopy(stub);
  const LaunchShape shape = launchShape(GridIn::Blocks, {grid.x, grid.y, grid.z}, {block.x, block.y, block.z});
  const auto call = [&](const void *one, void **to_each, void **) {
    return real(one, grid, block, to_each, shared, stream, rest...);
  };
  return launchEither<hook::Known<kName>>(stub, shape, stream, each, nullptr, call, caller, stub, grid, block, each,
                                          shared, stream, rest...);
};
constexpr auto kLaunchStubEx = [](auto real, void *caller, auto config, const void *stub, void **each) {
  registerCopy(stub);
  return kLaunchConfigured<"hipLaunchKernelExC">(real, caller, config, stub, each);
};

// A setting of a registered kernel, or of a function of a module.
constexpr auto kFunctionSet = [](auto real, void *, const void *stub, auto... how) {
  registerCopy(stub);
  return forBoth(*kHipRegistered.api, stub, [&](const void *one) { return real(one, how...); });
};

constexpr auto kRegisterModules = [](auto real, void *, const void *given) {
  void **const handle = real(given);
  const auto *const wrapper = static_cast<const Wrapper *>(given);
  if (handle != nullptr && wrapper != nullptr && wrapper->magic == kWrapperMagic && wrapper->bundle != nullptr) {
    const CountedLock lock;
    all_modules.add({handle, wrapper->bundle});
  }
  return handle;
};
constexpr auto kRegister = [](auto real, void *, void **modules, const void *stub, char *function, const char *name,
                              unsigned most_threads, auto... rest) {
  real(modules, stub, function, name, most_threads, rest...);
  if (name != nullptr)
    keepStub(modules, stub, name, most_threads);
};
constexpr auto kUnregister = [](auto real, void *, void **modules) {
  forgetModules(modules);
  real(modules);
};

} // namespace

#define MSL_PART_REGISTERED
#include "msleaks/abi/functions/hip.def"
