// The code of each heap hook around the real function. The function's row gives the family, the heap and
// the flags.
//
// In most calls no site is pending. isPlain() shows this by one compare, and the inlined short path follows. Calls from
// uninstrumented code are such calls, and so are direct calls of instrumented code (msleaks/abi/direct_calls.h). If a
// callback has left a site, a function that is not inlined handles the call.
#pragma once

#include "host/real.h"

#include "msleaks/abi/symbols.h"
#include "msleaks/runtime/caller.h"
#include "msleaks/runtime/note.h"
#include "msleaks/runtime/path.h"
#include "msleaks/runtime/pending.h"
#include "msleaks/runtime/took.h"

#include <cerrno>

namespace msleaks::hooks {

namespace Row = abi::detail::Row;

// While an object of this class exists, the thread is inside a real function of the heap: what the function itself
// allocates is not recorded. Use it for a thread where isPlain() is true. It stores a whole word, because isPlain()
// loads a whole word. So a signal handler sees either the state before or the state after.
class PlainInside {
public:
  [[gnu::always_inline]] PlainInside(runtime::Thread &thread, abi::Family family) noexcept : thread_(thread) {
    store({.site = 0, .inside = runtime::insideOf(family), .open_calls = 0});
  }
  [[gnu::always_inline]] ~PlainInside() { store({}); }
  PlainInside(const PlainInside &) = delete;
  PlainInside &operator=(const PlainInside &) = delete;

private:
  [[gnu::always_inline]] void store(runtime::CallState call) noexcept {
    uint64_t word;
    __builtin_memcpy(&word, &call, sizeof word);
    std::atomic_signal_fence(std::memory_order_seq_cst);
    __builtin_memcpy(&thread_.call, &word, sizeof word);
    std::atomic_signal_fence(std::memory_order_seq_cst);
  }
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

// The code that called a hook. `site` is the argument of a direct call; 0 = the call passed no site. Functions take a
// CalledFrom by value, so that inlined code keeps its members in registers.
struct CalledFrom {
  runtime::CallerFrame frame;
  uint32_t site;
};

// Returns the path to the site that a callback has left or a direct call has passed. Without a site, returns the path
// to the code that called the hook.
[[gnu::always_inline]] inline uint32_t pathOf(uint32_t enabled, uint32_t left,
                                              const runtime::CallerFrame &caller) noexcept {
  return left != 0 ? runtime::pathOfSite(enabled, left, caller) : runtime::pathOfCaller(enabled, caller);
}

[[gnu::noinline, gnu::cold]] inline void recordRefusal(const abi::Symbol &row, uint16_t flags, uint32_t site,
                                                       uint64_t size_bytes) noexcept {
  if (size_bytes != 0)
    runtime::recordAllocFailed(row.heap, flags | abi::kFromHook, site, size_bytes, static_cast<uint64_t>(errno));
}

// `left` is the site that a callback left, or 0.
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

// Whether a signal handler makes this call: it has interrupted a real function of libc's heap. These functions call no
// hooked function themselves. The only exception is reallocarray, during which the thread counts as inside the runtime.
[[gnu::cold]] inline bool isOfHandler(const runtime::Thread &thread) noexcept {
  return thread.call.inside != runtime::kInsideRuntime && runtime::isInside(thread, abi::Family::Heap) &&
         libc_allocates;
}

// Whether the allocator itself makes this call, inside a real function of the heap.
[[gnu::cold]] inline bool isAllocatorsOwn(const runtime::Thread &thread) noexcept {
  return runtime::isInside(thread, abi::Family::Heap) && !isOfHandler(thread);
}

// The events that a call of an allocator may record.
inline constexpr uint32_t kAllocOutcomes =
    abi::enabledBit(abi::EventKind::Alloc) | abi::enabledBit(abi::EventKind::AllocFailed);

// Returns the flag of host memory that OpenCL allocates inside one of its calls. If the device is the processor, this
// may be the memory of a buffer.
inline uint16_t driverFlag(const runtime::Thread &thread) noexcept {
  return runtime::isInside(thread, abi::Family::OpenCl) ? uint16_t{abi::kDriver} : uint16_t{0};
}

template <int kRow, class Call>
[[gnu::noinline]] void *hookAnnouncedAlloc(uint64_t size_bytes, CalledFrom from, Call call) noexcept {
  constexpr const abi::Symbol &row = abi::kSymbols[kRow];
  runtime::Thread &thread = __msl_thread;
  if (isAllocatorsOwn(thread))
    return call();
  if ((runtime::enabledWord() & kAllocOutcomes) == 0)
    return call();
  const uint32_t left = runtime::takeAllocSite(thread, row.family);
  const uint32_t site = from.site != 0 ? from.site : left;
  const uint64_t began_ns = runtime::beginTook(thread);
  void *block = callInside(thread, runtime::insideOf(row.family), call);
  recordResult<kRow>(pathOf(runtime::enabledWord(), site, from.frame), site, row.flags | driverFlag(thread), block,
                     size_bytes);
  runtime::endTook(thread, began_ns);
  return block;
}

// Calls an allocator that returns the block or null, and records the call. This function is inlined into the hook, so
// callerFrame() is the frame of the hook's caller. The frame is read only where it is needed.
template <int kRow, class Call>
[[gnu::always_inline]] inline void *hookAlloc(uint64_t size_bytes, uint32_t site, Call call) noexcept {
  constexpr const abi::Symbol &row = abi::kSymbols[kRow];
  runtime::Thread &thread = __msl_thread;
  if (!runtime::isPlain(thread)) [[unlikely]]
    return hookAnnouncedAlloc<kRow>(size_bytes, {runtime::callerFrame(), site}, call);
  const uint32_t enabled = runtime::enabledWord();
  if ((enabled & (kAllocOutcomes | abi::kKernelEvidence)) != kAllocOutcomes) [[unlikely]]
    return (enabled & kAllocOutcomes) == 0 ? call()
                                           : hookAnnouncedAlloc<kRow>(size_bytes, {runtime::callerFrame(), site}, call);
  void *block = callPlainInside(thread, row.family, call);
  const uint32_t path = pathOf(enabled, site, runtime::callerFrame());
  if (block == nullptr) [[unlikely]]
    recordRefusal(row, row.flags, path, size_bytes);
  else
    runtime::recordEnabled(thread, abi::AllocEvent{{abi::EventKind::Alloc, row.heap, 0,
                                                    static_cast<uint16_t>(row.flags | abi::kFromHook), path, 0},
                                                   reinterpret_cast<uint64_t>(block),
                                                   size_bytes});
  return block;
}

// Returns the site of a free: the one that a direct call has passed, else that of the code that called the hook.
[[gnu::always_inline]] inline uint32_t siteOfFree(CalledFrom from) noexcept {
  return from.site != 0 ? from.site : runtime::callerSite(from.frame.return_address);
}

template <int kRow, class Call>
[[gnu::noinline]] void hookAnnouncedFree(const void *block, CalledFrom from, Call call) noexcept {
  constexpr const abi::Symbol &row = abi::kSymbols[kRow];
  runtime::Thread &thread = __msl_thread;
  if (isAllocatorsOwn(thread))
    return call();
  const auto address = reinterpret_cast<uint64_t>(block);
  if (runtime::takeBlockSite(thread, row.family, row.verb, address).site == 0)
    runtime::recordFree(row.heap, row.flags | abi::kFromHook, siteOfFree(from), address, 0);
  callInside(thread, runtime::insideOf(row.family), call);
}

// Records the free of a block, and then calls the real function. In the other order, another thread could get the
// block's address before the free is recorded.
template <int kRow, class Call>
[[gnu::always_inline]] inline void hookFree(const void *block, uint32_t site, Call call) noexcept {
  constexpr const abi::Symbol &row = abi::kSymbols[kRow];
  const CalledFrom from{site != 0 ? runtime::CallerFrame{} : runtime::callerFrame(), site};
  runtime::Thread &thread = __msl_thread;
  if (!runtime::isPlain(thread)) [[unlikely]]
    return hookAnnouncedFree<kRow>(block, from, call);
  if (!runtime::isEnabled(abi::EventKind::Free))
    return call();
  runtime::recordEnabled(thread,
                         abi::FreeEvent{{abi::EventKind::Free, row.heap, 0,
                                         static_cast<uint16_t>(row.flags | abi::kFromHook), siteOfFree(from), 0},
                                        reinterpret_cast<uint64_t>(block),
                                        0});
  callPlainInside(thread, row.family, call);
}

// Records a realloc: a Free before the real call, and an Alloc after it. If the call fails, an Alloc restores the old
// block.
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
  // reallocarray calls realloc. That call must not count as a signal handler's.
  const uint16_t inside = kRow == Row::reallocarray ? runtime::kInsideRuntime : runtime::insideOf(row.family);
  const uint64_t began_ns = runtime::beginTook(thread);
  void *block = callInside(thread, inside, call);
  const bool refused = block == nullptr && size_bytes != 0; // realloc(p, 0) has freed p
  if (refused && address != 0)
    runtime::recordAlloc(row.heap, flags | abi::kRestored | abi::kFromHook, path, address, 0);
  recordResult<kRow>(path, left.site, refused ? row.flags & ~abi::kRealloc : flags, block, size_bytes);
  runtime::endTook(thread, began_ns);
  return block;
}

[[gnu::always_inline]] inline uint64_t product(uint64_t count, uint64_t size_bytes) noexcept {
  uint64_t bytes = 0;
  return __builtin_mul_overflow(count, size_bytes, &bytes) ? UINT64_MAX : bytes; // the real function refuses this size
}

// Returns a real function, or null while the real functions are being looked up. A direct call (`site` is not 0) comes
// from an armed unit, so the real functions are known then (__msl_direct_ready).
template <class Function> [[gnu::always_inline]] inline Function found(Function &function, uint32_t site = 0) noexcept {
  const Function known = __atomic_load_n(&function, __ATOMIC_RELAXED);
  if (site != 0) {
    if (known == nullptr)
      __builtin_unreachable();
    return known;
  }
  if (known != nullptr) [[likely]]
    return known;
  return findReal() ? __atomic_load_n(&function, __ATOMIC_RELAXED) : nullptr;
}

} // namespace msleaks::hooks
