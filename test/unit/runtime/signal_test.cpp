// Tests signal handlers that record while they interrupt another record. No event may be lost or torn.
#include "session_fixture.h"

#include "msleaks/runtime/record.h"

#include <csignal>
#include <set>
#include <sys/time.h>

namespace msleaks::test {
namespace {

constexpr uint64_t kFromSignal = uint64_t{1} << 40;
constexpr uint64_t kFromNested = uint64_t{1} << 41;

volatile uint64_t in_signals = 0;
volatile uint64_t in_nested = 0;

// Records an event of two slots in a handler, so its slots may lie between those of the interrupted code.
//
// ThreadSanitizer delivers signals itself, and may interrupt this handler by itself between reading the number and
// recording. The inner handler then records nothing.
void onTimer(int) {
  static volatile bool inside = false;
  if (inside)
    return;
  inside = true;
  const uint64_t i = in_signals;
  in_signals = i + 1;
  const abi::CopyEvent copy{
      {abi::EventKind::Copy, abi::Heap::Device, 0, 0, 1, 0}, kFromSignal + i, i, abi::kContinuationTag, i, i, i};
  runtime::record(__msl_thread, copy);
  if (i % 4 == 0)
    raise(SIGUSR1);
  inside = false;
}

void onUser(int) {
  const uint64_t i = in_nested;
  in_nested = i + 1;
  runtime::recordAlloc(abi::Heap::Host, 0, 1, kFromNested + i, 0);
}

void startStorm() {
  struct sigaction action{};
  action.sa_handler = onTimer;
  sigaction(SIGALRM, &action, nullptr);
  action.sa_handler = onUser;
  sigaction(SIGUSR1, &action, nullptr);
  const itimerval every{{0, 30}, {0, 30}};
  setitimer(ITIMER_REAL, &every, nullptr);
}

void stopStorm() {
  const itimerval none{};
  setitimer(ITIMER_REAL, &none, nullptr);
}

struct Counts {
  uint64_t main = 0, signal = 0, nested = 0, torn = 0;
};

// Counts the events of each source. The numbers of a source must ascend without a gap. Events with another number count
// as torn.
Counts countAll(const std::vector<ReadEvent> &events) {
  Counts counts;
  for (const ReadEvent &read : events) {
    if (read.event.header().kind == abi::EventKind::Copy) {
      const auto copy = read.event.as<abi::CopyEvent>();
      counts.torn += copy.destination != kFromSignal + counts.signal || copy.direction != counts.signal ||
                     copy.continuation != abi::kContinuationTag;
      ++counts.signal;
    } else if (read.event.header().kind == abi::EventKind::Alloc) {
      const auto alloc = read.event.as<abi::AllocEvent>();
      const bool nested = (alloc.address & kFromNested) != 0;
      uint64_t &count = nested ? counts.nested : counts.main;
      counts.torn += alloc.address != (nested ? kFromNested : 0) + count;
      ++count;
    } else {
      ++counts.torn;
    }
  }
  return counts;
}

struct Shared {
  uint64_t main, signal, nested;
};

// Records bursts of events while many signals arrive. After each burst, waits until the collector has read nearly all
// of its events.
void runStorm(const abi::Flags &flags, uint64_t burst, Counts &counts, Shared &made, Account &account) {
  const SessionDirectory session(flags);
  auto *shared = static_cast<Shared *>(mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  int status = -1;
  const auto events = session.collectFrom(session.startChild([&] {
    startStorm();
    const uint64_t end_ns = nowNs() + 1'000'000'000;
    uint64_t i = 0;
    while (nowNs() < end_ns) {
      for (const uint64_t stop = i + burst; i < stop; ++i)
        runtime::recordAlloc(abi::Heap::Host, 0, 1, i, 0);
      while (__msl_thread.ring->tail.load() + 1000 < i)
        usleep(100);
    }
    stopStorm();
    *shared = {i, in_signals, in_nested};
  }),
                                          &status);
  ASSERT_EQ(status, 0);
  counts = countAll(events);
  made = *shared;
  account = sum(session.arenas());
  munmap(shared, 4096);
}

TEST(Signals, AStormLosesNothing) {
  Counts counts;
  Shared made{};
  Account account;
  // A burst fits into the ring, so no thread waits.
  runStorm({.on_full = abi::OnFull::Block, .ring_kib = 32768, .ring_max_kib = 32768}, 700'000, counts, made, account);
  EXPECT_GT(made.signal, kThreadSanitizer ? 100u : 1000u) << "no storm, no test";
  EXPECT_EQ(counts.torn, 0u);
  EXPECT_EQ(counts.main, made.main);
  EXPECT_EQ(counts.signal, made.signal);
  EXPECT_EQ(counts.nested, made.nested);
  EXPECT_EQ(account.dropped, 0u);
  EXPECT_EQ(account.produced, made.main + made.signal + made.nested);
}

// Signals also arrive while a thread gets a larger ring or waits for room. A handler that interrupts a record in a full
// ring cannot wait, so its event is dropped and counted.
TEST(Signals, AStormOnAFullRingCountsWhatItLoses) {
  Counts counts;
  Shared made{};
  Account account;
  runStorm({.on_full = abi::OnFull::Block, .ring_kib = 16, .ring_max_kib = 64}, 100'000, counts, made, account);
  EXPECT_EQ(account.produced, made.main + made.signal + made.nested);
  EXPECT_EQ(counts.main + counts.signal + counts.nested + account.dropped, account.produced);
  EXPECT_EQ(counts.main, made.main) << "the interrupted flow waits and loses nothing";
}

#if defined(__x86_64__)

// Makes the processor trap after every instruction. So a signal handler runs at all points at which a signal can
// arrive. A timer would reach only a few of these points.
void startTraps() {
  __asm__ volatile("lea -128(%%rsp), %%rsp\n pushfq\n orq $0x100, (%%rsp)\n popfq\n lea 128(%%rsp), %%rsp"
                   :
                   :
                   : "memory", "cc");
}
void stopTraps() {
  __asm__ volatile("lea -128(%%rsp), %%rsp\n pushfq\n andq $~0x100, (%%rsp)\n popfq\n lea 128(%%rsp), %%rsp"
                   :
                   :
                   : "memory", "cc");
}

volatile uint64_t traps = 0, wanted_trap = 0;
constexpr uint64_t kEveryTrap = UINT64_MAX;
constexpr uint64_t kLongestStorm = 150; // without a limit, the interrupted record would never end

// True if a handler has seen a slot below `head` that is not written yet. The ring has not wrapped, so such a slot is
// zero.
volatile bool published_unwritten = false;

void lookAtPublished() {
  const abi::RingHeader &ring = *__msl_thread.ring;
  const auto *slots = reinterpret_cast<const abi::Slot *>(reinterpret_cast<const char *>(&ring) + abi::kHeaderBytes);
  const uint64_t head = ring.head.load();
  for (uint64_t back = 1; back <= 4 && back <= head; ++back)
    if (slots[head - back].header.kind == abi::EventKind::None)
      published_unwritten = true;
}

void onTrap(int) {
  traps = traps + 1;
  lookAtPublished();
  if (wanted_trap == kEveryTrap ? traps > kLongestStorm : traps != wanted_trap)
    return;
  const uint64_t i = in_signals;
  in_signals = i + 1;
  const abi::CopyEvent copy{
      {abi::EventKind::Copy, abi::Heap::Device, 0, 0, 1, 0}, kFromSignal + i, i, abi::kContinuationTag, i, i, i};
  runtime::record(__msl_thread, copy);
  lookAtPublished();
}

// Records events under traps, and exits with one of these statuses:
//
//   1: an event was still unpublished when the interrupted record had ended
//   2: an event was published too early
void recordUnderTraps(uint64_t first_trap, uint64_t count, uint64_t *made) {
  struct sigaction action{};
  action.sa_handler = onTrap;
  sigaction(SIGTRAP, &action, nullptr);
  runtime::recordAlloc(abi::Heap::Host, 0, 1, 0, 0);
  uint64_t i = 1;
  for (; i <= count; ++i) {
    traps = 0;
    wanted_trap = first_trap == kEveryTrap ? kEveryTrap : first_trap + i;
    startTraps();
    runtime::recordAlloc(abi::Heap::Host, 0, 1, i, 0);
    stopTraps();
    const abi::RingHeader &ring = *__msl_thread.ring;
    if (ring.head.load() != ring.reserved || __msl_thread.state >= runtime::kOneRecord)
      _exit(1);
  }
  if (published_unwritten)
    _exit(2);
  made[0] = i;
  made[1] = in_signals;
  made[2] = traps;
}

void expectAllUnderTraps(uint64_t first_trap, uint64_t count) {
  if (kThreadSanitizer)
    GTEST_SKIP() << "skipped: ThreadSanitizer delivers signals itself, and would trap on its own way there";
  const SessionDirectory session({.ring_kib = 1024, .ring_max_kib = 1024});
  auto *made = static_cast<uint64_t *>(mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  ASSERT_EQ(session.runChild([&] { recordUnderTraps(first_trap, count, made); }), 0);
  EXPECT_GT(made[2], 30u) << "a record has more instructions than that";
  const Counts counts = countAll(session.drain());
  EXPECT_EQ(counts.torn, 0u);
  EXPECT_EQ(counts.main, made[0]);
  EXPECT_EQ(counts.signal, made[1]);
  EXPECT_EQ(sum(session.arenas()).produced, made[0] + made[1]);
  munmap(made, 4096);
}

TEST(Signals, AHandlerAtEachInstruction) { expectAllUnderTraps(0, 400); }
TEST(Signals, AHandlerAtEveryInstruction) { expectAllUnderTraps(kEveryTrap, 20); }

#endif

void recordDeeperThanAllowed() {
  runtime::setState(__msl_thread, __msl_thread.state + runtime::kMaxNesting * runtime::kOneRecord);
  runtime::recordAlloc(abi::Heap::Host, 0, 1, 4711, 0);
  runtime::setState(__msl_thread, __msl_thread.state - runtime::kMaxNesting * runtime::kOneRecord);
}

TEST(Signals, DeeperThanSixteenIsDroppedAndCounted) {
  for (const abi::OnFull policy : {abi::OnFull::Block, abi::OnFull::Overwrite}) {
    const SessionDirectory session({.on_full = policy, .ring_kib = 16, .ring_max_kib = 16});
    ASSERT_EQ(session.runChild([] {
      runtime::recordAlloc(abi::Heap::Host, 0, 1, 0, 0);
      recordDeeperThanAllowed();
      runtime::recordAlloc(abi::Heap::Host, 0, 1, 1, 0);
    }),
              0);
    const auto events = session.drain();
    ASSERT_EQ(events.size(), 2u);
    EXPECT_EQ(events[1].event.header().flags, policy == abi::OnFull::Block ? abi::kAfterGap : 0);
    const Account account = sum(session.arenas());
    EXPECT_EQ(account.produced, 3u);
    EXPECT_EQ(account.dropped, 1u);
  }
}

TEST(Signals, AFlightRecorderStaysOneAfterADrop) {
  const SessionDirectory session({.on_full = abi::OnFull::Overwrite, .ring_kib = 16, .ring_max_kib = 16});
  constexpr uint64_t kCount = 10'000;
  ASSERT_EQ(session.runChild([] {
    runtime::recordAlloc(abi::Heap::Host, 0, 1, 0, 0);
    recordDeeperThanAllowed();
    for (uint64_t i = 1; i < kCount; ++i)
      runtime::recordAlloc(abi::Heap::Host, 0, 1, i, 0);
  }),
            0);
  EXPECT_EQ(session.arenas()[0]->ring(0).head.load(), kCount);
  EXPECT_EQ(sum(session.arenas()).dropped, 1u);
}

// If a handler makes the first record of a thread, this record claims the ring.
TEST(Signals, TheFirstRecordMayComeFromAHandler) {
  const SessionDirectory session;
  ASSERT_EQ(session.runChild([] {
    signal(SIGUSR1, onUser);
    raise(SIGUSR1);
    runtime::recordAlloc(abi::Heap::Host, 0, 1, 0, 0);
  }),
            0);
  EXPECT_EQ(session.drain().size(), 2u);
}

} // namespace
} // namespace msleaks::test
