// The pending site: how a call that the pass instrumented and a hook interposed becomes one event.
//
//   call          callback before it                    hook                           callback after it
//   allocator     leaves its site                       takes it, records with it      records if the site is still
//   there free          records, leaves its site              takes it, does not record realloc       records the Free,
//   leaves its site     takes it, records the Alloc    records if the site is still there,
//                                                                                      brings the block back if it
//                                                                                      failed
//
// There is one place a thread. A call that begins before another one's site was taken displaces it (an operator new
// of the program's own that calls an instrumented malloc); the callback after the outer call then finds its block among
// those recorded meanwhile and retargets it.
#pragma once

#include "msleaks/abi/symbols.h"
#include "msleaks/runtime/record.h"

namespace msleaks::runtime {

inline constexpr uint64_t kAnyBlock = UINT64_MAX; // of a realloc that had no room for its second callback

// The site last: a signal handler in between finds nothing or all of it.
[[gnu::always_inline]] inline void leavePending(Thread &thread, const PendingSite &pending) noexcept {
  thread.attention.site = 0;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  thread.pending_traits = pending.traits;
  thread.pending_address = pending.address;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  thread.attention.site = pending.site;
}

// Nothing was left, no instrumented call is open, and nobody is inside an allocator.
[[gnu::always_inline]] inline bool isPlain(const Thread &thread) noexcept {
  uint64_t attention;
  __builtin_memcpy(&attention, &thread.attention, sizeof attention);
  return attention == 0;
}

// The site left for an allocator of this family; 0: nobody announced this call. Whatever else was left is stale.
inline uint32_t takeAllocSite(Thread &thread, abi::Family family) noexcept {
  const uint32_t site = thread.attention.site;
  const abi::Traits traits(thread.pending_traits);
  if (traits.verb() == abi::Verb::Free || traits.family() == family)
    thread.attention.site = 0;
  const bool announced = traits.verb() == abi::Verb::Alloc || traits.verb() == abi::Verb::Map;
  return announced && traits.family() == family ? site : 0;
}

// What was left for giving back, or reallocating, exactly this block; site 0: nobody announced it.
inline PendingSite takeBlockSite(Thread &thread, abi::Family family, abi::Verb verb, uint64_t address) noexcept {
  const PendingSite pending{thread.attention.site, thread.pending_traits, thread.pending_address};
  const abi::Traits traits(pending.traits);
  if (traits.family() != family || traits.verb() != verb ||
      (pending.address != address && pending.address != kAnyBlock))
    return {};
  thread.attention.site = 0;
  // Who takes a realloc also brings the block back when it fails.
  const uint16_t open = thread.attention.open_calls;
  if (verb == abi::Verb::Realloc && open != 0 && thread.open[open - 1].site == pending.site)
    thread.open[open - 1].old = 0;
  return pending;
}

// An allocator's call is announced and no hook took it: what is mapped now is its own supply.
inline bool insideAllocator(const Thread &thread) noexcept {
  const abi::Traits traits(thread.pending_traits);
  return thread.attention.site != 0 && traits.family() == abi::Family::Heap &&
         (traits.verb() == abi::Verb::Alloc || traits.verb() == abi::Verb::Realloc);
}

} // namespace msleaks::runtime
