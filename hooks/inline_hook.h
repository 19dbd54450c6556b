// What every hook does around the real function. The row of symbols.def says which family, heap and flags.
//
// Most calls come from code without instrumentation: then nothing is pending, which isPlain() tells in one compare.
// Instrumented code mostly calls the hook itself (isCalledDirectly). Both cases have the short path, which is inlined.
// Whatever else a callback left is looked at out of line.
#pragma once

#include "real.h"

#include "msleaks/runtime/caller.h"
#include "msleaks/runtime/note.h"
#include "msleaks/runtime/path.h"
#include "msleaks/runtime/pending.h"

#include <cerrno>

namespace msleaks::hooks {

namespace Row = abi::detail::Row;

// The real function runs with `inside` set: what an allocator calls for its own needs is not the program's. Stored as a
// whole word, as isPlain() will load it.
class PlainInside {
public:
  [[gnu::always_inline]] PlainInside(runtime::Thread &thread, abi::Family family) noexcept : thread_(thread) {
    runtime::storeCall(thread, {.site = 0, .inside = runtime::insideOf(family), .open_calls = 0});
  }
  [[gnu::always_inline]] ~PlainInside() { runtime::storeCall(thread_, {}); }
  PlainInside(const PlainInside &) = delete;
  PlainInside &operator=(const PlainInside &) = delete;

private:
  runtime::Thread &thread_;
};

template <class Call>
[[gnu::always_inline]] inline auto callPlainInside(runtime::Thread &thread, abi::Family family, Call call) noexcept {
  const PlainInside inside(thread, family);
  return call();
}

template <class Call> auto callInside(runtime::Thread &thread, uint16_t whose, Call call) noexcept {
  const runtime::Inside inside(thread, whose);
  return call();
}

constexpr uint32_t traitsOf(const abi::Symbol &row) noexcept {
  return abi::Traits(row.verb, row.family, row.heap, row.flags).packed();
}

// The path to the site that a callback left, or to the code that called the hook.
[[gnu::always_inline]] inline uint32_t pathOf(uint32_t enabled, uint32_t left,
                                              const runtime::CallerFrame &caller) noexcept {
  return left != 0 ? runtime::pathOfSite(enabled, left, caller) : runtime::pathOfCaller(enabled, caller);
}

[[gnu::noinline, gnu::cold]] inline void recordRefusal(const abi::Symbol &row, uint16_t flags, uint32_t site,
                                                       uint64_t size_bytes) noexcept {
  if (size_bytes != 0)
    runtime::recordAllocFailed(row.heap, flags | abi::kFromHook, site, size_bytes, static_cast<uint64_t>(errno));
}

// `left`: the site that a callback left; 0 = none.
template <int kRow>
[[gnu::always_inline]] inline void recordResult(uint32_t path, uint32_t left, uint16_t flags, const void *block,
                                                uint64_t size_bytes) noexcept {
  constexpr const abi::Symbol &row = abi::kSymbols[kRow];
  if (block != nullptr)
    runtime::recordAlloc(row.heap, flags | abi::kFromHook, left != 0 ? left : path, reinterpret_cast<uint64_t>(block),
                         size_bytes, path);
  else
    recordRefusal(row, flags, path, size_bytes);
}

// Inside a real function of the heap, libc's malloc makes no call that comes by a hook; reallocarray, which does, is
// inside the runtime. So such a call is a signal handler's.
[[gnu::cold]] inline bool isOfHandler(const runtime::Thread &thread) noexcept {
  return thread.call.inside != runtime::kInsideRuntime && runtime::isInside(thread, abi::Family::Heap) &&
         libc_allocates;
}

// A call from inside a real function, which is the allocator's own business.
[[gnu::cold]] inline bool isAllocatorsOwn(const runtime::Thread &thread) noexcept {
  return runtime::isInside(thread, abi::Family::Heap) && !isOfHandler(thread);
}

// What an allocator's call may become.
inline constexpr uint32_t kAllocOutcomes =
    abi::enabledBit(abi::EventKind::Alloc) | abi::enabledBit(abi::EventKind::AllocFailed);

// What OpenCL takes in one of its calls may be the memory of a buffer, where the device is the processor.
inline uint16_t driverFlag(const runtime::Thread &thread) noexcept {
  return runtime::isInside(thread, abi::Family::OpenCl) ? uint16_t{abi::kDriver} : uint16_t{0};
}

template <int kRow, class Call>
[[gnu::noinline]] void *hookAnnouncedAlloc(uint64_t size_bytes, uint16_t flags, const runtime::CallerFrame &caller,
                                           Call call) noexcept {
  constexpr const abi::Symbol &row = abi::kSymbols[kRow];
  runtime::Thread &thread = __msl_thread;
  if (isAllocatorsOwn(thread))
    return call();
  if ((runtime::enabledWord() & kAllocOutcomes) == 0)
    return call();
  const uint32_t left = runtime::takeAllocSite(thread, row.family);
  void *block = callInside(thread, runtime::insideOf(row.family), call);
  recordResult<kRow>(pathOf(runtime::enabledWord(), left, caller), left, flags | row.flags | driverFlag(thread), block,
                     size_bytes);
  return block;
}

// Around an allocator that returns the block, or null. `flags`: beyond those of the row.
template <int kRow, class Call>
[[gnu::always_inline]] inline void *hookAlloc(uint64_t size_bytes, uint16_t flags, const runtime::CallerFrame &caller,
                                              Call call) noexcept {
  constexpr const abi::Symbol &row = abi::kSymbols[kRow];
  runtime::Thread &thread = __msl_thread;
  uint32_t left = 0;
  if (!runtime::isPlain(thread)) {
    if (!runtime::isCalledDirectly(thread, traitsOf(row), caller.stack_pointer)) [[unlikely]]
      return hookAnnouncedAlloc<kRow>(size_bytes, flags, caller, call);
    left = thread.call.site;
  }
  const uint32_t enabled = runtime::enabledWord();
  if ((enabled & kAllocOutcomes) != kAllocOutcomes) [[unlikely]]
    return (enabled & kAllocOutcomes) == 0 ? call() : hookAnnouncedAlloc<kRow>(size_bytes, flags, caller, call);
  void *block = callPlainInside(thread, row.family, call);
  const uint32_t site = pathOf(enabled, left, caller);
  if (block == nullptr) [[unlikely]]
    recordRefusal(row, row.flags | flags, site, size_bytes);
  else
    runtime::recordEnabled(thread, abi::AllocEvent{{abi::EventKind::Alloc, row.heap, 0,
                                                    static_cast<uint16_t>(row.flags | flags | abi::kFromHook), site, 0},
                                                   reinterpret_cast<uint64_t>(block),
                                                   size_bytes});
  return block;
}

template <int kRow, class Call>
[[gnu::noinline]] auto hookAnnouncedFree(const void *block, uint64_t size_bytes, uint64_t caller, Call call) noexcept {
  constexpr const abi::Symbol &row = abi::kSymbols[kRow];
  runtime::Thread &thread = __msl_thread;
  if (isAllocatorsOwn(thread))
    return call();
  const auto address = reinterpret_cast<uint64_t>(block);
  if (runtime::takeBlockSite(thread, row.family, row.verb, address).site == 0)
    runtime::recordFree(row.heap, row.flags | abi::kFromHook, runtime::callerSite(caller), address, size_bytes);
  return callInside(thread, runtime::insideOf(row.family), call);
}

// Recorded before the block goes back, or another thread may get its address first.
template <int kRow, class Call>
[[gnu::always_inline]] inline auto hookFree(const void *block, uint64_t size_bytes, uint64_t caller,
                                            Call call) noexcept {
  constexpr const abi::Symbol &row = abi::kSymbols[kRow];
  runtime::Thread &thread = __msl_thread;
  if (!runtime::isPlain(thread)) {
    if (!runtime::isGivenBack(thread, traitsOf(row), reinterpret_cast<uint64_t>(block))) [[unlikely]]
      return hookAnnouncedFree<kRow>(block, size_bytes, caller, call);
    return callPlainInside(thread, row.family, call);
  }
  if (!runtime::isEnabled(abi::EventKind::Free))
    return call();
  runtime::recordEnabled(
      thread, abi::FreeEvent{{abi::EventKind::Free, row.heap, 0, static_cast<uint16_t>(row.flags | abi::kFromHook),
                              runtime::callerSite(caller), 0},
                             reinterpret_cast<uint64_t>(block),
                             size_bytes});
  return callPlainInside(thread, row.family, call);
}

// Around a realloc: Free before, Alloc after; the old block again when it fails.
template <int kRow, class Call>
[[gnu::noinline]] void *hookRealloc(const void *old, uint64_t size_bytes, const runtime::CallerFrame &caller,
                                    Call call) noexcept {
  constexpr const abi::Symbol &row = abi::kSymbols[kRow];
  runtime::Thread &thread = __msl_thread;
  if (isAllocatorsOwn(thread) || runtime::isStopped())
    return call();
  const auto address = reinterpret_cast<uint64_t>(old);
  const runtime::PendingSite left = runtime::takeBlockSite(thread, row.family, row.verb, address);
  const uint32_t path = pathOf(runtime::enabledWord(), left.site, caller);
  const uint16_t flags = address != 0 ? row.flags : row.flags & ~abi::kRealloc;
  if (address != 0 && (left.site == 0 || left.address == runtime::kUnfollowed))
    runtime::recordFree(row.heap, flags | abi::kFromHook, path, address, 0);
  // reallocarray calls realloc, which is no handler's.
  const uint16_t inside = kRow == Row::reallocarray ? runtime::kInsideRuntime : runtime::insideOf(row.family);
  void *block = callInside(thread, inside, call);
  const bool refused = block == nullptr && size_bytes != 0; // realloc(p, 0) gave p back
  if (refused && address != 0)
    runtime::recordAlloc(row.heap, flags | abi::kRestored | abi::kFromHook, path, address, 0);
  recordResult<kRow>(path, left.site, refused ? row.flags & ~abi::kRealloc : flags, block, size_bytes);
  return block;
}

[[gnu::always_inline]] inline uint64_t product(uint64_t count, uint64_t size_bytes) noexcept {
  uint64_t bytes = 0;
  return __builtin_mul_overflow(count, size_bytes, &bytes) ? UINT64_MAX : bytes; // the real one refuses it
}

// One of the real functions, or null while they are being looked up.
template <class Function> [[gnu::always_inline]] inline Function found(Function &function) noexcept {
  const Function known = __atomic_load_n(&function, __ATOMIC_RELAXED);
  if (known != nullptr) [[likely]]
    return known;
  return findReal() ? __atomic_load_n(&function, __ATOMIC_RELAXED) : nullptr;
}

} // namespace msleaks::hooks
