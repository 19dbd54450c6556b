// Sites of calls in uninstrumented code: the return address of the hook, numbered per process.
#pragma once

#include "msleaks/runtime/thread.h"

extern "C" {
[[gnu::visibility("default"), gnu::cold]] uint32_t __msl_new_caller(uint64_t return_address) noexcept;
// Call these around a call that may unload libraries. Callers and calls in unloaded libraries, and their unwind rules,
// are no longer found.
[[gnu::visibility("default"), gnu::cold]] void __msl_unloading() noexcept;
[[gnu::visibility("default"), gnu::cold]] void __msl_unloaded() noexcept;
}

namespace msleaks::runtime {

[[gnu::always_inline]] inline uint32_t callerSlot(uint64_t return_address) noexcept {
  static_assert(abi::kMaxCallers == 1u << 16);
  return static_cast<uint32_t>(return_address * 0x9e3779b97f4a7c15u >> 48);
}

// Entries are only added, image first, address last, so a search needs no lock. An entry whose image is unloaded gets
// the mark kRetiredCaller; it is added again or comes back. 0 = the table is full.
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
