// Mappings that the program makes itself. What libc maps for its own heap does not come by here, and what another
// allocator maps inside a heap hook, or inside an allocator that the pass announced, is that allocator's own supply.
//
// Hooks as everybody writes them (msleaks/hook.h), but for the real functions: an allocator may map its first pages
// while those are being looked up.
#include "inline_hook.h"

#include "msleaks/hook.h"

#include <cstdarg>
#include <sys/syscall.h>
#include <unistd.h>

using namespace msleaks;
using namespace msleaks::hooks;

namespace {

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
  return hook::callRecorded<hook::RowOf<Row::mmap>>(function, __builtin_return_address(0), address, size, protection,
                                                    flags, file, offset);
}

void *mmap64(void *address, size_t size, int protection, int flags, int file, off64_t offset) noexcept {
  const auto function = found(real.mmap64);
  if (function == nullptr) [[unlikely]]
    return reinterpret_cast<void *>(callKernel(SYS_mmap, address, size, protection, flags, file, offset));
  return hook::callRecorded<hook::RowOf<Row::mmap64>>(function, __builtin_return_address(0), address, size, protection,
                                                      flags, file, offset);
}

int munmap(void *address, size_t size) noexcept {
  const auto function = found(real.munmap);
  if (function == nullptr) [[unlikely]]
    return static_cast<int>(callKernel(SYS_munmap, address, size));
  return hook::callRecorded<hook::RowOf<Row::munmap>>(function, __builtin_return_address(0), address, size);
}

int mprotect(void *address, size_t size, int protection) noexcept {
  const auto function = found(real.mprotect);
  if (function == nullptr) [[unlikely]]
    return static_cast<int>(callKernel(SYS_mprotect, address, size, protection));
  return hook::callRecorded<hook::RowOf<Row::mprotect>>(function, __builtin_return_address(0), address, size,
                                                        protection);
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
  return hook::callRecorded<hook::RowOf<Row::mremap>>(function, __builtin_return_address(0), address, old_size,
                                                      new_size, flags, fixed);
}

} // extern "C"
#pragma GCC visibility pop
