#include "sandbox_reserve.h"

#include "ring.h"
#include "session.h"
#include "system.h"

namespace msleaks::runtime {
namespace {

constexpr uint64_t kNsPerUs = 1000;
constexpr unsigned kMostLooks = 20'000; // the wait for threads in the kernel is limited to about a second

// Returns the header of this process's arena. In a vfork's child, which shares its parent's arena but has another pid,
// returns null.
abi::ArenaHeader *arenaOfThisProcess() noexcept {
  const Arena *arena = __msl_process.arena;
  return arena != nullptr && arena->header->pid == processId() ? arena->header : nullptr;
}

void tellCollector(uint32_t filters) noexcept {
  if (abi::ArenaHeader *header = arenaOfThisProcess())
    header->filters.store(filters, std::memory_order_relaxed);
}

// Waits until all system calls of the runtime have returned, since a new filter may apply to all threads at once.
void waitUntilNobodyIsInKernel() noexcept {
  const timespec moment{0, 50 * kNsPerUs};
  for (unsigned i = 0; i < kMostLooks && __atomic_load_n(&__msl_process.in_kernel, __ATOMIC_SEQ_CST) > 0; ++i)
    rawCall(SYS_nanosleep, wordOfArgument(&moment));
}

// Replaces the thread's ring by a larger ring, since the runtime cannot allocate a ring under the filter. A flight
// recorder's ring is never replaced.
void growRing(Thread &thread) noexcept {
  if (thread.generation == 0 || thread.generation != __msl_process.state || depthOf(thread) != 0 ||
      peek(thread.ring->room_until) == kUnlimited)
    return;
  promote(thread);
}

void prepare(Thread &thread) noexcept {
  ensureAttached(thread);
  if (arenaOfThisProcess() == nullptr)
    return;
  growRing(thread);
  const ArenaHeld held;
  if (Arena *arena = held.arena()) {
    reserveRings(*arena);
    reserveCallers(*arena);
    reservePaths(*arena);
  }
}

} // namespace
} // namespace msleaks::runtime

constinit std::atomic<uint32_t> __msl_sandboxes{msleaks::runtime::kNotDecided};

using namespace msleaks::runtime;

// The thread that decides may be interrupted by a signal handler or a fork, and may never finish. So another thread
// waits only for a bounded time, and then decides itself.
uint32_t __msl_decide_sandbox() noexcept {
  const ErrnoKept kept;
  uint32_t filters = kNotDecided;
  if (!__msl_sandboxes.compare_exchange_strong(filters, kDeciding))
    for (unsigned i = 0; i < kSpinsInSandbox && filters >= kDeciding; ++i, pauseBriefly())
      filters = __msl_sandboxes.load();
  if (filters < kDeciding)
    return filters;
  ++__msl_thread.must_finish;
  filters = beginsSandboxed() ? 1 : 0;
  --__msl_thread.must_finish;
  __msl_sandboxes.store(filters);
  return filters;
}

void __msl_enter_sandbox(bool is_strict) noexcept {
  const ErrnoKept kept;
  if (!isSandboxed()) {
    prepare(__msl_thread);
    tellCollector(1);
  }
  if (__msl_sandboxes.fetch_add(1, std::memory_order_seq_cst) == 0)
    waitUntilNobodyIsInKernel();
  if (is_strict)
    forbidClock(__msl_thread, true);
}

void __msl_stay_outside() noexcept {
  const ErrnoKept kept;
  forbidClock(__msl_thread, false);
  if (__msl_sandboxes.fetch_sub(1, std::memory_order_seq_cst) == 1)
    tellCollector(0);
}
