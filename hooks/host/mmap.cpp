// Hooks of mmap and similar functions, for mappings that the program makes itself. libc's heap does not call these
// hooks for its own mappings. Another allocator may map memory inside a heap hook, or inside an allocator that the pass
// announced. Such a mapping is not recorded, because the allocator makes its blocks from it.
//
// These hooks use msleaks/hook.h, but find their real functions in another way. An allocator may map its first pages
// while the real functions are being looked up.
#include "host/inline_hook.h"

#include "msleaks/hook.h"
#include "msleaks/runtime/mappings.h"
#include "msleaks/runtime/python.h"
#include "msleaks/runtime/record.h"
#include "msleaks/runtime/sandbox.h"

#include <cerrno>
#include <cstdarg>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

using namespace msleaks;
using namespace msleaks::hooks;

namespace {

long word(const void *pointer) noexcept { return reinterpret_cast<long>(pointer); }
long word(uint64_t number) noexcept { return static_cast<long>(number); }
long word(long number) noexcept { return number; }
long word(int number) noexcept { return number; }

// Makes the system call without a record, while the real functions are being looked up. Each argument is as wide as its
// register.
template <class... Arguments> long callKernel(long number, Arguments... arguments) noexcept {
  return ::syscall(number, word(arguments)...);
}

// Whether the file is in a file system that has no storage but memory.
bool isMemory(int file) noexcept {
  struct statfs system;
  return ::fstatfs(file, &system) == 0 && (system.f_type == TMPFS_MAGIC || system.f_type == RAMFS_MAGIC ||
                                           static_cast<uint32_t>(system.f_type) == HUGETLBFS_MAGIC);
}

// Records which memory a mapping shows. This event comes before the mapping's Alloc, which a hook or a callback
// records.
[[gnu::noinline, gnu::cold]] void recordShared(const void *address, uint64_t size_bytes, int file,
                                               uint64_t offset) noexcept {
  if (!runtime::isEnabled(abi::EventKind::Alloc) || runtime::isSandboxed())
    return;
  const int before = errno;
  struct stat status;
  if (isMemory(file) && ::fstat(file, &status) == 0)
    runtime::recordEnabled(__msl_thread,
                           abi::SharedEvent{{abi::EventKind::Shared, abi::Heap::Mapping, 0, abi::kFromHook, 0, 0},
                                            reinterpret_cast<uint64_t>(address),
                                            size_bytes,
                                            abi::kContinuationTag,
                                            status.st_dev,
                                            status.st_ino,
                                            offset});
  errno = before;
}

// Returns a function that calls the real function, and then records a Shared event if the mapping may share memory.
// Mappings of the runtime itself are not recorded.
template <class Function> auto showing(Function function) noexcept {
  const bool ours = __msl_thread.call.inside == runtime::kInsideRuntime;
  return [function, ours](void *address, size_t size, int protection, int flags, int file, auto offset) noexcept {
    void *made = function(address, size, protection, flags, file, offset);
    if (made != MAP_FAILED && !ours && runtime::mayShare(protection, flags)) [[unlikely]]
      recordShared(made, size, file, static_cast<uint64_t>(offset));
    return made;
  };
}

// libc's malloc calls none of these functions. So a call from inside it comes from a signal handler. The call is not
// recorded, and counts as dropped.
template <int kRow, class Function, class... Arguments>
auto hookMapping(abi::EventKind kind, Function function, void *caller, Arguments... arguments) noexcept {
  if (isOfHandler(__msl_thread) && runtime::isEnabled(kind))
    __msl_lost();
  return hook::callRecorded<hook::RowOf<kRow>>(function, caller, arguments...);
}

// A Python without the global lock has an allocator that records its blocks. So its mappings are not recorded.
template <int kRow, class Function, class Offset>
void *hookMmap(Function function, void *caller, void *address, size_t size, int protection, int flags, int file,
               Offset offset) noexcept {
  if ((flags & MAP_NORESERVE) != 0 && __msl_maps_objects(caller)) [[unlikely]]
    return function(address, size, protection, flags, file, offset);
  return hookMapping<kRow>(abi::EventKind::Alloc, showing(function), caller, address, size, protection, flags, file,
                           offset);
}

} // namespace

#pragma GCC visibility push(default)
extern "C" {

void *mmap(void *address, size_t size, int protection, int flags, int file, off_t offset) noexcept {
  const auto function = found(real.mmap);
  if (function == nullptr) [[unlikely]]
    return reinterpret_cast<void *>(callKernel(SYS_mmap, address, size, protection, flags, file, offset));
  return hookMmap<Row::mmap>(function, __builtin_return_address(0), address, size, protection, flags, file, offset);
}

void *mmap64(void *address, size_t size, int protection, int flags, int file, off64_t offset) noexcept {
  const auto function = found(real.mmap64);
  if (function == nullptr) [[unlikely]]
    return reinterpret_cast<void *>(callKernel(SYS_mmap, address, size, protection, flags, file, offset));
  return hookMmap<Row::mmap64>(function, __builtin_return_address(0), address, size, protection, flags, file, offset);
}

int munmap(void *address, size_t size) noexcept {
  const auto function = found(real.munmap);
  if (function == nullptr) [[unlikely]]
    return static_cast<int>(callKernel(SYS_munmap, address, size));
  return hookMapping<Row::munmap>(abi::EventKind::Free, function, __builtin_return_address(0), address, size);
}

int mprotect(void *address, size_t size, int protection) noexcept {
  const auto function = found(real.mprotect);
  if (function == nullptr) [[unlikely]]
    return static_cast<int>(callKernel(SYS_mprotect, address, size, protection));
  return hookMapping<Row::mprotect>(abi::EventKind::Protect, function, __builtin_return_address(0), address, size,
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
  return hookMapping<Row::mremap>(abi::EventKind::Alloc, function, __builtin_return_address(0), address, old_size,
                                  new_size, flags, fixed);
}

} // extern "C"
#pragma GCC visibility pop
