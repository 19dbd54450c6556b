// memcpy and memmove: records the copies of 64 KiB and more (msleaks/abi/host_copies.h). Any other call takes one
// compare and a jump to the real function.
#include "core/registry.h"

#include "msleaks/abi/host_copies.h"
#include "msleaks/hook.h"
#include "msleaks/runtime/path.h"
#include "msleaks/runtime/pending.h"

#include <cstddef>

using namespace msleaks;
using namespace msleaks::runtime;

namespace {

using Copy = void *(void *, const void *, size_t);
using CheckedCopy = void *(void *, const void *, size_t, size_t);

// Copies byte by byte, before the real functions are known. `volatile` keeps the compiler from calling memcpy instead.
void *copyAlone(void *to, const void *from, size_t bytes) noexcept {
  volatile auto *target = static_cast<char *>(to);
  const volatile auto *source = static_cast<const char *>(from);
  if (reinterpret_cast<uintptr_t>(to) - reinterpret_cast<uintptr_t>(from) >= bytes)
    for (size_t i = 0; i < bytes; ++i)
      target[i] = source[i];
  else
    for (size_t i = bytes; i-- > 0;)
      target[i] = source[i];
  return to;
}
void *copyCheckedAlone(void *to, const void *from, size_t bytes, size_t room) noexcept {
  if (bytes > room)
    __builtin_trap();
  return copyAlone(to, from, bytes);
}

constinit Copy *real_memcpy = copyAlone, *real_memmove = copyAlone;
constinit CheckedCopy *real_memcpy_checked = copyCheckedAlone, *real_memmove_checked = copyCheckedAlone;

template <class Function> void find(Function *&function, const char *name) noexcept {
  Function *found = nullptr;
  hooks::findNext(found, name);
  if (found != nullptr)
    __atomic_store_n(&function, found, __ATOMIC_RELEASE);
}
[[gnu::constructor, gnu::noinline, gnu::cold]] void findRealCopies() noexcept {
  find(real_memcpy, "memcpy");
  find(real_memmove, "memmove");
  find(real_memcpy_checked, "__memcpy_chk");
  find(real_memmove_checked, "__memmove_chk");
}

constexpr abi::Traits kTraits{abi::Verb::Copy, abi::Family::Heap, abi::Heap::Host, abi::kFromHook};

// Whether the pass has recorded this copy. Then its site is no longer pending.
bool takePending(Thread &thread, const void *to) noexcept {
  const abi::Traits left(thread.pending_traits);
  const bool is_ours = thread.call.site != 0 && left.verb() == abi::Verb::Copy && left.family() == abi::Family::Heap &&
                       thread.pending_address == reinterpret_cast<uint64_t>(to);
  if (is_ours)
    thread.call.site = 0;
  return is_ours;
}

void recordLarge(const CallerFrame &caller, void *to, const void *from, size_t bytes) noexcept {
  Thread &thread = __msl_thread;
  // Inside a real function or the runtime, the copy is not the program's. The same is true if msleaks asked for it.
  if (takePending(thread, to) || !isPlain(thread) || isForLook(to) || !isEnabled(abi::EventKind::Copy))
    return;
  const uint32_t path = pathOfCaller(enabledWord(), caller);
  recordEnabled(thread, abi::CopyEvent{{abi::EventKind::Copy, abi::Heap::Host, 0, kTraits.flags(), path, 0},
                                       reinterpret_cast<uint64_t>(to),
                                       reinterpret_cast<uint64_t>(from),
                                       abi::kContinuationTag,
                                       bytes,
                                       0,
                                       0});
}

// The hooks jump to these functions. So the frame of their caller is the program's.
[[gnu::noinline, gnu::cold]] void *copyLarge(Copy *real, void *to, const void *from, size_t bytes) noexcept {
  recordLarge(callerFrame(), to, from, bytes);
  return real(to, from, bytes);
}
[[gnu::noinline, gnu::cold]] void *copyLargeChecked(CheckedCopy *real, void *to, const void *from, size_t bytes,
                                                    size_t room) noexcept {
  recordLarge(callerFrame(), to, from, bytes);
  return real(to, from, bytes, room);
}

template <class Function> Function *loaded(Function *const &function) noexcept {
  return __atomic_load_n(&function, __ATOMIC_RELAXED);
}

} // namespace

// The compiler knows the names of these functions, so the hooks have other names in C++.
#define MSL_COPY_HOOK(result, symbol, ...)                                                                             \
  extern "C" [[gnu::visibility("default")]] result hook##symbol(__VA_ARGS__) noexcept __asm__(#symbol);                \
  result hook##symbol(__VA_ARGS__) noexcept

MSL_COPY_HOOK(void *, memcpy, void *to, const void *from, size_t bytes) {
  if (bytes >= abi::kLeastHostCopyBytes) [[unlikely]]
    return copyLarge(loaded(real_memcpy), to, from, bytes);
  return loaded(real_memcpy)(to, from, bytes);
}

MSL_COPY_HOOK(void *, memmove, void *to, const void *from, size_t bytes) {
  if (bytes >= abi::kLeastHostCopyBytes) [[unlikely]]
    return copyLarge(loaded(real_memmove), to, from, bytes);
  return loaded(real_memmove)(to, from, bytes);
}

MSL_COPY_HOOK(void *, __memcpy_chk, void *to, const void *from, size_t bytes, size_t room) {
  if (bytes >= abi::kLeastHostCopyBytes) [[unlikely]]
    return copyLargeChecked(loaded(real_memcpy_checked), to, from, bytes, room);
  return loaded(real_memcpy_checked)(to, from, bytes, room);
}

MSL_COPY_HOOK(void *, __memmove_chk, void *to, const void *from, size_t bytes, size_t room) {
  if (bytes >= abi::kLeastHostCopyBytes) [[unlikely]]
    return copyLargeChecked(loaded(real_memmove_checked), to, from, bytes, room);
  return loaded(real_memmove_checked)(to, from, bytes, room);
}
