// Mappings that the program makes itself. What libc maps for its own heap does not come by here, and what another
// allocator maps inside a heap hook, or inside an allocator that the pass announced, is that allocator's own supply.
#include "inline_hook.h"

#include "msleaks/abi/callbacks.h"
#include "msleaks/runtime/mappings.h"
#include "msleaks/runtime/page.h"

#include <cstdarg>
#include <sys/syscall.h>
#include <unistd.h>

using namespace msleaks;
using namespace msleaks::hooks;

namespace {

uint16_t reserveFlag(int protection, int flags) noexcept {
  return runtime::isReserve(protection, flags) ? uint16_t{abi::kReserve} : uint16_t{0};
}

template <int kRow, class Call>
[[gnu::always_inline]] inline void *hookMap(uint64_t size_bytes, uint16_t flags, uint64_t caller, Call call) noexcept {
  if (runtime::insideAllocator(__msl_thread))
    return call();
  void *made = MAP_FAILED; // the program gets just this: a mapping at 0 is one
  hookAlloc<kRow>(size_bytes, flags, caller, [&made, call]() -> void * {
    made = call();
    return made != MAP_FAILED ? made : nullptr;
  });
  return made;
}

constexpr uint32_t kUnmapTraits =
    abi::Traits(abi::kSymbols[Row::munmap].verb, abi::Family::Mmap, abi::Heap::Mapping, abi::kFromHook).packed();

long word(const void *pointer) noexcept { return reinterpret_cast<long>(pointer); }
long word(uint64_t number) noexcept { return static_cast<long>(number); }
long word(long number) noexcept { return number; }
long word(int number) noexcept { return number; }

// While the real functions are being looked up: the kernel, without a record. Each argument as wide as its register.
template <class... Arguments> long callKernel(long number, Arguments... arguments) noexcept {
  return ::syscall(number, word(arguments)...);
}

} // namespace

#pragma GCC visibility push(default)
extern "C" {

void *mmap(void *address, size_t size, int protection, int flags, int file, off_t offset) noexcept {
  const auto function = found(real.mmap);
  if (function == nullptr) [[unlikely]]
    return reinterpret_cast<void *>(callKernel(SYS_mmap, address, size, protection, flags, file, offset));
  return hookMap<Row::mmap>(size, reserveFlag(protection, flags),
                            reinterpret_cast<uint64_t>(__builtin_return_address(0)),
                            [=] { return function(address, size, protection, flags, file, offset); });
}

void *mmap64(void *address, size_t size, int protection, int flags, int file, off64_t offset) noexcept {
  const auto function = found(real.mmap64);
  if (function == nullptr) [[unlikely]]
    return reinterpret_cast<void *>(callKernel(SYS_mmap, address, size, protection, flags, file, offset));
  return hookMap<Row::mmap64>(size, reserveFlag(protection, flags),
                              reinterpret_cast<uint64_t>(__builtin_return_address(0)),
                              [=] { return function(address, size, protection, flags, file, offset); });
}

int munmap(void *address, size_t size) noexcept {
  const auto function = found(real.munmap);
  if (function == nullptr) [[unlikely]]
    return static_cast<int>(callKernel(SYS_munmap, address, size));
  if (!runtime::munmapTakes(reinterpret_cast<uint64_t>(address), size, runtime::pageBytes()))
    return function(address, size);
  const auto caller = reinterpret_cast<uint64_t>(__builtin_return_address(0));
  const int status = hookFree<Row::munmap>(address, size, caller, [=] { return function(address, size); });
  if (status != 0 && !runtime::isInside(__msl_thread, abi::Family::Mmap))
    __msl_on_freed(runtime::callerSite(caller), kUnmapTraits, address, size, status);
  return status;
}

void *mremap(void *address, size_t old_size, size_t new_size, int flags, ...) noexcept {
  const auto function = found(real.mremap);
  void *fixed = nullptr;
  if ((flags & (MREMAP_FIXED | MREMAP_DONTUNMAP)) != 0) {
    va_list rest;
    va_start(rest, flags);
    fixed = va_arg(rest, void *);
    va_end(rest);
  }
  if (function == nullptr) [[unlikely]]
    return reinterpret_cast<void *>(callKernel(SYS_mremap, address, old_size, new_size, flags, fixed));
  const bool takes =
      runtime::mremapTakes(reinterpret_cast<uint64_t>(address), old_size, new_size, flags, runtime::pageBytes());
  return hookRealloc<Row::mremap>({takes ? address : nullptr, old_size}, new_size,
                                  reinterpret_cast<uint64_t>(__builtin_return_address(0)), MAP_FAILED,
                                  [=] { return function(address, old_size, new_size, flags, fixed); });
}

} // extern "C"
#pragma GCC visibility pop
