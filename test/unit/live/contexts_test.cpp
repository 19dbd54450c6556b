// Tests which owner and which range a block gets from the program's annotations (calls such as push and pop).
#include "live_set_fixture.h"

namespace msleaks::analysis {

using test::alloc;
using test::make;
using test::Where;

namespace {

class ContextTest : public LiveSetTest {
protected:
  template <class Event> void say(uint64_t first, uint64_t second = 0, const Where &where = {}) {
    apply(make<Event>(++now, where, first, second));
  }
  void push(uint64_t label, const Where &where = {}) { say<abi::OwnerPushEvent>(label, 0, where); }
  void pop(uint64_t label = 0, const Where &where = {}) { say<abi::OwnerPopEvent>(label, 0, where); }
  void begin(uint64_t label, uint64_t id = 0, const Where &where = {}) { say<abi::RangeBeginEvent>(label, id, where); }
  void end(uint64_t id = 0, const Where &where = {}) { say<abi::RangeEndEvent>(id, 0, where); }
  Cohort cohortOfNew(const Where &where = {}) {
    ++now;
    apply(alloc(now, now * 0x100, 1, where));
    return live.cohorts()[live.find(where.process, AddressSpace::Host, now * 0x100)->cohort];
  }
  uint32_t owner(const Where &where = {}) { return cohortOfNew(where).owner.index; }
  uint32_t phase(const Where &where = {}) { return cohortOfNew(where).phase.index; }
  uint64_t now = 0;
};

constexpr Where kOtherThread{.stream = 1}, kOtherProcess{.process = 2};

} // namespace

TEST_F(ContextTest, ABlockBelongsToTheOwnerPushedLastInItsThread) {
  EXPECT_EQ(owner(), 0u);
  push(5);
  push(6);
  EXPECT_EQ(owner(), 6u);
  EXPECT_EQ(owner(kOtherThread), 0u);
  EXPECT_EQ(owner(kOtherProcess), 0u);
  pop();
  EXPECT_EQ(owner(), 5u);
  pop();
  pop(); // there are more pops than pushes
  EXPECT_EQ(owner(), 0u);
}

// The byte may be inside the block, and on any device. A block of a pool is smaller than its segment.
TEST_F(ContextTest, TheProgramNamesTheOwnerOfABlockThatIsAlive) {
  const Where pool{.heap = abi::Heap::Pool}, segment{.heap = abi::Heap::Device},
      other{.heap = abi::Heap::Device, .device = 3};
  apply(alloc(++now, 0x100, 64, {.stream = 1}));
  apply(alloc(++now, 0x9000, 0x1000, segment));
  apply(alloc(++now, 0x9200, 0x200, pool));
  apply(alloc(++now, 0xa0000, 0x1000, other));
  const auto ownerAt = [&](AddressSpace space, uint64_t address, uint8_t device = 0) {
    return live.cohorts()[live.holding(1, space, address, device)->cohort].owner.index;
  };
  begin(3);
  say<abi::OwnedEvent>(0x100, 5);
  say<abi::OwnedEvent>(0x9210, 6);
  say<abi::OwnedEvent>(0xa0010, 7);
  EXPECT_EQ(ownerAt(AddressSpace::Host, 0x100), 5u);
  EXPECT_EQ(ownerAt(AddressSpace::Pool, 0x9200), 6u);
  EXPECT_EQ(ownerAt(AddressSpace::Accelerator, 0x9000), 0u);
  EXPECT_EQ(ownerAt(AddressSpace::Accelerator, 0xa0000, 3), 7u);
  EXPECT_EQ(live.cohorts()[live.find(1, AddressSpace::Host, 0x100)->cohort].phase.index, 0u); // that of its allocation
  EXPECT_EQ(owner(), 0u); // later blocks have no owner
  say<abi::OwnedEvent>(0x120, 0);
  EXPECT_EQ(ownerAt(AddressSpace::Host, 0x100), 0u);
  say<abi::OwnedEvent>(0x140, 5); // the first byte after the block
  say<abi::OwnedEvent>(0x100, 5, kOtherProcess);
  EXPECT_EQ(live.counts().unmatched_retargets, 2u);
}

// Python puts its small objects into mappings of 256 KiB. An address in the middle is that of an object.
TEST_F(ContextTest, AMappingHasTheOwnerOfItsFirstPage) {
  const Where mapping{.heap = abi::Heap::Mapping};
  apply(alloc(++now, 0x40000, 0x40000, mapping));
  const auto ownerOf = [&] { return live.cohorts()[live.find(1, AddressSpace::Mapping, 0x40000)->cohort].owner.index; };
  say<abi::OwnedEvent>(0x41000, 5);
  EXPECT_EQ(ownerOf(), 0u);
  EXPECT_EQ(live.counts().unmatched_retargets, 1u);
  say<abi::OwnedEvent>(0x40040, 5);
  EXPECT_EQ(ownerOf(), 5u);
}

TEST_F(ContextTest, AnOwnerEndsWithAllPushedBehindIt) {
  for (const uint64_t label : {5, 6, 7})
    push(label);
  pop(6);
  EXPECT_EQ(owner(), 5u);
  pop(9); // this owner was pushed before the recording began
  EXPECT_EQ(owner(), 5u);
}

TEST_F(ContextTest, ThePhaseIsTheInnermostRange) {
  begin(3);
  begin(4);
  EXPECT_EQ(phase(), 4u);
  EXPECT_EQ(phase(kOtherThread), 0u);
  end();
  EXPECT_EQ(phase(), 3u);
  end();
  end();
  EXPECT_EQ(phase(), 0u);
}

TEST_F(ContextTest, ARangeWithANumberMayEndInAnotherThread) {
  begin(3, 77);
  begin(4);
  end(77, kOtherThread);
  EXPECT_EQ(phase(), 4u);
  end();
  EXPECT_EQ(phase(), 0u);
}

TEST_F(ContextTest, ABlockKeepsItsOwnerWhateverBecomesOfIt) {
  push(5);
  apply(alloc(++now, 0x10, 1, {.site = 1}));
  apply(alloc(++now, 0x10000, 2 * kPage, kMap));
  pop();
  apply(test::retarget(++now, 0x10, {.site = 2}));
  apply(test::free(++now, 0x10000, kMap, kPage));
  const Cohort &cohort = live.cohorts()[live.find(1, AddressSpace::Host, 0x10)->cohort];
  EXPECT_EQ(cohort.owner, LabelId{5});
  EXPECT_EQ(cohort.site, SiteId{2});
  EXPECT_EQ(live.cohorts()[live.find(1, AddressSpace::Mapping, 0x10000 + kPage)->cohort].owner, LabelId{5});
}

TEST_F(ContextTest, AProcessThatEndedHasLeftNothing) {
  push(5);
  cohortOfNew();
  live.endProcess(1, FreeCause::ProcessExited, ++now);
  EXPECT_EQ(owner(), 0u);
}

TEST_F(ContextTest, StepsAndMarksAreKeptByTime) {
  now = 9;
  say<abi::StepEvent>(0); // at time 10
  say<abi::StepEvent>(1);
  say<abi::StepEvent>(100, 0, kOtherProcess);
  const Timeline &timeline = live.timeline();
  EXPECT_EQ(timeline.stepAt(1, 9), nullptr);
  EXPECT_EQ(timeline.stepAt(1, 10)->number, 0u);
  EXPECT_EQ(timeline.stepAt(1, 1000)->number, 1u);
  EXPECT_EQ(timeline.stepAt(2, 1000)->number, 100u);
  EXPECT_EQ(timeline.beginOfStep(1), 11u);
  EXPECT_EQ(timeline.beginOfStep(7), std::nullopt);
  say<abi::MarkEvent>(3);
  ASSERT_EQ(timeline.marks().size(), 1u);
  EXPECT_EQ(timeline.marks()[0].time_ns, 13u);
}

} // namespace msleaks::analysis
