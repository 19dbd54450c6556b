// Numbers the call paths of this process. A call path is the list of calls that led to an allocation
// (docs/call-paths.md).
#pragma once

#include "msleaks/runtime/caller.h"
#include "msleaks/runtime/foreign_sites.h"
#include "msleaks/runtime/record.h"

namespace msleaks::runtime {

// The calls of Python code that have started a thread. They are the outermost calls of the thread's paths.
struct StartedBy {
  uint32_t node;        // innermost of these calls; kPathBegin = none
  uint32_t generations; // number of threads that have started each other, up to this thread
  uint64_t process;     // generation of the process that the node belongs to
};

} // namespace msleaks::runtime

extern "C" {
// Returns the site number of a call path. `return_address`, `stack_pointer` and `frame_pointer` describe the innermost
// call. If `site` is not 0, the path also contains this site in instrumented code, inside the innermost call. If the
// path gets no number, returns `site`, or the caller's site number if `site` is 0.
[[gnu::visibility("default")]] uint32_t __msl_path(uint64_t return_address, uint64_t stack_pointer,
                                                   uint64_t frame_pointer, uint32_t site) noexcept;
// Returns the site number of the path to `caller`, the return address of a hook. The stack walk begins further inside:
// at a call that the hook made. `return_address`, `stack_pointer` and `frame_pointer` describe that call.
[[gnu::visibility("default")]] uint32_t __msl_path_to(uint64_t caller, uint64_t return_address, uint64_t stack_pointer,
                                                      uint64_t frame_pointer, uint32_t site) noexcept;

// The calling thread is about to start a thread, which begins with the function `begin`. If Python starts the thread,
// returns the present calls of Python code. If not, or if they are not known, `node` is kPathBegin.
[[gnu::visibility("default")]] msleaks::runtime::StartedBy __msl_starts_thread(const void *begin) noexcept;
// The calling thread has begun. __msl_starts_thread returned `by` in the thread that started it.
[[gnu::visibility("default")]] void __msl_thread_begins(const msleaks::runtime::StartedBy &by) noexcept;
}

namespace msleaks::runtime {

// Returns the caller's stack pointer at its call of the function that contains this inlined code. So the callbacks
// before and after an instrumented call get the same value.
[[gnu::always_inline]] inline uint64_t callerStackPointer() noexcept {
#if defined(__clang__) && defined(__aarch64__)
  return reinterpret_cast<uint64_t>(__builtin_sponentry()); // clang's __builtin_dwarf_cfa() is the frame address here
#else
  return reinterpret_cast<uint64_t>(__builtin_dwarf_cfa());
#endif
}

// The frame of the caller of the function into which callerFrame() is inlined.
struct CallerFrame {
  uint64_t return_address, stack_pointer, frame_pointer;
};

[[gnu::always_inline]] inline CallerFrame callerFrame() noexcept {
  const auto *record =
      static_cast<const uint64_t *>(__builtin_frame_address(0)); // {frame pointer, …} on both processors
  return {reinterpret_cast<uint64_t>(__builtin_return_address(0)), callerStackPointer(), record[0]};
}

// Returns the site number of the path to the caller. If the session records no paths of callers, returns the site
// number of the caller.
[[gnu::always_inline]] inline uint32_t pathOfCaller(uint32_t enabled, const CallerFrame &frame) noexcept {
  if ((enabled & abi::kPathsOfCallers) == 0) [[unlikely]]
    return callerSite(frame.return_address);
  return __msl_path(frame.return_address, frame.stack_pointer, frame.frame_pointer, 0);
}

// Whether the event of an allocation at this site gets a path. `site` must be the site number of a row of a unit.
[[gnu::always_inline]] inline bool hasPath(uint32_t enabled, uint32_t site) noexcept {
  if ((enabled & abi::kPathsOfSites) != 0) [[likely]]
    return true;
  return (enabled & abi::kPathsOfCallers) != 0 && isForeign(site);
}

// Returns the site number of the path to `site`. If the session records no path to this site, returns `site`. If `site`
// is already the number of a caller or of a path, returns `site`.
[[gnu::always_inline]] inline uint32_t pathOfSite(uint32_t enabled, uint32_t site, const CallerFrame &frame) noexcept {
  if ((site & (abi::kCallerSite | abi::kPathSite)) != 0 || !hasPath(enabled, site))
    return site;
  return __msl_path(frame.return_address, frame.stack_pointer, frame.frame_pointer, site);
}

} // namespace msleaks::runtime
