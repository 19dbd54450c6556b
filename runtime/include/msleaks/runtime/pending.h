// A call can be seen twice: by the callbacks of the pass around it, and by a hook inside it. The pending site makes
// sure that the call is recorded once. The callback before the call stores the call's site, and the hook uses it.
//
// clang-format off
//   call           callback before it        hook                            callback after it
//   allocator      stores its site           uses the site, records          records if the site is still pending
//   mprotect       stores its site           does not record                 records
//   free           records, stores its site  uses the site; if the call      if the call failed and the hook has not
//                                            failed, restores the block      restored the block (kTold), restores it
//   realloc        records the Free,         uses the site, records the      records if the site is still pending;
//                  stores its site           Alloc                           if the call failed, restores the block
//   launch, copy   records, stores its site  uses the site; if the call      if the call failed and the hook has not
//                                            failed, records the failure     recorded the failure, records it
//   retain         records, stores its site  uses the site
// clang-format on
//
// Instrumented code calls malloc, free and other heap functions mostly by a direct call of the hook
// (msleaks/abi/direct_calls.h). A direct call leaves no site, and calls no callback.
//
// The rows `allocator` and `realloc` show the hooks of the heap. Other hooks, such as those of mmap and of drivers, do
// not use the site of an announced allocation. So the callback after the call records the allocation. If no callback
// has announced a call, such a hook calls the callbacks itself (hook_call.cpp).
//
// Each thread has room for one pending site. If a second call begins before the hook has taken the first call's site,
// the second site replaces the first. For example, an operator new of the program calls an instrumented malloc. After
// the outer call, its callback finds the block among the blocks that were recorded during the call. The callback then
// changes the block's site (Retarget).
#pragma once

#include "msleaks/abi/symbol.h"
#include "msleaks/runtime/record.h"

namespace msleaks::runtime {

// Special values of PendingSite::address. kAnyBlock: the call allocates, so its block is not known yet. kUnfollowed: no
// callback follows the call.
inline constexpr uint64_t kAnyBlock = UINT64_MAX, kUnfollowed = UINT64_MAX - 1;
// A hook or callback has recorded that the call failed, and no other call has begun since then.
inline constexpr uint64_t kTold = UINT64_MAX - 2;

// Makes a site pending. The site is stored last, so a signal handler finds either all values or no pending site.
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

// Whether the call of the pending site is recorded already. Only the very next hook may use such a site.
inline bool isRecorded(const Thread &thread) noexcept {
  return abi::Traits(thread.pending_traits).verb() != abi::Verb::Realloc && thread.pending_address < kUnfollowed;
}

// Returns the site that a callback left for an allocator of this family, and removes it. Returns 0 if no callback
// announced this call. Any other pending site is removed if its call is recorded already or belongs to this family.
inline uint32_t takeAllocSite(Thread &thread, abi::Family family) noexcept {
  const uint32_t site = thread.call.site;
  const abi::Traits traits(thread.pending_traits);
  if (isRecorded(thread) || traits.family() == family)
    thread.call.site = 0;
  const bool announced = traits.verb() == abi::Verb::Alloc || traits.verb() == abi::Verb::Map;
  return announced && traits.family() == family ? site : 0;
}

// Returns the site that a callback left for freeing or reallocating exactly this block, or for a tail call
// (kUnfollowed) with any block. Removes the site. If no callback announced the call, the result's site is 0.
inline PendingSite takeBlockSite(Thread &thread, abi::Family family, abi::Verb verb, uint64_t address) noexcept {
  const PendingSite pending{thread.call.site, thread.pending_traits, thread.pending_address};
  const abi::Traits traits(pending.traits);
  if (traits.family() != family || traits.verb() != verb ||
      (pending.address != address && pending.address != kUnfollowed))
    return {};
  thread.call.site = 0;
  // The hook that uses the site of a realloc also restores the old block if the realloc fails.
  const uint16_t open = thread.call.open_calls;
  if (verb == abi::Verb::Realloc && open != 0 && thread.open[open - 1].site == pending.site)
    thread.open[open - 1].old = 0;
  return pending;
}

// Whether a callback has announced a call of an allocator, and no hook has taken the site yet. Mappings in this time
// belong to the allocator itself, which divides them into blocks.
inline bool insideAllocator(const Thread &thread) noexcept {
  const abi::Traits traits(thread.pending_traits);
  return thread.call.site != 0 && traits.family() == abi::Family::Heap &&
         (traits.verb() == abi::Verb::Alloc || traits.verb() == abi::Verb::Realloc);
}

} // namespace msleaks::runtime
