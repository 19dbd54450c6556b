// The calls that led to an allocation, numbered per process (docs/call-paths.md).
#pragma once

#include "msleaks/runtime/caller.h"
#include "msleaks/runtime/foreign_sites.h"
#include "msleaks/runtime/record.h"

extern "C" {
// The site number of the path that ends with the call `return_address`, made with this stack pointer and this frame
// pointer; `site` != 0: and with that place in instrumented code. What it was, if no path can be told: the site, or the
// caller's number.
[[gnu::visibility("default")]] uint32_t __msl_path(uint64_t return_address, uint64_t stack_pointer,
                                                   uint64_t frame_pointer, uint32_t site) noexcept;
// The same of a hook's caller, looked for from a call inside the hook on.
[[gnu::visibility("default")]] uint32_t __msl_path_to(uint64_t caller, uint64_t return_address, uint64_t stack_pointer,
                                                      uint64_t frame_pointer) noexcept;
}

namespace msleaks::runtime {

// Of the function that this is inlined into: the stack pointer of its caller, as the call left it.
[[gnu::always_inline]] inline uint64_t callerStackPointer() noexcept {
#if defined(__clang__) && defined(__aarch64__)
  return reinterpret_cast<uint64_t>(__builtin_sponentry()); // clang's CFA is the frame address there
#else
  return reinterpret_cast<uint64_t>(__builtin_dwarf_cfa());
#endif
}

// The caller of the function that this is inlined into.
struct CallerFrame {
  uint64_t return_address, stack_pointer, frame_pointer;
};

[[gnu::always_inline]] inline CallerFrame callerFrame() noexcept {
  const auto *record =
      static_cast<const uint64_t *>(__builtin_frame_address(0)); // of both processors: {frame pointer, …}
  return {reinterpret_cast<uint64_t>(__builtin_return_address(0)), callerStackPointer(), record[0]};
}

[[gnu::always_inline]] inline uint32_t enabledWord() noexcept {
  return __atomic_load_n(&__msl_enabled, __ATOMIC_RELAXED)->load(std::memory_order_relaxed);
}

// What the session asks for: the path to the caller, or its number alone.
[[gnu::always_inline]] inline uint32_t pathOfCaller(uint32_t enabled, const CallerFrame &frame) noexcept {
  if ((enabled & abi::kPathsOfCallers) == 0) [[unlikely]]
    return callerSite(frame.return_address);
  return __msl_path(frame.return_address, frame.stack_pointer, frame.frame_pointer, 0);
}

// Whether an allocation at this row of a unit carries the path that led there.
[[gnu::always_inline]] inline bool hasPath(uint32_t enabled, uint32_t site) noexcept {
  return (enabled & abi::kPathsOfSites) != 0 || ((enabled & abi::kPathsOfCallers) != 0 && isForeign(site));
}

// The same of a site that a callback names or left. A caller and a path stay what they are.
[[gnu::always_inline]] inline uint32_t pathOfSite(uint32_t enabled, uint32_t site, const CallerFrame &frame) noexcept {
  if ((site & (abi::kCallerSite | abi::kPathSite)) != 0 || !hasPath(enabled, site))
    return site;
  return __msl_path(frame.return_address, frame.stack_pointer, frame.frame_pointer, site);
}

} // namespace msleaks::runtime
