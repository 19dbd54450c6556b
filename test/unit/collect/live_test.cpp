// Tests the collector while other threads record at the same time. These tests are meant for ThreadSanitizer.
#include "collected.h"

#include <atomic>
#include <thread>

namespace msleaks::test {
namespace {

using analysis::Urgency;

constexpr uint64_t kLiveEvents = 30'000;

class LiveTest : public CollectorFixture {};

TEST_F(LiveTest, TakesEveryEventOfAThreadThatWaitsForRoom) {
  arena.addRing(256, 0);
  start();
  drain();
  auto ring = arena.asCollectorSeesIt(0);
  std::thread producer([&ring] {
    for (uint64_t i = 0; i < kLiveEvents; ++i)
      recordPatiently(ring, i);
    ring.setState(abi::RingState::Ended);
  });
  while (ring.state() != abi::RingState::Drained)
    drain(Urgency::Batch, analysis::readMonotonicNs());
  producer.join();
  const auto trace = finish();
  EXPECT_EQ(trace.addresses(), numbers(0, kLiveEvents));
  EXPECT_EQ(trace.account(0)->produced, kLiveEvents);
  EXPECT_EQ(trace.account(0)->dropped, 0u);
}

TEST_F(LiveTest, CountsWhatAThreadDropsWhenItDoesNotWait) {
  arena.addRing(64, 0);
  start(abi::OnFull::Drop);
  drain();
  auto ring = arena.asCollectorSeesIt(0);
  std::atomic<bool> done{false};
  std::thread producer([&] {
    for (uint64_t i = 0; i < kLiveEvents; ++i)
      ring.recordAlloc(i, i);
    done = true;
  });
  while (!done) {
    drain();
    collector->totals();
  }
  producer.join();
  const auto trace = finish();
  EXPECT_EQ(trace.account(0)->produced, kLiveEvents);
  EXPECT_EQ(trace.events.size() + trace.account(0)->dropped, kLiveEvents);
  EXPECT_TRUE(collector->notes().empty());
}

TEST_F(LiveTest, FollowsRingsThatChangeHands) {
  arena.addRing(64, 0).setState(abi::RingState::Ended);
  start();
  constexpr uint32_t kThreads = 40, kEach = 500;
  std::atomic<bool> done{false};
  std::thread producer([&] {
    for (uint32_t thread = 1; thread <= kThreads; ++thread) {
      while (arena.entry(0).state.load(std::memory_order_acquire) != abi::RingState::Drained)
        std::this_thread::yield();
      auto ring = arena.claim(0, 64, thread);
      for (uint64_t i = 0; i < kEach; ++i)
        recordPatiently(ring, i);
      ring.setState(abi::RingState::Ended);
    }
    done = true;
  });
  while (!done)
    drain();
  producer.join();
  EXPECT_EQ(collector->totals().produced, kThreads * kEach);
  const auto trace = finish();
  EXPECT_EQ(collector->totals().produced, kThreads * kEach);
  EXPECT_EQ(trace.events.size(), kThreads * kEach);
  for (uint32_t thread = 1; thread <= kThreads; ++thread)
    EXPECT_EQ(trace.account(thread)->produced, kEach);
}

class CompleteTest : public CollectorFixture {
protected:
  uint64_t completeAt(uint64_t now, Urgency urgency = Urgency::Everything) {
    drain(urgency, now);
    return collector->completeUntil();
  }
};

TEST_F(CompleteTest, UpToTheRoundThatStoredEverything) {
  auto ring = arena.addRing(256, 0);
  arena.addRing(256, 1);
  start();
  ring.recordAlloc(1, 500);
  EXPECT_EQ(completeAt(kNow), kNow);
  EXPECT_EQ(completeAt(kNow + 10), kNow + 10);
}

TEST_F(CompleteTest, NotBeyondWhatWaitsForABatch) {
  auto ring = arena.addRing(256, 0);
  start();
  EXPECT_EQ(completeAt(kNow, Urgency::Batch), kNow);
  ring.recordAlloc(1, kNow + 1);
  EXPECT_EQ(completeAt(kNow + 10, Urgency::Batch), kNow);
  EXPECT_EQ(completeAt(kNow + 20, Urgency::Batch), kNow);
  EXPECT_EQ(completeAt(kNow + 30), kNow + 30);
}

TEST_F(CompleteTest, NotBeyondARecordThatIsUnderWay) {
  auto ring = arena.addRing(256, 0);
  start();
  EXPECT_EQ(completeAt(kNow), kNow);
  ring.writeUnpublished(abi::AllocEvent{});
  EXPECT_EQ(completeAt(kNow + 10), kNow);
}

TEST_F(CompleteTest, NotBeyondTheLastLookWhenANewRingIsFound) {
  start();
  EXPECT_EQ(completeAt(kNow), kNow);
  auto ring = arena.addRing(256, 0);
  ring.recordAlloc(1, kNow + 5);
  EXPECT_EQ(completeAt(kNow + 10, Urgency::Batch), kNow);
}

} // namespace
} // namespace msleaks::test
