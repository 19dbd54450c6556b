// Tests the rings of threads: each thread gets a ring, the ring ends with the thread, and another thread claims it.
// Also tests events that a thread records after the end of its ring.
#include "../sanitizers.h"
#include "session_fixture.h"

#include "msleaks/runtime/record.h"

#include <pthread.h>
#include <set>
#include <sys/prctl.h>

namespace msleaks::test {
namespace {

void recordOneBlock(uint64_t address) { runtime::recordAlloc(abi::Heap::Host, 0, 1, address, 0); }

TEST(Threads, EachHasItsOwnStream) {
  const SessionDirectory session;
  constexpr uint64_t kThreads = 8, kCount = 3000;
  ASSERT_EQ(session.runChild([] {
    std::vector<std::thread> threads;
    for (uint64_t t = 0; t < kThreads; ++t)
      threads.emplace_back([t] {
        prctl(PR_SET_NAME, "numbered");
        for (uint64_t i = 0; i < kCount; ++i)
          recordOneBlock(t << 32 | i);
      });
    for (std::thread &thread : threads)
      thread.join();
  }),
            0);
  const auto arenas = session.arenas();
  EXPECT_STREQ(arenas[0]->ring(0).thread_name, "numbered");
  EXPECT_EQ(arenas[0]->entry(0).state.load(), abi::RingState::Ended);
  std::map<uint32_t, std::vector<uint64_t>> streams;
  for (const ReadEvent &read : session.drain())
    streams[read.stream].push_back(read.event.as<abi::AllocEvent>().address);
  ASSERT_EQ(streams.size(), kThreads);
  std::set<uint64_t> seen;
  for (const auto &[stream, addresses] : streams) {
    ASSERT_EQ(addresses.size(), kCount);
    seen.insert(addresses[0] >> 32);
    for (uint64_t i = 0; i < kCount; ++i)
      ASSERT_EQ(addresses[i], (addresses[0] >> 32) << 32 | i);
  }
  EXPECT_EQ(seen.size(), kThreads);
}

// Drained rings are claimed again, so thousands of threads do not need thousands of rings.
TEST(Threads, TwoThousandShortOnes) {
  const SessionDirectory session({.ring_kib = 16, .ring_max_kib = 16});
  constexpr uint64_t kThreads = 2000;
  int status = -1;
  const auto events = session.collectFrom(session.startChild([] {
    for (uint64_t t = 0; t < kThreads;) {
      std::vector<std::thread> threads;
      for (int i = 0; i < 20; ++i, ++t)
        threads.emplace_back([t] { recordOneBlock(t); });
      for (std::thread &thread : threads)
        thread.join();
      usleep(500);
    }
  }),
                                          &status);
  ASSERT_EQ(status, 0);
  std::set<uint64_t> addresses;
  std::set<uint32_t> streams;
  for (const ReadEvent &read : events) {
    addresses.insert(read.event.as<abi::AllocEvent>().address);
    streams.insert(read.stream);
  }
  EXPECT_EQ(addresses.size(), kThreads);
  EXPECT_EQ(streams.size(), kThreads);
  EXPECT_EQ(events.size(), kThreads);
  EXPECT_LT(session.arenas()[0]->ringCount(), kThreads / 2);
}

// All threads run at the same time and no ring is drained. Each thread still gets a ring.
TEST(Threads, ManyAtOnce) {
  const SessionDirectory session({.ring_kib = 16, .ring_max_kib = 16});
  constexpr uint64_t kThreads = 500;
  ASSERT_EQ(session.runChild([] {
    std::atomic<uint64_t> recorded{0};
    std::vector<std::thread> threads;
    for (uint64_t t = 0; t < kThreads; ++t)
      threads.emplace_back([t, &recorded] {
        recordOneBlock(t);
        ++recorded;
        while (recorded < kThreads)
          usleep(1000);
      });
    for (std::thread &thread : threads)
      thread.join();
  }),
            0);
  EXPECT_EQ(session.arenas()[0]->ringCount(), kThreads);
  EXPECT_EQ(session.drain().size(), kThreads);
}

// Threads record for the first time in a destructor of a pthread key, after some rounds of destructors. So the
// runtime's destructor does not run in the last round, in which it would end the ring. Later threads notice that these
// threads have ended, and end their rings.
TEST(Threads, WhoRecordsFirstInADestructorGivesItsRingBackToo) {
  if (kThreadSanitizer)
    GTEST_SKIP() << "skipped: TSan's own state of a thread is gone by its last destructors";
  const SessionDirectory session({.ring_kib = 16, .ring_max_kib = 16});
  constexpr uint32_t kThreads = 100;
  ASSERT_EQ(session.runChild([] {
    static pthread_key_t key;
    recordOneBlock(1); // creates the runtime's key, whose destructor then runs before that of `key`
    pthread_key_create(&key, [](void *) { recordOneBlock(1); });
    for (uint32_t t = 0; t < kThreads; ++t)
      std::thread([] { pthread_setspecific(key, &key); }).join();
  }),
            0);
  const auto arenas = session.arenas();
  uint32_t ended = 0;
  for (uint32_t i = 0; i < arenas[0]->ringCount(); ++i)
    ended += arenas[0]->entry(i).state == abi::RingState::Ended;
  EXPECT_GT(ended, kThreads / 2);
  EXPECT_EQ(session.drain().size(), kThreads + 1);
}

struct RecordsAtTheEnd {
  ~RecordsAtTheEnd() { recordOneBlock(100); }
};

pthread_key_t early_key, every_round_key;

void recordInFirstRound(void *) { recordOneBlock(200); }

// Records one block in each round of destructors. This function requests another round each time, so it also runs in
// the last round.
void recordInEveryRound(void *argument) {
  const auto round = reinterpret_cast<uintptr_t>(argument);
  recordOneBlock(300 + round);
  pthread_setspecific(every_round_key, reinterpret_cast<void *>(round + 1));
}

// When a thread ends, its thread_local objects are destroyed first. Then the destructors of its keys run in rounds.
// Events after the runtime's destructor in the last round are recorded in the late ring.
TEST(Threads, DestructorsOfTheThreadAreRecorded) {
  if (kThreadSanitizer)
    GTEST_SKIP() << "skipped: ThreadSanitizer takes the last round of destructors for itself";
  const SessionDirectory session;
  ASSERT_EQ(session.runChild([] {
    pthread_key_create(&early_key, recordInFirstRound);
    std::thread([] {
      recordOneBlock(1);
      pthread_key_create(&every_round_key, recordInEveryRound); // its destructor runs after the runtime's in each round
      thread_local RecordsAtTheEnd at_end;
      (void)&at_end;
      pthread_setspecific(early_key, &early_key);
      pthread_setspecific(every_round_key, reinterpret_cast<void *>(1));
    }).join();
  }),
            0);
  std::map<uint64_t, uint32_t> stream_of;
  for (const ReadEvent &read : session.drain())
    stream_of[read.event.as<abi::AllocEvent>().address] = read.stream;
  const std::map<uint64_t, uint32_t> expected{{1, 0}, {100, 0}, {200, 0}, {301, 0}, {302, 0}, {303, 0}, {304, 1}};
  EXPECT_EQ(stream_of, expected);
  const Account account = sum(session.arenas());
  EXPECT_EQ(account.produced, 7u);
  EXPECT_EQ(account.dropped, 0u);
}

// A signal handler may call pthread_exit while the interrupted record has reserved a slot, but has not written it. The
// reserved slot must not be published.
TEST(Threads, AThreadThatEndsInsideARecordPublishesNoneOfIt) {
  const SessionDirectory session;
  ASSERT_EQ(session.runChild([] {
    std::thread([] {
      recordOneBlock(1);
      runtime::setState(__msl_thread, __msl_thread.state + runtime::kOneRecord);
      runtime::fetchAddLocal(__msl_thread.ring->reserved, 1);
      runtime::addLocal(__msl_thread.ring->produced, 1);
    }).join();
  }),
            0);
  const auto arenas = session.arenas();
  EXPECT_EQ(arenas[0]->entry(0).state.load(), abi::RingState::Ended);
  EXPECT_EQ(arenas[0]->ring(0).head.load(), 1u);
  EXPECT_EQ(session.drain().size(), 1u);
  EXPECT_EQ(sum(arenas).produced, 2u);
}

// Writers and a reader use one mapping in one process. So ThreadSanitizer checks both sides of `head` and `tail`.
TEST(Threads, AReaderMayReadMeanwhile) {
  const SessionDirectory session({.ring_kib = 16, .ring_max_kib = 16});
  constexpr uint64_t kThreads = 3, kCount = 50'000;
  const int status = session.runChild([&session] {
    std::atomic<abi::RingHeader *> rings[kThreads] = {};
    std::atomic<uint64_t> running{kThreads};
    std::vector<std::thread> threads;
    for (uint64_t t = 0; t < kThreads; ++t)
      threads.emplace_back([t, &running, &rings] {
        recordOneBlock(t << 32);
        rings[t].store(__msl_thread.ring);
        for (uint64_t i = 1; i < kCount; ++i)
          recordOneBlock(t << 32 | i);
        --running;
      });
    std::vector<ReadEvent> events;
    for (bool last = false; !last;) {
      last = running == 0;
      session.beat();
      for (uint32_t t = 0; t < kThreads; ++t)
        if (abi::RingHeader *ring = rings[t].load())
          ArenaFile::drainRing(*ring, t, events);
    }
    for (std::thread &thread : threads)
      thread.join();
    std::map<uint64_t, uint64_t> next;
    for (const ReadEvent &read : events) {
      const uint64_t address = read.event.as<abi::AllocEvent>().address;
      if ((address & 0xffffffff) != next[address >> 32]++)
        _exit(2);
    }
    _exit(events.size() == kThreads * kCount ? 0 : 3);
  });
  EXPECT_EQ(status, 0);
}

} // namespace
} // namespace msleaks::test
