// Hooks of close_range and closefrom. The kernel lists the descriptors that are open in the range. The hooks make the
// system calls directly and allocate nothing, because they may be called between fork and exec.
#include "core/own_hook.h"

#include "msleaks/runtime/sandbox.h"

#include <cerrno>
#include <cstdint>
#include <sys/syscall.h>

extern "C" long syscall(long number, ...) noexcept;

using namespace msleaks;

namespace {

constexpr int kDirectoryCloseOnExec = 0200000 | 02000000; // O_DIRECTORY | O_CLOEXEC
constexpr int kHere = -100;                               // AT_FDCWD
constexpr unsigned kCloseOnExec = 4;                      // CLOSE_RANGE_CLOEXEC

// An entry of a folder, as getdents64 writes it.
struct Entry {
  uint64_t inode;
  int64_t offset;
  uint16_t bytes;
  uint8_t type;
  char name[1];
};

// False: the name is not a number.
bool numberOf(const char *name, uint64_t &number) {
  number = 0;
  const char *digit = name;
  for (; *digit >= '0' && *digit <= '9'; ++digit)
    number = number * 10 + static_cast<uint64_t>(*digit - '0');
  return digit != name && *digit == 0;
}

template <class F> void forEachDescriptor(F f) {
  const int before = errno;
  const long folder = ::syscall(SYS_openat, kHere, "/proc/self/fd", kDirectoryCloseOnExec);
  alignas(Entry) char entries[1024];
  for (long bytes; folder >= 0 && (bytes = ::syscall(SYS_getdents64, folder, entries, sizeof entries)) > 0;)
    for (long at = 0; at < bytes;) {
      const auto *entry = reinterpret_cast<const Entry *>(entries + at);
      at += entry->bytes;
      if (uint64_t number; numberOf(entry->name, number) && number != static_cast<uint64_t>(folder))
        f(number);
    }
  if (folder >= 0)
    ::syscall(SYS_close, folder);
  errno = before;
}

// Records that the descriptors are closed, before the real call. If the real call fails, no descriptor is in the range,
// or the caller closes each one itself.
template <class OfRow> void closeAll(void *caller, uint64_t first, uint64_t last) {
  using Row = hook::Handles<OfRow, hook::Arguments<unsigned>>;
  if (hook::own_library.state != hook::kAccepted || runtime::isSandboxed())
    return;
  hook::Call call{abi::Traits(abi::Verb::Handle, abi::Family::System, abi::Heap::Host, abi::kFromHook).packed(),
                  hook::kPass,
                  reinterpret_cast<uint64_t>(caller),
                  0,
                  0,
                  0};
  __msl_hook_enter(&call);
  if (call.answer != hook::kPass)
    forEachDescriptor([&](uint64_t number) {
      if (number >= first && number <= last)
        Row::template closed<abi::HandleKind::Descriptor>(call, number);
    });
}

} // namespace

MSL_OWN_HOOK(libc, int, close_range, (unsigned first, unsigned last, int flags)) {
  if ((static_cast<unsigned>(flags) & kCloseOnExec) == 0)
    closeAll<hook::Known<"close_range">>(__builtin_return_address(0), first, last);
  return MSL_REAL(int, close_range, first, last, flags);
}

MSL_OWN_HOOK(libc, void, closefrom, (int first)) {
  closeAll<hook::Known<"closefrom">>(__builtin_return_address(0), first > 0 ? static_cast<uint64_t>(first) : 0,
                                     UINT64_MAX);
  auto *const real = reinterpret_cast<void (*)(int)>(hook::realOf(msl_hook_of_closefrom));
  if (real != nullptr)
    real(first);
}
