// The pending site makes one event of a call that both the pass instruments and a hook interposes.
//
// clang-format off
//   call           callback before it        hook                            callback after it
//   allocator      leaves its site           takes the site, records         records if the site is still there
//   mprotect       leaves its site           does not record                 records
//   free           records, leaves its site  takes the site; if the call     if the call failed, restores the block,
//                                            failed, restores the block      unless the hook has (kTold)
//   realloc        records the Free,         takes the site, records the     records if the site is still there;
//                  leaves its site           Alloc                           if the call failed, restores the block
//   launch, copy   records, leaves its site  takes the site; if the call     if the call failed, records the failure,
//                                            failed, records the failure     unless the hook has
//   retain         records, leaves its site  takes the site
// clang-format on
//
// Instrumented code mostly calls malloc, free and the like directly (msleaks/abi/direct_calls.h). Then no site is
// pending, and no callback is called.
//
// A hook outside of the heap (hook_call.cpp) calls these callbacks itself, unless instrumented code has announced the
// call.
//
// Each thread has room for one pending site. A call that begins before an earlier site was taken overwrites that site.
// An example is an operator new of the program that calls an instrumented malloc. The callback after the outer call
// then finds its block among the blocks recorded meanwhile, and retargets the block.
#pragma once

#include "msleaks/abi/symbols.h"
#include "msleaks/runtime/record.h"

namespace msleaks::runtime {

// Special values of PendingSite::address. kAnyBlock: an allocation whose block is not known yet. kUnfollowed: a call
// that no callback can follow.
inline constexpr uint64_t kAnyBlock = UINT64_MAX, kUnfollowed = UINT64_MAX - 1;
// A hook or callback has recorded that the call failed, and no other call has begun since.
inline constexpr uint64_t kTold = UINT64_MAX - 2;

// Stores the site last. So a signal handler in between finds either all values or no pending site.
[[gnu::always_inline]] inline void leavePending(Thread &thread, const PendingSite &pending) noexcept {
  thread.call.site = 0;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  thread.pending_traits = pending.traits;
  thread.pending_address = pending.address;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  thread.call.site = pending.site;
}

// Whether no site is pending, no instrumented call is open, and the thread is not inside an allocator.
[[gnu::always_inline]] inline bool isPlain(const Thread &thread) noexcept {
  uint64_t call;
  __builtin_memcpy(&call, &thread.call, sizeof call);
  return call == 0;
}

// Whether the call of the pending site is recorded already. Such a site is for the very next hook only.
inline bool isRecorded(const Thread &thread) noexcept {
  return abi::Traits(thread.pending_traits).verb() != abi::Verb::Realloc && thread.pending_address < kUnfollowed;
}

// Takes the site that a callback left for an allocator of this family. Returns 0 if no callback announced this call.
// Any other pending site is stale, and is removed if its call is recorded already or of this family.
inline uint32_t takeAllocSite(Thread &thread, abi::Family family) noexcept {
  const uint32_t site = thread.call.site;
  const abi::Traits traits(thread.pending_traits);
  if (isRecorded(thread) || traits.family() == family)
    thread.call.site = 0;
  const bool announced = traits.verb() == abi::Verb::Alloc || traits.verb() == abi::Verb::Map;
  return announced && traits.family() == family ? site : 0;
}

// Takes the site that a callback left for freeing or reallocating exactly this block. The result's site is 0 if no
// callback announced the call.
inline PendingSite takeBlockSite(Thread &thread, abi::Family family, abi::Verb verb, uint64_t address) noexcept {
  const PendingSite pending{thread.call.site, thread.pending_traits, thread.pending_address};
  const abi::Traits traits(pending.traits);
  if (traits.family() != family || traits.verb() != verb ||
      (pending.address != address && pending.address != kUnfollowed))
    return {};
  thread.call.site = 0;
  // The hook that takes the site of a realloc also restores the block if the realloc fails.
  const uint16_t open = thread.call.open_calls;
  if (verb == abi::Verb::Realloc && open != 0 && thread.open[open - 1].site == pending.site)
    thread.open[open - 1].old = 0;
  return pending;
}

// Whether a callback has announced an allocator's call and no hook has taken the site. The allocator itself maps memory
// in this time, to hand out parts of it later.
inline bool insideAllocator(const Thread &thread) noexcept {
  const abi::Traits traits(thread.pending_traits);
  return thread.call.site != 0 && traits.family() == abi::Family::Heap &&
         (traits.verb() == abi::Verb::Alloc || traits.verb() == abi::Verb::Realloc);
}

} // namespace msleaks::runtime
