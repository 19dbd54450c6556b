// Gives numbers to call sites in uninstrumented code. A hook identifies a call site by its return address. The numbers
// are valid within one process.
#pragma once

#include "msleaks/runtime/thread.h"

extern "C" {
[[gnu::visibility("default"), gnu::cold]] uint32_t __msl_new_caller(uint64_t return_address) noexcept;
// Remove callers, path nodes and unwind rules of unloaded libraries from lookups. Call these functions before and after
// a call that may unload libraries.
[[gnu::visibility("default"), gnu::cold]] void __msl_unloading() noexcept;
[[gnu::visibility("default"), gnu::cold]] void __msl_unloaded() noexcept;
}

namespace msleaks::runtime {

[[gnu::always_inline]] inline uint32_t callerSlot(uint64_t return_address) noexcept {
  static_assert(abi::kMaxCallers == 1u << 16);
  return static_cast<uint32_t>(return_address * 0x9e3779b97f4a7c15u >> 48);
}

// Returns the site number of a return address, or 0 if the table is full. The runtime never removes an entry, and
// stores the address of an entry last. So a search needs no lock. An entry whose image was unloaded gets the mark
// kRetiredCaller. If its image is loaded again, the runtime restores the entry or adds a new one.
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
