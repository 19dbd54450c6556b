// Defines the macros that make hooks: functions that are called instead of a library's functions (docs/hooks.md). For
// example,
//
//   MSL_HOOK(libOpenCL, cl_mem, clCreateBuffer, (cl_context, cl_mem_flags, size_t, void *, cl_int *))
//
// defines a function clCreateBuffer. It calls the real clCreateBuffer, and records the call according to the function's
// row in the table of functions (abi/functions.h). MSL_HOOK_AS uses a row of your own instead. Build hooks into a
// shared library and preload it after msleaks' own hooks (msleaks-run --hooks FILE).
//
// A hook calls the same callbacks that the compiler plugin inserts around an instrumented call. The site is the
// caller's address, or the path to it. If the call is instrumented, the plugin's callbacks record it. Then the hook
// only adds its handles and its failure. Inside another call of the same family, the hook only calls the real function.
//
// A library with hooks links against no library of msleaks. When the library registers its hooks, the runtime checks
// its kHookVersion. Without a runtime, or with a runtime of another version, the hooks only call the real functions.
#pragma once

#include "msleaks/abi/hook.h"
#include "msleaks/abi/symbols.h"
#include "msleaks/hook/arguments.h"
#include "msleaks/hook/each_parameter.h"
#include "msleaks/hook/failures.h"
#include "msleaks/hook/handles.h"

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <dlfcn.h>
#include <type_traits>

extern "C" {
[[gnu::visibility("hidden")]] extern msleaks::hook::Function __start_msl_hooks[];
[[gnu::visibility("hidden")]] extern msleaks::hook::Function __stop_msl_hooks[];
}

// The symbols are hidden, so two libraries with hooks do not share them. The libraries may be built with different
// versions of this header.
namespace msleaks {
namespace [[gnu::visibility("hidden")]] hook {

inline Library own_library = {kHookVersion, sizeof(Function), __start_msl_hooks, __stop_msl_hooks,
                              nullptr,      kUnknown,         kAsksForCallers};

[[gnu::constructor]] inline void registerOwnLibrary() {
  if (own_library.state == kUnknown && __msl_hook_register != nullptr)
    __msl_hook_register(&own_library);
}

// Marks a scope as a hook's own work. Calls in this scope are not recorded, and the program's errno is restored at the
// end.
class OwnWork {
public:
  OwnWork() : errno_(errno) {
    if (__msl_hook_begin != nullptr)
      __msl_hook_begin(&call_);
  }
  ~OwnWork() {
    if (__msl_hook_end != nullptr)
      __msl_hook_end(&call_);
    errno = errno_;
  }
  OwnWork(const OwnWork &) = delete;
  OwnWork &operator=(const OwnWork &) = delete;

private:
  Call call_{kOwnWork, kPass, 0, 0, 0, 0};
  int errno_;
};

// Returns the function of the same name in the next library after this library. This is for a process without
// __msl_hook_real: it has no runtime of msleaks, or an older one.
[[gnu::noinline, gnu::cold]] inline void *nextOf(Function &function) {
  const OwnWork own; // the dynamic linker allocates an error message for a missing symbol
  void *real = ::dlsym(RTLD_NEXT, function.name);
  if ((real == nullptr || real == function.hook) && __msl_hook_find != nullptr)
    real = __msl_hook_find(&function);
  if (real != nullptr)
    __atomic_store_n(&function.real, real, __ATOMIC_RELEASE);
  else
    ::dlerror(); // the program's next dlerror() must not return the error of this call
  return real;
}

// Returns the real function of a hook, for a call from the address `caller`. If `caller` is null, the hook itself makes
// the call.
inline void *realOf(Function &function, const void *caller = nullptr) {
  void *const real = __atomic_load_n(&function.real, __ATOMIC_ACQUIRE);
  if (real != nullptr) [[likely]]
    return real;
  return __msl_hook_real != nullptr ? __msl_hook_real(&function, caller) : nextOf(function);
}

// Calls the callbacks that the plugin inserts around an instrumented call of the same row (passes/rewrite.cpp).
template <class OfRow, class Values> class Callbacks {
  static constexpr abi::Symbol kRow = OfRow::kRow;
  using Verb = abi::Verb;

public:
  static constexpr uint32_t kTraits =
      abi::Traits(kRow.verb, kRow.family, kRow.heap, kRow.flags | abi::kFromHook).packed();

  // Returns the value by which a callback before the call identifies the call: the kernel of a launch, else the
  // address.
  static uint64_t identity(const Values &values) {
    return kRow.verb == Verb::Launch ? values.template word<indexOf(kRow.kernel)>()
                                     : values.template word<indexOf(kRow.address)>();
  }

  static void before(uint32_t site, const Values &values) {
    if constexpr (kRow.verb == Verb::Alloc || kRow.verb == Verb::Wrap || kRow.verb == Verb::Map ||
                  kRow.verb == Verb::Protect)
      __msl_before(site, kTraits);
    else if constexpr (kRow.verb == Verb::Realloc && kRow.mapping.present())
      __msl_on_remap(site, kTraits, values.template pointer<indexOf(kRow.address)>(),
                     values.template word<indexOf(kRow.old_size)>(),
                     values.template bytes<indexOf(kRow.size), indexOf(kRow.count)>(),
                     static_cast<int32_t>(values.template word<indexOf(kRow.mapping)>()));
    else if constexpr (kRow.verb == Verb::Realloc)
      __msl_on_free(site, kTraits, values.template pointer<indexOf(kRow.address)>(), 0);
    else if constexpr (kRow.verb == Verb::Free)
      __msl_on_free(site, kTraits, values.template pointer<indexOf(kRow.address)>(),
                    values.template word<indexOf(kRow.size)>());
    else if constexpr (kRow.verb == Verb::Retain)
      __msl_on_retain(site, kTraits, values.template pointer<indexOf(kRow.address)>());
    else if constexpr (kRow.verb == Verb::Copy)
      __msl_on_copy(site, kTraits, values.template pointer<indexOf(kRow.address)>(),
                    values.template pointer<indexOf(kRow.source)>(), values.template word<indexOf(kRow.size)>(),
                    values.template pointer<indexOf(kRow.stream)>(), values.template word<indexOf(kRow.direction)>());
    else if constexpr (kRow.verb == Verb::Set)
      __msl_on_set(site, kTraits, values.template pointer<indexOf(kRow.address)>(),
                   values.template word<indexOf(kRow.value)>(), values.template word<indexOf(kRow.size)>(),
                   values.template pointer<indexOf(kRow.stream)>());
    else if constexpr (kRow.verb == Verb::Access)
      beforeAccess(site, values);
    else if constexpr (kRow.verb == Verb::Show)
      beforeShow(site, values);
    else if constexpr (kRow.verb != Verb::Handle)
      beforeLaunch(site, values);
  }

  template <class Result> static void after(uint32_t site, const Values &values, Result result) {
    if constexpr (kRow.verb == Verb::Alloc || kRow.verb == Verb::Wrap || kRow.verb == Verb::Realloc) {
      const uint64_t bytes = values.template bytes<indexOf(kRow.size), indexOf(kRow.count)>();
      if constexpr (kRow.result.kind == abi::ResultKind::Return)
        __msl_on_alloc(site, kTraits, result, bytes);
      else if constexpr (kRow.result.kind == abi::ResultKind::Out)
        __msl_on_alloc_out(site, kTraits,
                           static_cast<const void *const *>(values.template pointer<indexOf(kRow.result.at)>()), bytes,
                           static_cast<int64_t>(result));
      else if constexpr (kRow.result.kind == abi::ResultKind::At)
        atAddress(site, values.template pointer<indexOf(kRow.result.at)>(), bytes, static_cast<int64_t>(result));
      else
        __msl_on_alloc_status(site, kTraits, result, bytes,
                              static_cast<const int32_t *>(values.template pointer<indexOf(kRow.result.at)>()));
    } else if constexpr (kRow.verb == Verb::Map) {
      __msl_on_map(site, kTraits, result, values.template word<indexOf(kRow.size)>(),
                   static_cast<int32_t>(values.template word<indexOf(kRow.protection)>()),
                   static_cast<int32_t>(values.template word<indexOf(kRow.mapping)>()));
    } else if constexpr (kRow.verb == Verb::Protect) {
      __msl_on_protect(
          site, kTraits, values.template pointer<indexOf(kRow.address)>(), values.template word<indexOf(kRow.size)>(),
          static_cast<int32_t>(values.template word<indexOf(kRow.protection)>()), static_cast<int64_t>(result));
    } else if constexpr (kRow.verb == Verb::Show) {
      afterShow(site, values, static_cast<int64_t>(result) == 0);
    }
  }

  // Records the status that the function returns, even if a callback of the plugin has recorded the call. After a tail
  // call, and in objects of the first version, no callback of the plugin gets the status.
  template <class Result> static void afterStatus(uint32_t site, const Values &values, Result result) {
    constexpr bool kStatus = kRow.status && (std::is_integral_v<Result> || std::is_enum_v<Result>);
    if constexpr (kStatus && kRow.verb == Verb::Free)
      __msl_on_freed(site, kTraits, values.template pointer<indexOf(kRow.address)>(),
                     values.template word<indexOf(kRow.size)>(), static_cast<int64_t>(result));
    else if constexpr (kStatus && (kRow.verb == Verb::Launch || kRow.verb == Verb::Copy || kRow.verb == Verb::Set))
      __msl_on_failed(site, kTraits, reinterpret_cast<const void *>(identity(values)), static_cast<int64_t>(result));
  }

private:
  // An unmapping of device addresses is recorded before the real call. Otherwise another thread could map the same
  // addresses between the call and its event.
  static constexpr bool kHides = kRow.verb == Verb::Show && !kRow.source.present();
  static void beforeShow(uint32_t site, const Values &values) {
    if (kHides && __msl_on_mapped != nullptr)
      __msl_on_mapped(site, kTraits, values.template pointer<indexOf(kRow.address)>(),
                      values.template word<indexOf(kRow.size)>(), nullptr, 0);
  }
  static void afterShow(uint32_t site, const Values &values, bool done) {
    constexpr uint16_t kFlags = abi::kFromHook | (kHides ? abi::kRestored : 0);
    if (done != kHides && __msl_on_mapped != nullptr)
      __msl_on_mapped(site, abi::Traits(kRow.verb, kRow.family, kRow.heap, kFlags).packed(),
                      values.template pointer<indexOf(kRow.address)>(), values.template word<indexOf(kRow.size)>(),
                      values.template pointer<indexOf(kRow.source)>(), values.template word<indexOf(kRow.value)>());
  }
  static void beforeAccess(uint32_t site, const Values &values) {
    const void *written = values.template pointer<indexOf(kRow.address)>(),
               *read = values.template pointer<indexOf(kRow.source)>();
    if (written == read)
      __msl_on_access(site, kTraits, written, written != nullptr ? abi::kRead | abi::kWrite : 0u);
    if (written != read && written != nullptr)
      __msl_on_access(site, kTraits, written, abi::kWrite);
    if (written != read && read != nullptr)
      __msl_on_access(site, kTraits, read, abi::kRead);
  }
  // Returns two parameters in one word: x | y << 32.
  template <int kAt> static uint64_t pairAt(const Values &values) {
    return values.template word<kAt>() | values.template word<kAt + 1>() << 32;
  }
  static void atAddress(uint32_t site, const void *block, uint64_t bytes, int64_t status) {
    __msl_on_alloc_out(site, kTraits, &block, bytes, status);
  }
  static void beforeLaunch(uint32_t site, const Values &values) {
    const void *kernel = values.template pointer<indexOf(kRow.kernel)>(),
               *stream = values.template pointer<indexOf(kRow.stream)>();
    constexpr int kAt = indexOf(kRow.shape.at);
    const auto shared = static_cast<uint32_t>(values.template word<indexOf(kRow.shared)>());
    if constexpr (kRow.shape.kind == abi::ShapeKind::Range) {
      __msl_on_launch_range(site, kTraits, kernel, stream, values.template get<kAt>(), values.template get<kAt + 2>(),
                            values.template get<kAt + 3>());
    } else if constexpr (kRow.shape.kind == abi::ShapeKind::Dim3) {
      const auto grid = values.template get<kAt>(), block = values.template get<kAt + 1>();
      __msl_on_launch(site, kTraits, kernel, stream, grid.x | uint64_t{grid.y} << 32, grid.z,
                      block.x | uint64_t{block.y} << 32, block.z, shared);
    } else if constexpr (kRow.shape.kind == abi::ShapeKind::Config) {
      constexpr abi::LaunchConfig kNone{};
      const auto *given = static_cast<const abi::LaunchConfig *>(values.template pointer<kAt>());
      const abi::LaunchConfig &config = given != nullptr ? *given : kNone;
      __msl_on_launch(site, kTraits, kernel, config.stream, config.grid[0] | uint64_t{config.grid[1]} << 32,
                      config.grid[2], config.block[0] | uint64_t{config.block[1]} << 32, config.block[2],
                      config.shared_bytes);
    } else if constexpr (kRow.shape.kind == abi::ShapeKind::Sizes) {
      __msl_on_launch(site, kTraits, kernel, stream, pairAt<kAt>(values),
                      static_cast<uint32_t>(values.template word<kAt + 2>()), pairAt<kAt + 3>(values),
                      static_cast<uint32_t>(values.template word<kAt + 5>()), shared);
    } else if constexpr (kRow.shape.kind == abi::ShapeKind::Threads) {
      const uint64_t block_xy = pairAt<kAt + 3>(values);
      const auto block_x = static_cast<uint32_t>(block_xy), block_y = static_cast<uint32_t>(block_xy >> 32),
                 block_z = static_cast<uint32_t>(values.template word<kAt + 5>());
      const uint64_t x = abi::blocksOf(values.template word<kAt>(), block_x),
                     y = abi::blocksOf(values.template word<kAt + 1>(), block_y),
                     z = abi::blocksOf(values.template word<kAt + 2>(), block_z);
      __msl_on_launch(site, kTraits, kernel, stream, x | y << 32, static_cast<uint32_t>(z), block_xy, block_z, shared);
    } else if constexpr (kRow.shape.kind == abi::ShapeKind::Blocks) { // the size of the blocks is not known
      const auto blocks = static_cast<uint32_t>(values.template word<kAt>());
      __msl_on_launch(site, kTraits, kernel, stream, blocks | uint64_t{1} << 32, 1, 0, 0, shared);
    } else {
      __msl_on_launch(site, kTraits, kernel, stream, 0, 0, 0, 0, shared);
    }
  }
};

// An empty row, for a hook with a body of its own (MSL_HOOK_WITH).
struct NoRow {
  static constexpr abi::Symbol kRow{};
};

// For the family System, begin() and end() do nothing. A call of this family may wait for a long time. During the wait,
// a signal handler may open handles, which must be recorded. If the thread is cancelled during the wait, it never calls
// end().
template <class OfRow> void begin(Call &call) {
  if constexpr (OfRow::kRow.family != abi::Family::System)
    __msl_hook_begin(&call);
}
template <class OfRow> void end(Call &call) {
  if constexpr (OfRow::kRow.family != abi::Family::System)
    __msl_hook_end(&call);
}

// Calls the real function, and records the call as the row describes it.
template <class OfRow, class Real, class... Parameters>
auto callRecorded(Real real, void *caller, Parameters... parameters) {
  using Result = decltype(real(parameters...));
  const Arguments<Parameters...> values(parameters...);
  using RowCallbacks = Callbacks<OfRow, Arguments<Parameters...>>;
  using RowHandles = Handles<OfRow, Arguments<Parameters...>>;
  Call call{RowCallbacks::kTraits, kPass, reinterpret_cast<uint64_t>(caller), RowCallbacks::identity(values), 0, 0};
  __msl_hook_enter(&call);
  if (call.answer == kPass)
    return real(parameters...);
  if (call.answer == kRecord)
    RowCallbacks::before(call.site, values);
  RowHandles::before(call, values);
  begin<OfRow>(call);
  if constexpr (std::is_void_v<Result>) {
    real(parameters...);
    end<OfRow>(call);
  } else {
    const Result result = real(parameters...);
    end<OfRow>(call);
    if (call.answer == kRecord)
      RowCallbacks::after(call.site, values, result);
    RowCallbacks::afterStatus(call.site, values, result);
    RowHandles::after(call, values, result);
    return result;
  }
}

// Like callRecorded, for a block whose size is known only after the call. `bytesOf(result)` returns the size. For the
// row, the size is one more parameter, behind those of the function.
template <class OfRow, class Real, class BytesOf, class... Parameters>
auto callSized(Real real, void *caller, BytesOf bytesOf, Parameters... parameters) {
  using Values = Arguments<Parameters..., uint64_t>;
  using RowCallbacks = Callbacks<OfRow, Values>;
  Call call{RowCallbacks::kTraits, kPass, reinterpret_cast<uint64_t>(caller), 0, 0, 0};
  __msl_hook_enter(&call);
  if (call.answer == kPass)
    return real(parameters...);
  if (call.answer == kRecord)
    RowCallbacks::before(call.site, Values(parameters..., 0));
  __msl_hook_begin(&call);
  const auto result = real(parameters...);
  const uint64_t bytes = bytesOf(result);
  __msl_hook_end(&call);
  if (call.answer == kRecord)
    RowCallbacks::after(call.site, Values(parameters..., bytes), result);
  return result;
}

// Calls a real function that does several operations at once, and records each of them as the row describes it.
// `valuesOf(i)` returns the Arguments of operation i. A failure is recorded once, for the first operation.
template <class OfRow, class Real, class ValuesOf>
auto callRecordedAll(Real real, void *caller, size_t count, ValuesOf valuesOf) {
  using RowCallbacks = Callbacks<OfRow, decltype(valuesOf(size_t{}))>;
  if (count == 0)
    return real();
  Call call{RowCallbacks::kTraits, kPass, reinterpret_cast<uint64_t>(caller), 0, 0, 0}; // no callback announces it
  __msl_hook_enter(&call);
  if (call.answer != kRecord)
    return real();
  for (size_t i = 0; i < count; ++i)
    RowCallbacks::before(call.site, valuesOf(i));
  begin<OfRow>(call);
  const auto result = real();
  end<OfRow>(call);
  if (static_cast<int64_t>(result) != 0)
    RowCallbacks::afterStatus(call.site, valuesOf(0), result);
  return result;
}

// Calls the real function. Then passes to the runtime an argument of a kernel, a new kernel, or the device that the
// thread has chosen. The runtime gets these facts even while recording is off, since later events need them.
template <class OfRow, class Real, class... Parameters>
auto callNoted(Real real, void *caller, Parameters... parameters) {
  constexpr abi::Symbol kRow = OfRow::kRow;
  constexpr uint32_t kTraits = abi::Traits(kRow.verb, kRow.family, kRow.heap, abi::kFromHook).packed();
  const Arguments<Parameters...> values(parameters...);
  const auto result = [&] {
    if constexpr (handlesOf<OfRow>().count != 0)
      return callRecorded<HandlesOnly<OfRow>>(real, caller, parameters...);
    else
      return real(parameters...);
  }();
  if constexpr (kRow.verb == abi::Verb::Device) {
    if (static_cast<int64_t>(result) == 0 && __msl_hook_device != nullptr)
      __msl_hook_device(kTraits, static_cast<uint32_t>(values.template word<indexOf(kRow.index)>()));
  } else if constexpr (kRow.verb == abi::Verb::Kernel) {
    if (result != nullptr && __msl_on_kernel != nullptr)
      __msl_on_kernel(kTraits, result, kRow.copied);
  } else if (result == 0 && __msl_on_argument != nullptr) {
    const void *kernel = values.template pointer<indexOf(kRow.kernel)>(),
               *value = values.template pointer<indexOf(kRow.value)>();
    const auto index = static_cast<uint32_t>(values.template word<indexOf(kRow.index)>());
    if constexpr (kRow.size.present())
      __msl_on_argument(kTraits, kernel, index, values.template word<indexOf(kRow.size)>(), value);
    else
      __msl_on_argument(kTraits, kernel, index, sizeof value, &value);
  }
  return result;
}

template <class OfRow, class Result, class... Parameters>
Result callHooked(Function &function, void *caller, Parameters... parameters) {
  auto *real = reinterpret_cast<Result (*)(Parameters...)>(realOf(function, caller));
  if (real == nullptr) [[unlikely]]
    return missing<OfRow, Result>(function, parameters...);
  if (own_library.state != kAccepted)
    return real(parameters...);
  if constexpr (abi::isRecorded(OfRow::kRow.verb))
    return callRecorded<OfRow>(real, caller, parameters...);
  else
    return callNoted<OfRow>(real, caller, parameters...);
}

// Calls the body of a hook that has a body of its own (MSL_HOOK_WITH). The body calls the real function.
template <class Body, class Result, class... Parameters>
Result callBody(Function &function, void *caller, Parameters... parameters) {
  auto *real = reinterpret_cast<Result (*)(Parameters...)>(realOf(function, caller));
  if (real == nullptr) [[unlikely]]
    return missing<NoRow, Result>(function, parameters...);
  return own_library.state == kAccepted ? Body{}(real, caller, parameters...) : real(parameters...);
}

// Sets the thread's device during one call whose parameters name the device. Only the families Cuda, Hip, Acl and
// OpenCl have devices.
class WithDevice {
public:
  WithDevice(abi::Family family, uint32_t device)
      : traits_(abi::Traits(abi::Verb::Device, family, abi::Heap::Device, 0).packed()) {
    if (__msl_hook_device != nullptr)
      before_ = __msl_hook_device(traits_, device);
  }
  ~WithDevice() {
    if (__msl_hook_device != nullptr)
      __msl_hook_device(traits_, before_);
  }
  WithDevice(const WithDevice &) = delete;
  WithDevice &operator=(const WithDevice &) = delete;

private:
  uint32_t traits_, before_ = 0;
};

// Provides the row with this number as kRow.
template <int kNumber> struct RowOf {
  static constexpr abi::Symbol kRow = abi::kSymbols[kNumber];
};

template <size_t kSize> struct Name {
  consteval Name(const char (&from)[kSize]) {
    for (size_t i = 0; i < kSize; ++i)
      text[i] = from[i];
  }
  char text[kSize];
};

// Finds the effects of a function in the table of functions: on memory, on handles, or on both.
template <Name kName> struct Known {
  static constexpr abi::HandleCalls kHandles = abi::handleCallsOf(kName.text);
  static constexpr const abi::Symbol *kSymbol = abi::findSymbol(kName.text);
  static_assert(kSymbol != nullptr || kHandles.count != 0, "no row of the table of functions has this name");
  static constexpr abi::Symbol kRow =
      kSymbol != nullptr
          ? *kSymbol
          : abi::Symbol{.name = kName.text, .verb = abi::Verb::Handle, .family = kHandles.calls[0].family};
};

} // namespace hook
} // namespace msleaks

#define MSL_HOOK(library, result, name, parameters)                                                                    \
  MSL_HOOK_AS(::msleaks::hook::Known<#name>, library, result, name, parameters)

// Defines a hook for a function without effects in the table of functions. `row` is a struct whose kRow is an
// abi::Symbol. The table of hooks refers to msl_hooked_NAME and not to NAME, since the program may have a function
// NAME.
#define MSL_HOOK_AS(row, library, result, name, parameters)                                                            \
  MSL_HOOK_CALLS((::msleaks::hook::callHooked<row, result>), library, result, name, parameters)

// Declares a function that a hook calls and that is not hooked itself. hook::realOf(variable) returns the function, or
// null.
#define MSL_ASKED(variable, library, name)                                                                             \
  [[gnu::used, gnu::section("msl_hooks")]] constinit ::msleaks::hook::Function variable = {library, name, nullptr,     \
                                                                                           nullptr};

// Defines a hook for a function whose calls a row cannot describe. `body` is a lambda without captures. It gets the
// real function, the return address and the parameters. If the runtime has not accepted the library, the hook calls
// only the real function.
#define MSL_HOOK_WITH(body, library, result, name, parameters)                                                         \
  MSL_HOOK_CALLS((::msleaks::hook::callBody<decltype(body), result>), library, result, name, parameters)

#define MSL_HOOK_CALLS(call, library, result, name, parameters)                                                        \
  extern "C" [[gnu::visibility("hidden")]] result msl_hooked_##name(                                                   \
      MSL_HOOK_EACH(MSL_HOOK_DECLARE, MSL_HOOK_LIST parameters));                                                      \
  [[gnu::used, gnu::section("msl_hooks")]] static ::msleaks::hook::Function msl_hook_of_##name = {                     \
      #library, #name, reinterpret_cast<void *>(&msl_hooked_##name), nullptr};                                         \
  extern "C" result msl_hooked_##name(MSL_HOOK_EACH(MSL_HOOK_DECLARE, MSL_HOOK_LIST parameters)) {                     \
    return call(msl_hook_of_##name, __builtin_return_address(0) MSL_HOOK_COMMA parameters MSL_HOOK_EACH(               \
                                        MSL_HOOK_NAME, MSL_HOOK_LIST parameters));                                     \
  }                                                                                                                    \
  extern "C" [[gnu::visibility("default"), gnu::alias("msl_hooked_" #name)]] result name(                              \
      MSL_HOOK_EACH(MSL_HOOK_DECLARE, MSL_HOOK_LIST parameters));
