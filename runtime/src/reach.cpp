#include "reach.h"

#include "arena.h"
#include "ring.h"
#include "system.h"

extern "C" int __cxa_atexit(void (*)(void *), void *, void *);

namespace msleaks::runtime {
namespace {

constexpr uint64_t kNsPerMs = 1'000'000;
constexpr uint64_t kLookNs = 10 * kNsPerMs; // a waiting thread checks at this interval whether the collector is alive
// If the collector was stopped together with this process, its heartbeat is old when both continue. So a thread waits
// at least this long before it takes an old heartbeat as a sign of a dead collector. If the timeout is shorter than
// this, it waits for one timeout.
constexpr uint64_t kGraceNs = 100 * kNsPerMs;
constexpr uint64_t kMostTimeouts = 10;

uint64_t stackPointer() noexcept {
  uint64_t pointer = 0; // NOLINT(misc-const-correctness): the asm writes it
#if defined(__x86_64__)
  __asm__ volatile("mov %%rsp, %0" : "=r"(pointer));
#elif defined(__aarch64__)
  __asm__ volatile("mov %0, sp" : "=r"(pointer));
#endif
  return pointer;
}

bool isStill(const std::atomic<abi::ReachWait> &wait) noexcept {
  const abi::ReachWait now = wait.load(std::memory_order_acquire);
  return now == abi::ReachWait::Waiting || now == abi::ReachWait::Reading;
}

// Waits until the collector has read the memory. Ends soon if the collector is dead. If it is alive, waits at most as
// long as makeRoom() does.
void waitUntilRead(std::atomic<abi::ReachWait> &wait) noexcept {
  const abi::ControlPage &control = *session.control;
  const uint64_t timeout_ns = control.flags.block_timeout_ms * kNsPerMs;
  const uint64_t began_ns = monotonicNs();
  while (isStill(wait)) {
    const abi::ReachWait seen = wait.load(std::memory_order_relaxed);
    const timespec look{0, static_cast<long>(kLookNs)};
    callKernel(SYS_futex, &wait, FUTEX_WAIT, static_cast<uint32_t>(seen), &look, nullptr, 0);
    const uint64_t now_ns = monotonicNs();
    const bool is_old = now_ns > control.heartbeat_ns.load(std::memory_order_relaxed) + timeout_ns &&
                        now_ns > began_ns + (timeout_ns < kGraceNs ? timeout_ns : kGraceNs);
    if (!collectorGone() && !is_old && now_ns < began_ns + kMostTimeouts * timeout_ns)
      continue;
    abi::ReachWait from = seen;
    if (isStill(wait) && wait.compare_exchange_strong(from, abi::ReachWait::GaveUp, std::memory_order_acq_rel))
      return;
  }
}

// Whether the session asks for this wait. By default a fork's child does not wait, since some programs fork a child for
// a millisecond of work.
bool isWanted(const abi::ArenaHeader &arena) noexcept {
  const abi::Reach reach = session.control->flags.reach;
  return reach == abi::Reach::All || (reach != abi::Reach::Off && arena.ancestor_pid == 0);
}

// Whether this process waits. A vfork's child (which shares its parent's arena but has another pid) does not wait, nor
// does a process whose blocks are not recorded.
bool shallWait() noexcept {
  const Arena *arena = __msl_process.arena;
  return arena != nullptr && !isSandboxed() && arena->header->pid == processId() && !collectorGone() &&
         isWanted(*arena->header) && isEnabled(abi::EventKind::Alloc);
}

// Claims the futex for this thread. Returns false if another thread has claimed it.
bool claim(std::atomic<abi::ReachWait> &wait) noexcept {
  abi::ReachWait seen = wait.load(std::memory_order_relaxed);
  return seen != abi::ReachWait::Claimed && seen != abi::ReachWait::Waiting && seen != abi::ReachWait::Reading &&
         wait.compare_exchange_strong(seen, abi::ReachWait::Claimed, std::memory_order_acquire);
}

// Claims the futex for the exit. If another thread has claimed it, waits for that thread, whose own wait is limited.
bool claimLast(std::atomic<abi::ReachWait> &wait) noexcept {
  const uint64_t until_ns = monotonicNs() + (kMostTimeouts + 1) * session.control->flags.block_timeout_ms * kNsPerMs;
  while (!claim(wait)) {
    if (monotonicNs() > until_ns)
      return false;
    const timespec look{0, static_cast<long>(kLookNs)};
    callKernel(SYS_nanosleep, &look, nullptr);
  }
  return true;
}

// Waits until the collector has read the memory. __builtin_unwind_init stores the registers on the stack, above the
// reported stack pointer. So the collector also reads the registers.
[[gnu::noinline]] void waitToBeRead(bool at_exit) noexcept {
  __builtin_unwind_init();
  const ErrnoKept kept;
  const SignalsBlocked blocked;
  abi::ArenaHeader &header = *__msl_process.arena->header;
  if (!(at_exit ? claimLast(header.reach_wait) : claim(header.reach_wait)))
    return;
  header.reach_at_exit = at_exit;
  header.reach_tid = threadId();
  header.reach_since_ns = monotonicNs();
  header.reach_stack = stackPointer();
  header.reach_thread_pointer = reinterpret_cast<uintptr_t>(__builtin_thread_pointer());
  header.reach_wait.store(abi::ReachWait::Waiting, std::memory_order_release);
  {
    const ProcessLocked locked; // protects the path buffer of wakeCollector
    wakeCollector(*__msl_process.arena);
  }
  waitUntilRead(header.reach_wait);
}

void tellReach(void *) noexcept {
  if (shallWait())
    waitToBeRead(true);
}

// Registers the exit handler without a DSO handle. So exit() calls it after the program's handlers and the destructors
// of all images, and dlclose does not call it.
[[gnu::constructor]] void watchExit() noexcept { __cxa_atexit(tellReach, nullptr, nullptr); }

} // namespace

void wakeCollector(const Arena &arena) noexcept {
  PathText &path = session.scratch;
  path = arena.rings_path;
  path << ".waits";
  if (!path.fits())
    return;
  if (const OpenFile file = createFile(path.c_str(), O_WRONLY))
    callKernel(SYS_unlinkat, AT_FDCWD, path.c_str(), 0);
}

void waitAtMark() noexcept {
  if (__msl_process.arena != nullptr && session.control->flags.reach == abi::Reach::Marks && shallWait())
    waitToBeRead(false);
}

} // namespace msleaks::runtime
