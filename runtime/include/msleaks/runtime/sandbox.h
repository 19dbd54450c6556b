// Stops the system calls of the runtime and the hooks before the program installs a seccomp filter (docs/runtime.md).
// The kernel may kill a program that makes a system call that its filter forbids.
#pragma once

#include <atomic>
#include <cstdint>

extern "C" {
// The number of seccomp filters that this process has installed, or 1 if it began with a filter that the session's
// collector does not have. kNotDecided: the runtime has not asked the kernel yet. A fork's child inherits the filters
// and this number.
[[gnu::visibility("default")]] extern std::atomic<uint32_t> __msl_sandboxes;
// Returns the number of filters. The first call asks the kernel. If the process began with a filter that the collector
// does not have, the runtime records nothing.
[[gnu::visibility("default"), gnu::cold]] uint32_t __msl_decide_sandbox() noexcept;
// Forbids system calls of the runtime. Call this before the process installs a filter. The function first allocates the
// shared memory that the runtime may need later. Then it waits, for about a second at most, until no other thread is in
// a system call of the runtime. `is_strict` means the kernel's own filter (SECCOMP_MODE_STRICT). This filter also
// forbids this thread to read the processor's counter.
[[gnu::visibility("default"), gnu::cold]] void __msl_enter_sandbox(bool is_strict) noexcept;
// Undoes __msl_enter_sandbox. Call this if the kernel has refused the filter.
[[gnu::visibility("default"), gnu::cold]] void __msl_stay_outside() noexcept;
}

namespace msleaks::runtime {

inline constexpr uint32_t kNotDecided = UINT32_MAX, kDeciding = UINT32_MAX - 1;

inline bool isSandboxed() noexcept {
  const uint32_t filters = __msl_sandboxes.load(std::memory_order_seq_cst);
  return (filters < kDeciding ? filters : __msl_decide_sandbox()) != 0;
}

} // namespace msleaks::runtime
