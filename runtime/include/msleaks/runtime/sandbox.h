// A program that forbids system calls (seccomp) may be killed for any that it does not expect. From before the filter
// is installed until the process ends, the runtime and the hooks make none (docs/runtime.md).
#pragma once

#include <atomic>
#include <cstdint>

extern "C" {
// Filters that this process has installed, or 1 when it began with one; kNotDecided before anybody has asked. A fork's
// child has its parent's filters, and so its parent's number.
[[gnu::visibility("default")]] extern std::atomic<uint32_t> __msl_sandboxes;
// The number, asked of the kernel when nobody has done so yet. A process that began with a filter is inert from here
// on.
[[gnu::visibility("default"), gnu::cold]] uint32_t __msl_decide_sandbox() noexcept;
// Before the process installs a filter: takes what shared memory may be needed later, and waits for other threads to
// leave the kernel. `is_strict`: the kernel's own filter, which forbids this thread to read the processor's counter
// too.
[[gnu::visibility("default"), gnu::cold]] void __msl_enter_sandbox(bool is_strict) noexcept;
// The kernel refused the filter.
[[gnu::visibility("default"), gnu::cold]] void __msl_stay_outside() noexcept;
}

namespace msleaks::runtime {

inline constexpr uint32_t kNotDecided = UINT32_MAX, kDeciding = UINT32_MAX - 1;

inline bool isSandboxed() noexcept {
  const uint32_t filters = __msl_sandboxes.load(std::memory_order_seq_cst);
  return (filters < kDeciding ? filters : __msl_decide_sandbox()) != 0;
}

} // namespace msleaks::runtime
