#include "counting/loaded_kernel.h"

namespace msleaks::hooks {
namespace {

// A module with the constants of a kernel. If the source has `load`, this object loads and unloads the module.
class ReadModule {
public:
  explicit ReadModule(const LoadedKernel &kernel) : source(*kernel.source), handle_(kernel.module) {
    if (source.load != nullptr &&
        ask<int(Handle *, const void *)>(*source.api, source.load, &handle_, kernel.module) != kDone)
      handle_ = nullptr;
  }
  ~ReadModule() {
    if (source.load != nullptr && handle_ != nullptr)
      ask<int(Handle)>(*source.api, source.unload, handle_);
  }
  ReadModule(const ReadModule &) = delete;
  ReadModule &operator=(const ReadModule &) = delete;
  Handle get() const { return handle_; }
  const KernelSource &source;

private:
  Handle handle_;
};

// A constant of a module. copy() reads from its first byte.
class Constant {
public:
  Constant(const ReadModule &module, const char *name, Handle stream) : driver_{module.source.api}, stream_(stream) {
    size_t bytes = 0;
    if (module.get() != nullptr && name != nullptr &&
        ask<int(uint64_t *, size_t *, Handle, const char *)>(*driver_.api, module.source.find_constant, &address_,
                                                             &bytes, module.get(), name) == kDone)
      bytes_ = bytes;
  }
  bool copy(void *to, uint64_t bytes) const {
    return bytes <= bytes_ && driver_.copyFrom(stream_, address_, bytes, to);
  }
  bool set(uint64_t value) const {
    return bytes_ == sizeof value && driver_.copyTo(stream_, address_, &value, sizeof value);
  }
  uint64_t bytes() const { return bytes_; }

private:
  ModuleDriver driver_;
  Handle stream_;
  uint64_t address_ = 0, bytes_ = 0;
};

} // namespace

bool describe(LoadedKernel &kernel) noexcept {
  const LongName name(abi::kKernelPrefix, kernel.name);
  const OwnStream stream(ModuleDriver{kernel.source->api}, nullptr);
  const ReadModule in(kernel);
  const Constant row(in, name.get(), stream.get());
  if (stream.get() == nullptr || !row.copy(&kernel.row, sizeof kernel.row))
    return false;
  if (kernel.row.version != abi::kDeviceCountsVersion || kernel.row.table[sizeof kernel.row.table - 1] != 0) {
    noteUncounted(kernel.name, "its module describes it in another version");
    return false;
  }
  CountedModule *module = findModule(kernel.row.table);
  if (module == nullptr) {
    const Constant table(in, kernel.row.table, stream.get());
    module = readModule(kernel.row.table, table.bytes(), [&](auto... copied) { return table.copy(copied...); });
  }
  kernel.function = module != nullptr ? functionOf(*module, kernel.name) : nullptr;
  return kernel.function != nullptr;
}

bool tellModule(LoadedKernel &kernel, const abi::DeviceChoice &choice) noexcept {
  if (kernel.function == nullptr && !describe(kernel))
    return false;
  const ModuleBanks *const banks = banksFor(kernel, choice);
  if (banks == nullptr)
    return false;
  const LongName name(abi::kCountsPrefix, kernel.row.table + sizeof abi::kGraphsPrefix - 1);
  const ReadModule module(kernel);
  if (Constant(module, name.get(), banks->stream).set(banks->memory))
    kernel.told = banks->memory;
  return kernel.told != 0;
}

ModuleBanks *banksFor(const LoadedKernel &kernel, const abi::DeviceChoice &choice) noexcept {
  const ModuleApi &api = *kernel.source->api;
  return module_state.banks().of({&api}, api.place(), *kernel.function->module, choice,
                                 [&] { return kernel.row.wave; });
}

} // namespace msleaks::hooks
