#include "ring.h"

#include "arm.h"
#include "counters.h"
#include "sandbox_reserve.h"
#include "system.h"
#include "thread_exit.h"
#include "watch_choice.h"

#include "msleaks/abi/chosen_devices.h"
#include "msleaks/runtime/page.h"

#include <sys/prctl.h>

constinit __thread msleaks::runtime::Thread __msl_thread = {};
constinit msleaks::runtime::Process __msl_process{};

namespace msleaks::runtime {
namespace {

// The generation of the last process that attached. A fork does not set this variable to 0. So the child gets a
// generation that differs from its parent's generation, which the child's thread still has.
constinit uint64_t last_generation = kNoGeneration;

// The arena of this process. A fork's child inherits its parent's value, until it has made an arena of its own.
constinit const Arena *last_arena = nullptr;

// The size of an arena's header, first entries and definitions. mayTake() counts it against the limit for processes
// without a collector.
constexpr uint64_t kOrphanArenaBytes = 32 << 10;
constexpr uint64_t kSmallestSlotBytes = 16 << 10;
constexpr uint64_t kGrowth = 4;

uint64_t slotBytes(uint32_t kib) noexcept {
  uint64_t bytes = kSmallestSlotBytes;
  while (bytes * 2 <= uint64_t{kib} << 10)
    bytes *= 2;
  return bytes;
}

struct Start {
  uint32_t stream;
  uint32_t tid;
  uint64_t position;
  uint64_t produced, dropped, stalled_ns;
};

void publish(const ClaimedRing &claimed, const Start &start) noexcept {
  abi::RingHeader &ring = *claimed.ring;
  ring.magic = abi::RingHeader::kMagic;
  ring.stream = start.stream;
  ring.tid = start.tid;
  ring.capacity = (claimed.entry->bytes - abi::kHeaderBytes) / abi::kSlotBytes;
  ring.first_position = start.position;
  std::memset(ring.thread_name, 0, sizeof ring.thread_name);
  callKernel(SYS_prctl, PR_GET_NAME, ring.thread_name, 0, 0, 0);
  ring.depth = kMaxNesting;
  ring.gap = 0;
  put(ring.reserved, start.position);
  put(ring.room_until,
      session.control->flags.on_full == abi::OnFull::Overwrite ? kUnlimited : roomUntil(ring, start.position));
  put(ring.produced, start.produced);
  put(ring.dropped, start.dropped);
  put(ring.stalled_ns, start.stalled_ns);
  ring.head.store(start.position, std::memory_order_relaxed);
  ring.tail.store(start.position, std::memory_order_relaxed);
  claimed.entry->state.store(abi::RingState::Live, std::memory_order_release);
}

abi::RingEntry *entryOf(const Arena &arena, const abi::RingHeader *ring) noexcept {
  const uint32_t count = arena.header->ring_count.load(std::memory_order_relaxed);
  for (uint32_t i = 0; i < count; ++i)
    if (arena.mapped[i] == ring)
      return &arena.entries[i];
  return nullptr;
}

// Sets the state Ended: no more events follow.
void end(const Arena &arena, abi::RingHeader &ring) noexcept {
  if (abi::RingEntry *entry = entryOf(arena, &ring))
    entry->state.store(abi::RingState::Ended, std::memory_order_release);
}

// Returns the id of the calling thread. Returns 0 in a vfork's child, which records into its parent's arena.
uint32_t ownerOfNewRing(const Arena &arena) noexcept { return arena.header->pid == processId() ? threadId() : 0; }

bool hasGone(const Arena &arena, uint32_t tid) noexcept {
  return tid != 0 && callKernel(SYS_tgkill, arena.header->pid, tid, 0) != 0 && errno == ESRCH;
}

// Ends rings whose threads have ended without ending their ring. For example, a thread may end by a raw system call.
// With each new ring, kLooks other rings are checked. `tid` is the id of the thread that gets the new ring. If an older
// ring has the same id, its thread has ended, since the kernel reuses ids.
void endRingsOfThreadsThatHaveGone(Arena &arena, uint32_t tid) noexcept {
  constexpr uint32_t kLooks = 4;
  const uint32_t count = arena.header->ring_count.load(std::memory_order_relaxed);
  for (uint32_t i = 0; i < kLooks && i < count; ++i) {
    const uint32_t index = arena.next_look++ % count;
    abi::RingEntry &entry = arena.entries[index];
    const abi::RingHeader *ring = arena.mapped[index];
    if (entry.state.load(std::memory_order_relaxed) != abi::RingState::Live || ring == arena.late)
      continue;
    if ((tid != 0 && ring->tid == tid) || hasGone(arena, ring->tid))
      entry.state.store(abi::RingState::Ended, std::memory_order_release);
  }
}

// Whether the new ring begins small: it is the first ring of a fork's child, and most children end soon. When it is
// full, a larger ring replaces it. The ring of a flight recorder is never full, so it does not begin small.
bool beginsSmall(const Arena &arena) noexcept {
  return arena.header->ancestor_pid != 0 && session.control->flags.on_full != abi::OnFull::Overwrite &&
         arena.header->ring_count.load(std::memory_order_relaxed) == 0;
}

// Claims a ring of the requested size. If that fails, claims the smallest ring, for which a nearly full file system may
// still have room. If that fails too, claims any drained ring.
ClaimedRing claimFirst(Arena &arena) noexcept {
  ClaimedRing claimed{};
  if (!collectorGone() && !beginsSmall(arena))
    claimed = claimRing(arena, abi::kHeaderBytes + slotBytes(session.control->flags.ring_kib));
  if (claimed.ring == nullptr)
    claimed = claimRing(arena, abi::kHeaderBytes + kSmallestSlotBytes);
  if (claimed.ring == nullptr)
    claimed = claimDrained(arena, 0, UINT64_MAX);
  return claimed;
}

void setGeneration(Thread &thread, uint64_t generation) noexcept {
  setState(thread, (thread.state & ~(kOneRecord - 1)) | generation);
}

// Chooses whether the thread's records take the hot path or the slow path. They need the slow path if the time comes
// from the operating system, or if the thread may not read the clock. They also need it if --watch must check each new
// block.
void chooseWay(Thread &thread) noexcept {
  const bool is_short = __msl_process.clock == abi::ClockKind::Tsc && !choosesBlocks() && !thread.has_no_clock;
  setGeneration(thread, is_short && thread.generation != 0 ? thread.generation : kNoGeneration);
}

// Makes the kernel set Process to zeros in a fork's child. Returns false for kernels before 4.14. Returns false for
// pages that are larger than the alignment of Process, since the kernel would then also clear other memory.
bool wipeOnFork() noexcept {
  return pageBytes() <= abi::kMaxPageBytes &&
         callKernel(SYS_madvise, &__msl_process, sizeof __msl_process, MADV_WIPEONFORK) == 0;
}

// Counts this process as unseen, once: it is a fork's child under its parent's seccomp filter and cannot create files.
void tellSandboxedChild() noexcept {
  if (!__msl_process.is_child_told)
    countUnseenChild(last_arena != nullptr ? last_arena->header->pid : 0);
  __msl_process.is_child_told = true;
}

} // namespace

// Returns the lock. Before the first use of the lock, sets MADV_WIPEONFORK. Otherwise a fork's child could inherit a
// lock that no thread releases. Under a seccomp filter, this process or its parent has already set it.
uint32_t &wipedLock() noexcept {
  if (__atomic_load_n(&__msl_process.state, __ATOMIC_RELAXED) == 0 && mayCallKernel() && !wipeOnFork())
    becomeInert();
  return __msl_process.lock;
}

Arena *ArenaHeld::arena() const noexcept { return locked_ ? attach() : nullptr; }

Arena *attach() noexcept {
  if (__msl_process.arena != nullptr)
    return __msl_process.arena;
  if (isInert())
    return nullptr;
  if (!mayCallKernel()) {
    tellSandboxedChild();
    return nullptr;
  }
  if (!findSession()) {
    becomeInert();
    return nullptr;
  }
  leaveParentsCounters();
  if (!mayTake(kOrphanArenaBytes))
    return nullptr; // the next event tries again, since another collector may take over
  Arena *arena = watchThreadExit() ? makeArena(last_arena) : nullptr;
  if (arena == nullptr) {
    countUnseen(errno);
    becomeInert();
    return nullptr;
  }
  __msl_process.arena = arena;
  __atomic_store_n(&__msl_process.large_blocks, arena->large_blocks, __ATOMIC_RELEASE);
  __msl_process.clock = session.control->clock;
  __msl_process.chooses_devices = chosenDevicesOf(*session.control).is_restricted;
  last_arena = arena;
  armWaiting(*arena);
  __atomic_store_n(&__msl_process.state, ++last_generation, __ATOMIC_RELEASE);
  return arena;
}

void ensureAttached(Thread &thread) noexcept {
  if (__atomic_load_n(&__msl_process.state, __ATOMIC_ACQUIRE) != 0 || isSandboxed() || waitsForCollector())
    return;
  const SignalsBlocked blocked;
  const Inside inside(thread);
  if (const ProcessLocked locked; locked)
    attach();
}

abi::RingHeader *openStream(Arena &arena) noexcept {
  const uint32_t tid = ownerOfNewRing(arena);
  endRingsOfThreadsThatHaveGone(arena, tid);
  const ClaimedRing claimed = claimFirst(arena);
  if (claimed.ring == nullptr)
    return nullptr;
  publish(claimed, {.stream = arena.header->thread_count.fetch_add(1, std::memory_order_relaxed),
                    .tid = tid,
                    .position = 0,
                    .produced = 0,
                    .dropped = 0,
                    .stalled_ns = 0});
  return claimed.ring;
}

abi::RingHeader *ringOf(Thread &thread) noexcept {
  if (thread.generation != 0 && thread.generation == __atomic_load_n(&__msl_process.state, __ATOMIC_ACQUIRE))
    return thread.ring;
  if (thread.no_ring_left > 0) {
    --thread.no_ring_left;
    return nullptr;
  }
  const SignalsBlocked blocked;
  const Inside inside(thread);
  const ProcessLocked locked;
  Arena *arena = locked && mayAnnounceThreadExit() ? attach() : nullptr;
  abi::RingHeader *ring = arena != nullptr ? openStream(*arena) : nullptr;
  if (ring == nullptr) {
    thread.no_ring_left = kEventsBetweenTries;
    return nullptr;
  }
  thread.ring = ring;
  thread.generation = static_cast<uint32_t>(__msl_process.state);
  chooseWay(thread);
  announceThreadExit();
  return ring;
}

abi::RingHeader *promote(Thread &thread) noexcept {
  abi::RingHeader &full = *thread.ring;
  const abi::Flags &flags = session.control->flags;
  const uint64_t have = full.capacity * abi::kSlotBytes, most = slotBytes(flags.ring_max_kib);
  if (have >= most || collectorGone())
    return nullptr;
  const SignalsBlocked blocked;
  const Inside inside(thread);
  const ProcessLocked locked;
  if (!locked)
    return nullptr;
  Arena &arena = *__msl_process.arena;
  const ClaimedRing larger = claimRing(arena, abi::kHeaderBytes + (have * kGrowth < most ? have * kGrowth : most));
  if (larger.ring == nullptr)
    return nullptr;
  publish(larger, {.stream = full.stream,
                   .tid = full.tid,
                   .position = peek(full.reserved),
                   .produced = peek(full.produced),
                   .dropped = peek(full.dropped),
                   .stalled_ns = peek(full.stalled_ns)});
  larger.ring->gap = full.gap;
  thread.ring = larger.ring;
  full.head.store(peek(full.reserved), std::memory_order_release);
  end(arena, full);
  return larger.ring;
}

void reserveRings(Arena &arena) noexcept {
  constexpr unsigned kSpareRings = 8;
  ClaimedRing spare[kSpareRings];
  for (ClaimedRing &ring : spare)
    ring = claimRing(arena, abi::kHeaderBytes + kGrowth * kSmallestSlotBytes);
  for (const ClaimedRing &ring : spare)
    if (ring.ring != nullptr)
      ring.entry->state.store(abi::RingState::Drained, std::memory_order_release);
}

void forbidClock(Thread &thread, bool is_forbidden) noexcept {
  thread.has_no_clock = is_forbidden;
  chooseWay(thread);
}

void endRing(Thread &thread) noexcept {
  const SignalsBlocked blocked;
  if (thread.generation == 0 || thread.generation != __msl_process.state)
    return;
  const ProcessLocked locked;
  if (!locked)
    return; // endRingsOfThreadsThatHaveGone() may end the ring later
  // If the thread ends in a signal handler, the interrupted record may have reserved slots that were never written.
  // These slots must not be published.
  if (depthOf(thread) == 0)
    thread.ring->head.store(peek(thread.ring->reserved), std::memory_order_release);
  end(*__msl_process.arena, *thread.ring);
  thread.ring = nullptr;
  thread.generation = 0;
  setGeneration(thread, kNoGeneration);
}

} // namespace msleaks::runtime
