// Numbers the call sites of hooks, most of which are in uninstrumented code. A hook identifies a call site by its
// return address. A number is valid within one process.
#pragma once

#include "msleaks/runtime/thread.h"

extern "C" {
[[gnu::visibility("default"), gnu::cold]] uint32_t __msl_new_caller(uint64_t return_address) noexcept;
// Together, the next two functions remove the callers, call paths and unwind rules of unloaded libraries. Call
// __msl_unloading before a call that may unload libraries, and __msl_unloaded after it.
[[gnu::visibility("default"), gnu::cold]] void __msl_unloading() noexcept;
[[gnu::visibility("default"), gnu::cold]] void __msl_unloaded() noexcept;
}

namespace msleaks::runtime {

[[gnu::always_inline]] inline uint32_t callerSlot(uint64_t return_address) noexcept {
  static_assert(abi::kMaxCallers == 1u << 16);
  return static_cast<uint32_t>(return_address * 0x9e3779b97f4a7c15u >> 48);
}

// Returns the site number of a return address, or 0 if the table is full or there is no arena. The search needs no
// lock: the runtime stores the address of an entry last, and never removes an entry. If the image of an entry is
// unloaded, the entry gets the mark kRetiredCaller.
[[gnu::always_inline]] inline uint32_t callerSite(uint64_t return_address) noexcept {
  if (const abi::Caller *callers = __atomic_load_n(&__msl_process.callers, __ATOMIC_ACQUIRE); callers != nullptr)
      [[likely]] {
    const uint32_t slot = callerSlot(return_address);
    if (callers[slot].address.load(std::memory_order_relaxed) == return_address) [[likely]]
      return abi::kCallerSite | slot;
  }
  return __msl_new_caller(return_address);
}

} // namespace msleaks::runtime
