// Tests what happens when a ring is full. If possible, the thread gets a larger ring. Otherwise the session's policy
// applies, and each lost event is counted.
#include "session_fixture.h"

#include "msleaks/runtime/record.h"

namespace msleaks::test {
namespace {

constexpr uint32_t kSmallest = 16;
constexpr uint64_t kSmallestSlots = (kSmallest << 10) / abi::kSlotBytes;
constexpr uint64_t kUsable = kSmallestSlots * 3 / 4; // a lower bound; the other slots are for signal handlers

void recordNumbered(uint64_t count) {
  for (uint64_t i = 0; i < count; ++i)
    runtime::recordAlloc(abi::Heap::Host, 0, 1, i + 1, 0);
}

uint64_t addressOf(const ReadEvent &read) { return read.event.as<abi::AllocEvent>().address; }

TEST(Policy, DropCountsWhatItLoses) {
  const SessionDirectory session({.on_full = abi::OnFull::Drop, .ring_kib = kSmallest, .ring_max_kib = kSmallest});
  constexpr uint64_t kCount = 3 * kSmallestSlots;
  ASSERT_EQ(session.runChild([] { recordNumbered(kCount); }), 0);
  const auto events = session.drain();
  const Account account = sum(session.arenas());
  EXPECT_EQ(account.produced, kCount);
  EXPECT_EQ(account.produced, events.size() + account.dropped);
  EXPECT_GE(account.dropped, kCount - kSmallestSlots);
  EXPECT_GT(events.size(), kUsable);
  for (uint64_t i = 0; i < events.size(); ++i)
    ASSERT_EQ(addressOf(events[i]), i + 1) << "the oldest events are kept";
  EXPECT_EQ(account.stalled_ns, 0u);
}

TEST(Policy, TheEventBehindAGapSaysSo) {
  const SessionDirectory session({.on_full = abi::OnFull::Drop, .ring_kib = kSmallest, .ring_max_kib = kSmallest});
  int ready[2], go[2];
  ASSERT_EQ(pipe(ready) | pipe(go), 0);
  const pid_t pid = session.startChild([&] {
    char byte = 0;
    recordNumbered(2 * kSmallestSlots);
    (void)!write(ready[1], &byte, 1);
    (void)!read(go[0], &byte, 1);
    recordNumbered(3);
  });
  char byte = 0;
  ASSERT_EQ(read(ready[0], &byte, 1), 1);
  for (const auto &read : session.drain())
    ASSERT_EQ(read.event.header().flags, 0);
  ASSERT_EQ(write(go[1], &byte, 1), 1);
  ASSERT_EQ(SessionDirectory::waitFor(pid), 0);
  const auto events = session.drain();
  ASSERT_EQ(events.size(), 3u);
  EXPECT_EQ(events[0].event.header().flags, abi::kAfterGap);
  EXPECT_EQ(events[1].event.header().flags, 0);
}

TEST(Policy, BlockWaitsForTheCollectorAndLosesNothing) {
  const SessionDirectory session({.on_full = abi::OnFull::Block, .ring_kib = kSmallest, .ring_max_kib = kSmallest});
  constexpr uint64_t kCount = 200'000;
  int status = -1;
  const auto events = session.collectFrom(session.startChild([] { recordNumbered(kCount); }), &status);
  ASSERT_EQ(status, 0);
  ASSERT_EQ(events.size(), kCount);
  for (uint64_t i = 0; i < kCount; ++i)
    ASSERT_EQ(addressOf(events[i]), i + 1);
  const Account account = sum(session.arenas());
  EXPECT_EQ(account.produced, kCount);
  EXPECT_EQ(account.dropped, 0u);
  EXPECT_GT(account.stalled_ns, 0u);
}

TEST(Policy, ADeadCollectorTurnsBlockIntoCountedDrops) {
  const SessionDirectory session(
      {.on_full = abi::OnFull::Block, .ring_kib = kSmallest, .ring_max_kib = kSmallest, .block_timeout_ms = 300});
  const uint64_t begin_ns = nowNs();
  constexpr uint64_t kCount = 100'000;
  ASSERT_EQ(session.runChild([] { recordNumbered(kCount); }), 0);
  const uint64_t took_ns = nowNs() - begin_ns;
  EXPECT_GE(took_ns, 200'000'000u) << "the first full ring waits for a sign of life";
  EXPECT_LT(took_ns, 2'000'000'000u) << "later events do not wait again";
  const Account account = sum(session.arenas());
  EXPECT_GE(account.stalled_ns, 200'000'000u) << "a wait without a result is a wait";
  EXPECT_EQ(account.produced, kCount);
  EXPECT_EQ(account.produced, session.drain().size() + account.dropped);
}

TEST(Policy, AKilledCollectorIsNoticedAtOnce) {
  const SessionDirectory session(
      {.on_full = abi::OnFull::Block, .ring_kib = kSmallest, .ring_max_kib = kSmallest, .block_timeout_ms = 20'000});
  session.findCollector();
  const uint64_t begin_ns = nowNs();
  constexpr uint64_t kCount = 100'000;
  const pid_t pid = session.startChild([] { recordNumbered(kCount); });
  usleep(50'000); // the child's ring is full by then
  session.beat();
  session.loseCollector();
  ASSERT_EQ(SessionDirectory::waitFor(pid), 0);
  EXPECT_LT(nowNs() - begin_ns, 5'000'000'000u);
  const Account account = sum(session.arenas());
  EXPECT_EQ(account.produced, kCount);
  EXPECT_EQ(account.produced, session.drain().size() + account.dropped);
}

uint64_t sessionBytes(const SessionDirectory &session) {
  uint64_t bytes = 0;
  for (const auto &arena : session.arenas())
    bytes += arena->header().file_bytes;
  return bytes;
}

TEST(Policy, WithoutACollectorThreadsTakeLittleMemory) {
  const SessionDirectory session; // with rings of the default size, 256 KiB
  constexpr uint64_t kThreads = 1500;
  const pid_t pid = session.startChild([&] {
    recordNumbered(1);
    session.loseCollector();
    for (uint64_t i = 0; i < kThreads; ++i)
      std::thread([] { recordNumbered(3); }).join();
  });
  ASSERT_EQ(SessionDirectory::waitFor(pid), 0);
  EXPECT_LT(session.arenas()[0]->ringCount(), 1000u);
  EXPECT_GT(session.arenas()[0]->ringCount(), 100u) << "the first of them still have an account of their own";
  EXPECT_LT(sessionBytes(session), (uint64_t{abi::kMaxOrphanKib} << 10) + (2u << 20));
  const Account account = sum(session.arenas());
  EXPECT_EQ(account.produced, 1 + 3 * kThreads);
  EXPECT_EQ(account.produced, session.drain().size() + account.dropped);
}

TEST(Policy, AProcessThatFindsNeitherCollectorNorRoomWaitsAndCounts) {
  const SessionDirectory session({.ring_kib = kSmallest, .ring_max_kib = kSmallest});
  session.loseCollectorAndRoom();
  int ready[2], go[2];
  ASSERT_EQ(pipe(ready) | pipe(go), 0);
  constexpr uint64_t kLost = 10, kUntilNextTry = 1024, kAfter = 5000;
  const pid_t pid = session.startChild([&] {
    char byte = 0;
    recordNumbered(kLost);
    (void)!write(ready[1], &byte, 1);
    (void)!read(go[0], &byte, 1);
    recordNumbered(kAfter);
  });
  char byte = 0;
  ASSERT_EQ(read(ready[0], &byte, 1), 1);
  EXPECT_TRUE(session.arenas().empty());
  EXPECT_EQ(session.unseen().dropped.load(), kLost);
  session.findCollector();
  session.beat();
  ASSERT_EQ(write(go[1], &byte, 1), 1);
  int status = -1;
  const auto events = session.collectFrom(pid, &status);
  ASSERT_EQ(status, 0);
  EXPECT_EQ(events.size() + session.unseen().dropped.load() + sum(session.arenas()).dropped, kLost + kAfter);
  EXPECT_GE(events.size(), kAfter - kUntilNextTry);
}

TEST(Policy, ACollectorThatComesBackIsWaitedForAgain) {
  const SessionDirectory session(
      {.on_full = abi::OnFull::Block, .ring_kib = kSmallest, .ring_max_kib = kSmallest, .block_timeout_ms = 50});
  int ready[2], go[2];
  ASSERT_EQ(pipe(ready) | pipe(go), 0);
  const pid_t pid = session.startChild([&] {
    char byte = 0;
    recordNumbered(2 * kSmallestSlots);
    (void)!write(ready[1], &byte, 1);
    (void)!read(go[0], &byte, 1);
    recordNumbered(100'000);
  });
  char byte = 0;
  ASSERT_EQ(read(ready[0], &byte, 1), 1);
  const uint64_t dropped = sum(session.arenas()).dropped;
  EXPECT_GT(dropped, 0u);
  session.drain();
  session.beat();
  ASSERT_EQ(write(go[1], &byte, 1), 1);
  int status = -1;
  EXPECT_EQ(session.collectFrom(pid, &status).size(), 100'000u);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(sum(session.arenas()).dropped, dropped);
}

// The collector writes heartbeats, but reads no event from this ring. The thread must wait only once.
TEST(Policy, ACollectorThatLeavesARingAloneIsWaitedForOnce) {
  const SessionDirectory session(
      {.on_full = abi::OnFull::Block, .ring_kib = kSmallest, .ring_max_kib = kSmallest, .block_timeout_ms = 100});
  std::atomic<bool> stop{false};
  std::thread beating([&] {
    for (; !stop; usleep(1000))
      session.beat();
  });
  int ready[2], go[2];
  ASSERT_EQ(pipe(ready) | pipe(go), 0);
  const uint64_t begin_ns = nowNs();
  const pid_t pid = session.startChild([&] {
    char byte = 0;
    recordNumbered(kSmallestSlots + 20);
    (void)!write(ready[1], &byte, 1);
    (void)!read(go[0], &byte, 1);
    recordNumbered(5 * kSmallestSlots);
  });
  char byte = 0;
  ASSERT_EQ(read(ready[0], &byte, 1), 1);
  const uint64_t took_ns = nowNs() - begin_ns;
  EXPECT_GE(took_ns, 1'000'000'000u);
  EXPECT_LT(took_ns, 3'000'000'000u) << "each event waits again";
  const uint64_t dropped = sum(session.arenas()).dropped;
  EXPECT_GE(dropped, 20u);
  session.drain();
  ASSERT_EQ(write(go[1], &byte, 1), 1);
  int status = -1;
  EXPECT_EQ(session.collectFrom(pid, &status).size(), 5 * kSmallestSlots);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(sum(session.arenas()).dropped, dropped) << "once it takes something it is waited for again";
  stop = true;
  beating.join();
}

TEST(Policy, AFullRingIsFollowedByALargerOne) {
  const SessionDirectory session({.on_full = abi::OnFull::Drop, .ring_kib = kSmallest, .ring_max_kib = 256});
  constexpr uint64_t kCount = 20'000;
  ASSERT_EQ(session.runChild([] { recordNumbered(kCount); }), 0);
  const auto arenas = session.arenas();
  ASSERT_EQ(arenas.size(), 1u);
  const ArenaFile &arena = *arenas[0];
  ASSERT_EQ(arena.ringCount(), 3u); // rings of 16, 64 and 256 KiB
  uint64_t position = 0;
  for (uint32_t i = 0; i < 3; ++i) {
    EXPECT_EQ(arena.ring(i).stream, 0u);
    EXPECT_EQ(arena.ring(i).first_position, position);
    EXPECT_EQ(arena.ring(i).capacity, kSmallestSlots << (2 * i));
    EXPECT_EQ(arena.entry(i).state.load(), i < 2 ? abi::RingState::Ended : abi::RingState::Live);
    position = arena.ring(i).head;
  }
  const auto events = session.drain();
  for (uint64_t i = 0; i < events.size(); ++i) {
    ASSERT_EQ(addressOf(events[i]), i + 1);
    ASSERT_EQ(events[i].position, i) << "positions go on through all rings of a stream";
  }
  const Account account = sum(arenas);
  EXPECT_EQ(account.produced, kCount) << "the last ring carries the account of the stream";
  EXPECT_EQ(account.produced, events.size() + account.dropped);
  EXPECT_GT(events.size(), kUsable * (1 + 4 + 16));
}

TEST(Policy, OverwriteKeepsTheNewest) {
  const SessionDirectory session({.on_full = abi::OnFull::Overwrite, .ring_kib = kSmallest, .ring_max_kib = 256});
  constexpr uint64_t kCount = 100'000;
  ASSERT_EQ(session.runChild([] { recordNumbered(kCount); }), 0);
  const auto arenas = session.arenas();
  const ArenaFile &arena = *arenas[0];
  ASSERT_EQ(arena.ringCount(), 1u) << "a flight recorder never grows";
  abi::RingHeader &ring = arena.ring(0);
  EXPECT_EQ(ring.head, kCount);
  EXPECT_EQ(ring.reserved, kCount);
  ring.tail = kCount - kSmallestSlots;
  std::vector<ReadEvent> events;
  arena.drain(0, events);
  ASSERT_EQ(events.size(), kSmallestSlots);
  EXPECT_EQ(addressOf(events.front()), kCount - kSmallestSlots + 1);
  EXPECT_EQ(addressOf(events.back()), kCount);
  EXPECT_EQ(ring.produced, kCount);
  EXPECT_EQ(ring.dropped, 0u);
}

TEST(Policy, ASessionThatIsClosedIsNotWaitedFor) {
  const SessionDirectory session(
      {.on_full = abi::OnFull::Block, .ring_kib = kSmallest, .ring_max_kib = kSmallest, .block_timeout_ms = 60'000});
  const pid_t pid = session.startChild([] { recordNumbered(100'000); });
  while (sum(session.arenas()).produced < kUsable)
    usleep(1'000);
  session.control().state = abi::SessionState::Closed;
  EXPECT_EQ(SessionDirectory::waitFor(pid), 0);
  const Account account = sum(session.arenas());
  EXPECT_EQ(account.produced, 100'000u);
  EXPECT_EQ(account.produced, session.drain().size() + account.dropped);
}

} // namespace
} // namespace msleaks::test
