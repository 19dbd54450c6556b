#include "collected.h"

#include "analysis/reach/lost_pages.h"
#include "msleaks/abi/definitions.h"
#include "msleaks/abi/site_table.h"

#include <fstream>
#include <sys/wait.h>
#include <unistd.h>

namespace msleaks::test {
namespace {

using analysis::Urgency;

class ProcessCollectorTest : public CollectorFixture {};

// A thread that waits for room in its ring treats the collector as dead if the heartbeat is too old. Draining many full
// rings may take that long. So the collector must update its heartbeat after each batch.
TEST_F(ProcessCollectorTest, BeatsAfterEachBatch) {
  auto ring = arena.addRing(64, 0);
  start();
  std::atomic<uint64_t> heartbeat_ns{0};
  output->after_batch = [&] { heartbeat_ns = analysis::readMonotonicNs(); };
  ring.recordAlloc(1, 1);
  drain();
  const uint64_t first_ns = heartbeat_ns;
  EXPECT_NE(first_ns, 0u);
  ring.recordAlloc(2, 2);
  drain();
  EXPECT_GT(heartbeat_ns, first_ns);
}

TEST_F(ProcessCollectorTest, SaysThatADefinitionIsTorn) {
  start();
  std::ofstream(arena.definitions()) << "half a record";
  finish();
  ASSERT_EQ(collector->notes().size(), 1u);
  EXPECT_NE(collector->notes()[0].find("13 bytes"), std::string::npos) << collector->notes()[0];
}

TEST_F(ProcessCollectorTest, StoresWhatIsPublishedAndThenMovesTheTail) {
  auto ring = arena.addRing(64, 0);
  start();
  for (uint64_t i = 0; i < 10; ++i)
    ring.recordAlloc(i, 100 + i);
  EXPECT_EQ(drain(), 10u);
  EXPECT_EQ(ring.header().tail, 10u);
  EXPECT_EQ(drain(), 0u);
  const auto trace = finish();
  EXPECT_EQ(trace.addresses(), numbers(0, 10));
  EXPECT_EQ(trace.events[3].event.header().time, 103u);
  EXPECT_EQ(trace.events[3].event.header().site, 7u);
  ASSERT_TRUE(trace.account(0));
  EXPECT_EQ(trace.account(0)->produced, 10u);
  EXPECT_EQ(trace.account(0)->dropped, 0u);
  EXPECT_EQ(trace.account(0)->tid, 100u);
  EXPECT_EQ(trace.account(0)->thread_name, "worker");
  EXPECT_TRUE(trace.reader().closed());
  EXPECT_TRUE(collector->notes().empty());
}

// The collector can read a block's pages only after it has drained the block's Alloc event. So it drains the event of a
// large block early, and waits for a larger batch with other events.
TEST_F(ProcessCollectorTest, ALargeBlockIsDrainedSoon) {
  constexpr uint64_t kMs = 1'000'000, kLarge = 1 << 20;
  auto ring = arena.addRing(64, 0);
  start();
  collector->watchPages(static_cast<uint32_t>(getpid()), kLarge);
  const auto drainedAt = [&](uint64_t ms) { return *collector->drain(*output, Urgency::Batch, ms * kMs); };
  ring.recordAlloc(0x1000, kMs);
  EXPECT_EQ(drainedAt(1), 0u);
  EXPECT_EQ(drainedAt(100), 0u);
  abi::AllocEvent large{};
  large.header.time = 150 * kMs;
  large.address = 0x100000;
  large.size = kLarge;
  ring.record(large);
  EXPECT_EQ(drainedAt(200), 2u);
  ring.recordAlloc(0x2000, 250 * kMs);
  EXPECT_EQ(drainedAt(300), 0u);
  EXPECT_EQ(drainedAt(900), 1u) << "as ever";
}

// Many small blocks may be in the sample. So their events do not wait for a large batch, either.
TEST_F(ProcessCollectorTest, ManySmallBlocksAreDrainedSoon) {
  constexpr uint64_t kMs = 1'000'000, kSmall = 128 << 10;
  auto ring = arena.addRing(64, 0);
  start();
  collector->watchPages(static_cast<uint32_t>(getpid()), 1 << 20);
  const auto drainedAt = [&](uint64_t ms) { return *collector->drain(*output, Urgency::Batch, ms * kMs); };
  uint64_t count = 0;
  const auto allocate = [&](uint64_t blocks) {
    for (uint64_t i = 0; i < blocks; ++i) {
      abi::AllocEvent small{};
      small.header.time = kMs + ++count;
      small.address = count << 20;
      small.size = kSmall;
      ring.record(small);
    }
  };
  allocate(4);
  EXPECT_EQ(drainedAt(1), 0u);
  allocate(3);
  EXPECT_EQ(drainedAt(100), 0u);
  allocate(1);
  EXPECT_EQ(drainedAt(105), 0u) << "no search is due";
  EXPECT_EQ(drainedAt(200), 8u);
  allocate(7);
  EXPECT_EQ(drainedAt(300), 0u) << "what was drained does not count again";
}

// The kernel has no page information about an ended process. The collector must not report this as a missing feature of
// the kernel.
TEST_F(ProcessCollectorTest, AProcessThatDiesEarlyIsNoReasonForANoteOnPages) {
  auto ring = arena.addRing(64, 0);
  start();
  const pid_t child = fork();
  if (child == 0)
    _exit(0);
  siginfo_t ended{};
  ASSERT_EQ(waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOWAIT), 0); // the child is now a zombie
  const auto look = [&](uint64_t address) {
    collector->watchPages(static_cast<uint32_t>(child), 1);
    ring.recordAlloc(address, kNow);
    drain();
    return collector->lookAtPages(output->writer, kNow).has_value();
  };
  EXPECT_TRUE(look(0x1000));
  ASSERT_EQ(waitpid(child, nullptr, 0), child);
  EXPECT_TRUE(look(0x2000));
  EXPECT_TRUE(collector->notes().empty());
}

TEST_F(ProcessCollectorTest, TellsWhoTheProcessWas) {
  start();
  const auto trace = finish();
  ASSERT_EQ(trace.reader().processes().size(), 1u);
  EXPECT_EQ(trace.reader().processes()[0].command, (std::vector<std::string>{"demo", "--fast"}));
  EXPECT_EQ(trace.reader().processes()[0].time_ns, 5000u);
  ASSERT_EQ(trace.reader().processEnds().size(), 1u);
  EXPECT_EQ(trace.reader().processEnds()[0].time_ns, kNow);
}

TEST_F(ProcessCollectorTest, TakesHeadBelowTailAsEmpty) {
  auto ring = arena.addRing(64, 0);
  start();
  for (uint64_t i = 0; i < 5; ++i)
    ring.recordAlloc(i, i);
  EXPECT_EQ(drain(), 5u);
  ring.header().head = 3; // as if the program had damaged the ring: the runtime never decreases `head`
  EXPECT_EQ(drain(), 0u);
  EXPECT_EQ(ring.header().tail, 5u);
  ring.header().head = 5;
  ring.recordAlloc(5, 5);
  EXPECT_EQ(drain(), 1u);
  EXPECT_EQ(finish().addresses(), numbers(0, 6));
}

TEST_F(ProcessCollectorTest, KeepsEventsWholeAcrossTheWrap) {
  auto ring = arena.addRing(16, 0);
  start();
  ring.recordAlloc(1, 1); // so that a later event of two slots occupies slots 15 and 0
  abi::LaunchEvent launch{};
  for (uint64_t i = 0; i < 20; ++i) {
    launch.header.time = 10 + i;
    launch.kernel = i;
    launch.grid_x = static_cast<uint32_t>(i);
    ASSERT_TRUE(ring.record(launch));
    EXPECT_EQ(drain(), i == 0 ? 2u : 1u);
  }
  const auto trace = finish();
  ASSERT_EQ(trace.events.size(), 21u);
  for (uint64_t i = 0; i < 20; ++i) {
    const auto event = trace.events[i + 1].event.as<abi::LaunchEvent>();
    EXPECT_EQ(event.kernel, i);
    EXPECT_EQ(event.grid_x, i);
  }
}

TEST_F(ProcessCollectorTest, LeavesHalfAnEventForLater) {
  auto ring = arena.addRing(16, 0);
  start();
  abi::CopyEvent copy{};
  copy.size = 9;
  ring.record(copy);
  ring.header().head = 1; // only the first slot of the event is published
  EXPECT_EQ(drain(), 0u);
  EXPECT_EQ(ring.header().tail, 0u);
  ring.header().head = 2;
  EXPECT_EQ(drain(), 1u);
}

TEST_F(ProcessCollectorTest, FollowsAStreamIntoALargerRing) {
  auto small = arena.addRing(16, 3);
  start();
  for (uint64_t i = 0; i < 16; ++i)
    small.recordAlloc(i, i);
  auto large = arena.addRing(64, 3);
  large.continueFrom(small);
  for (uint64_t i = 16; i < 30; ++i)
    large.recordAlloc(i, i);
  // The events of the stream must be stored in order, even while the collector does not know whether the smaller ring
  // has ended.
  EXPECT_EQ(drain(), 30u);
  small.setState(abi::RingState::Ended);
  drain();
  EXPECT_EQ(small.state(), abi::RingState::Drained);
  const auto trace = finish();
  EXPECT_EQ(trace.addresses(), numbers(0, 30));
  EXPECT_EQ(trace.account(3)->produced, 30u);
  EXPECT_EQ(trace.reader().storedUntil(1, 3), 30u);
  EXPECT_EQ(trace.reader().storedEvents(1, 3), 30u);
  EXPECT_TRUE(collector->notes().empty());
}

// A thread got a larger ring and exited. Both happened after the collector had read the smaller ring, and before it
// read the larger ring. All events must be stored.
TEST_F(ProcessCollectorTest, KeepsAStreamWhoseThreadGrewAndExitedDuringALook) {
  auto small = arena.addRing(16, 3);
  start();
  for (uint64_t i = 0; i < 16; ++i)
    small.recordAlloc(i, i);
  auto large = arena.addRing(64, 3);
  large.continueFrom(small);
  for (uint64_t i = 16; i < 30; ++i)
    large.recordAlloc(i, i);
  large.setState(abi::RingState::Ended);
  EXPECT_EQ(drain(), 30u);
  EXPECT_EQ(collector->totals().produced, 30u);
  EXPECT_EQ(large.state(), abi::RingState::Ended);
  small.setState(abi::RingState::Ended);
  drain();
  EXPECT_EQ(small.state(), abi::RingState::Drained);
  EXPECT_EQ(large.state(), abi::RingState::Drained);
  EXPECT_EQ(collector->totals().dropped, 0u);
  const auto trace = finish();
  EXPECT_EQ(trace.account(3)->produced, 30u);
  EXPECT_EQ(trace.account(3)->dropped, 0u);
  EXPECT_TRUE(collector->notes().empty());
}

TEST_F(ProcessCollectorTest, StoresTheSmallerRingFirstWhateverTheirPlaces) {
  auto first = arena.addRing(64, 9); // this thread ends below
  auto small = arena.addRing(16, 3);
  start();
  first.setState(abi::RingState::Ended);
  drain();
  for (uint64_t i = 0; i < 4; ++i)
    small.recordAlloc(i, i);
  auto large = arena.claim(0, 64, 3); // the thread of `small` takes over the ring of the ended thread
  large.continueFrom(small);
  for (uint64_t i = 4; i < 8; ++i)
    large.recordAlloc(i, i);
  small.setState(abi::RingState::Ended);
  EXPECT_EQ(finish().addresses(), numbers(0, 8));
}

TEST_F(ProcessCollectorTest, LetsAnEndedRingBeClaimedAgain) {
  auto ring = arena.addRing(16, 0);
  start();
  for (uint32_t thread = 0; thread < 5; ++thread) {
    ring = arena.claim(0, 16, thread);
    for (uint64_t i = 0; i < 3; ++i)
      ring.recordAlloc(uint64_t{thread} * 3 + i, uint64_t{thread} * 3 + i);
    ring.setState(abi::RingState::Ended);
    EXPECT_EQ(drain(Urgency::Batch), 3u);
    EXPECT_EQ(ring.state(), abi::RingState::Drained);
  }
  const auto trace = finish();
  EXPECT_EQ(trace.addresses(), numbers(0, 15));
  for (uint32_t thread = 0; thread < 5; ++thread)
    EXPECT_EQ(trace.account(thread)->produced, 3u);
}

TEST_F(ProcessCollectorTest, WaitsUntilABatchIsWorthIt) {
  auto ring = arena.addRing(4096, 0);
  start();
  ring.recordAlloc(1, 1);
  EXPECT_EQ(drain(Urgency::Batch, 1000), 0u);
  EXPECT_EQ(drain(Urgency::Batch, 1000 + 2'000'000'000), 1u); // the event is old enough to be drained alone
  for (uint64_t i = 0; i < 1024; ++i)
    ring.recordAlloc(i, i);
  EXPECT_EQ(drain(Urgency::Batch, 1001 + 2'000'000'000), 1024u); // a quarter of the ring is full, which is a batch
}

TEST_F(ProcessCollectorTest, CountsWhatTheThreadDropped) {
  auto ring = arena.addRing(16, 0);
  start(abi::OnFull::Drop);
  for (uint64_t i = 0; i < 50; ++i)
    ring.recordAlloc(i, i);
  ring.header().stalled_ns = 11;
  const auto trace = finish();
  EXPECT_EQ(trace.addresses(), numbers(0, 16));
  EXPECT_EQ(trace.account(0)->produced, 50u);
  EXPECT_EQ(trace.account(0)->dropped, 34u);
  EXPECT_EQ(trace.account(0)->stalled_ns, 11u);
}

TEST_F(ProcessCollectorTest, CountsTheRecordThatAKillCutOffAsDropped) {
  auto ring = arena.addRing(16, 0);
  start();
  ring.recordAlloc(1, 1);
  ++ring.header().produced;
  ring.writeUnpublished(abi::AllocEvent{});
  const auto trace = finish();
  EXPECT_EQ(trace.addresses(), numbers(1, 1));
  EXPECT_EQ(trace.account(0)->produced, 2u);
  EXPECT_EQ(trace.account(0)->dropped, 1u);
  EXPECT_TRUE(collector->notes().empty());
}

TEST_F(ProcessCollectorTest, NamesAnAccountThatCannotBeRight) {
  auto ring = arena.addRing(16, 0);
  auto other = arena.addRing(16, 1);
  start();
  ring.recordAlloc(1, 1);
  ring.header().produced = 100;
  other.recordAlloc(2, 2);
  other.header().produced = 0;
  const auto trace = finish();
  EXPECT_EQ(trace.account(0)->dropped, 99u);
  EXPECT_EQ(trace.account(1)->produced, 1u);
  ASSERT_EQ(collector->notes().size(), 2u);
  EXPECT_NE(collector->notes()[0].find("inconsistent"), std::string::npos);
  EXPECT_NE(collector->notes()[1].find("inconsistent"), std::string::npos);
}

TEST_F(ProcessCollectorTest, SurvivesAHeadThatCannotBe) {
  auto ring = arena.addRing(16, 0);
  start();
  ring.recordAlloc(1, 1);
  ring.header().head = uint64_t{1} << 40;
  drain();
  EXPECT_EQ(ring.header().tail, uint64_t{1} << 40); // so a thread that waits for room can continue
  ring.header().head = UINT64_MAX;
  drain();
  ASSERT_FALSE(collector->notes().empty());
  EXPECT_NE(collector->notes()[0].find("damaged"), std::string::npos);
  finish();
}

TEST_F(ProcessCollectorTest, SurvivesAnArenaThatIsTruncated) {
  analysis::surviveLostPages();
  auto ring = arena.addRing(1024, 0);
  start();
  for (uint64_t i = 0; i < 100; ++i)
    ring.recordAlloc(i, i);
  drain();
  for (uint64_t i = 0; i < 100; ++i)
    ring.recordAlloc(i, i);
  const uint64_t before = analysis::lostPages();
  std::filesystem::resize_file(arena.path(), abi::kHeaderBytes);
  drain();
  EXPECT_GT(analysis::lostPages(), before);
  std::filesystem::resize_file(arena.path(), 0);
  EXPECT_EQ(finish().addresses(), numbers(0, 100));
}

TEST_F(ProcessCollectorTest, LeavesOutSlotsThatAreNoEvent) {
  auto ring = arena.addRing(16, 0);
  start();
  for (uint64_t i = 0; i < 6; ++i)
    ring.recordAlloc(i, i);
  ring.slot(1)->header.kind = static_cast<abi::EventKind>(200);
  ring.slot(3)->header.kind = abi::EventKind::Continuation; // no event before it can be continued
  ring.slot(4)->header.kind = abi::EventKind::Launch;       // its second slot is missing
  const auto trace = finish();
  EXPECT_EQ(trace.addresses(), (std::vector<uint64_t>{0, 2, 5}));
  EXPECT_EQ(trace.account(0)->dropped, 3u);
  EXPECT_NE(collector->notes().back().find("3 slots"), std::string::npos);
}

TEST_F(ProcessCollectorTest, WritesDefinitionsAndCallersBeforeTheirEvents) {
  auto ring = arena.addRing(64, 0);
  start();
  const std::string body = "what could not be seen";
  const abi::DefinitionHeader header{abi::kDefinitionMagic, abi::DefinitionKind::Note,
                                     static_cast<uint32_t>(body.size()),
                                     abi::fnv1a32(reinterpret_cast<const unsigned char *>(body.data()), body.size())};
  std::string record(reinterpret_cast<const char *>(&header), sizeof header);
  record += body;
  record.resize((record.size() + 7) / 8 * 8);
  std::ofstream(arena.definitions(), std::ios::binary) << record;
  arena.caller(5).image = 2;
  arena.caller(5).address = 0x4711;
  for (int i = 0; i < 3; ++i)
    ring.recordAlloc(1, 1, abi::kCallerSite | 5);
  ring.recordAlloc(2, 2, abi::kCallerSite | 6);        // the entry of this caller is empty
  ring.recordAlloc(3, 3, abi::kCallerSite | 0xffffff); // the table has no entry with this number
  const auto trace = finish();
  std::vector<uint64_t> callers;
  ASSERT_TRUE(trace.reader().forEachCallers([&](uint32_t, auto entries) {
    for (const auto &entry : entries)
      callers.insert(callers.end(), {entry.index, entry.image, entry.address});
  }));
  EXPECT_EQ(callers, (std::vector<uint64_t>{5, 2, 0x4711}));
  std::string definitions;
  ASSERT_TRUE(trace.reader().forEachDefinitions([&](uint32_t process, auto records) {
    EXPECT_EQ(process, 1u);
    definitions.append(reinterpret_cast<const char *>(records.data()), records.size());
  }));
  EXPECT_EQ(definitions, record);
}

TEST_F(ProcessCollectorTest, StoresEachNodeOfAPathOnce) {
  start();
  auto ring = arena.addRing(16, 0);
  uint32_t last = 0;
  for (uint32_t i = 0; i < 3000; ++i) // more nodes than two blocks of the path table contain
    last = arena.addPath({0x1000 + i, last, 1});
  ring.recordAlloc(1, 1, abi::kPathSite | last);
  drain();
  for (uint32_t i = 0; i < 5; ++i)
    last = arena.addPath({0x9000 + i, last, 1});
  ring.recordAlloc(2, 2, abi::kPathSite | last);
  const auto trace = finish();
  std::vector<analysis::PathEntry> stored;
  ASSERT_TRUE(trace.reader().forEachPaths([&](uint32_t, std::span<const analysis::PathEntry> entries) {
    stored.insert(stored.end(), entries.begin(), entries.end());
  }));
  ASSERT_EQ(stored.size(), 3005u);
  for (uint32_t i = 0; i < stored.size(); ++i) {
    EXPECT_EQ(stored[i].number, abi::kFirstPath + i);
    EXPECT_EQ(stored[i].address, i < 3000 ? 0x1000 + i : 0x9000 + i - 3000);
    EXPECT_EQ(stored[i].parent, i == 0 ? 0 : abi::kFirstPath + i - 1);
  }
}

TEST_F(ProcessCollectorTest, DamagedPathsAreLeftOut) {
  start();
  auto ring = arena.addRing(16, 0);
  const uint32_t number = arena.addPath({0x1000, abi::kPathBegin, 1});
  arena.header().path_count = UINT32_MAX;
  arena.pathBlock(1).offset = UINT64_MAX;
  ring.recordAlloc(1, 1, abi::kPathSite | number);
  const auto trace = finish();
  size_t stored = 0;
  ASSERT_TRUE(trace.reader().forEachPaths([&](uint32_t, auto entries) { stored += entries.size(); }));
  EXPECT_LE(stored, abi::kPathBlockNodes);
  EXPECT_EQ(trace.events.size(), 1u);
}

TEST_F(ProcessCollectorTest, KeepsTheNewestOfAFlightRecorder) {
  auto ring = arena.addRing(16, 0);
  start(abi::OnFull::Overwrite);
  abi::LaunchEvent launch{};
  for (uint64_t i = 0; i < 21; ++i) {
    ring.header().tail = ring.header().reserved; // so that the producer never waits
    launch.header.time = i;
    launch.kernel = i;
    ring.record(launch);
    EXPECT_EQ(drain(), 0u);
  }
  ring.header().tail = ring.header().reserved;
  ring.recordAlloc(99, 21); // an odd number of slots: the oldest slot in the ring is then a continuation
  ring.header().tail = 0;
  const auto trace = finish();
  ASSERT_EQ(trace.events.size(), 8u);
  for (uint64_t i = 0; i < 7; ++i)
    EXPECT_EQ(trace.events[i].event.as<abi::LaunchEvent>().kernel, 14 + i);
  EXPECT_EQ(trace.account(0)->produced, 22u);
  EXPECT_EQ(trace.account(0)->dropped, 14u);
  EXPECT_TRUE(collector->notes().empty());
}

TEST_F(ProcessCollectorTest, ConvertsTicksButNotNanoseconds) {
  ArenaMaker ticking(folder.path(), {.pid = 5, .attach_ticks = 7, .clock = abi::ClockKind::Tsc});
  auto ring = ticking.addRing(16, 0);
  ring.recordAlloc(1, 3000);
  clock = analysis::ClockModel(analysis::ClockLine{1000, 50, uint64_t{1} << 31});
  start();
  collector.emplace(2, openArena(ticking.path()), abi::OnFull::Block);
  ASSERT_TRUE(collector->start(*writer));
  const auto trace = finish();
  ASSERT_EQ(trace.events.size(), 1u);
  EXPECT_EQ(trace.events[0].event.header().time, 1050u);
}

TEST_F(ProcessCollectorTest, StaysWithinItsArenaForManyThreads) {
  std::vector<RingMaker> rings;
  for (uint32_t i = 0; i < 8; ++i)
    rings.push_back(arena.addRing(16, i));
  start();
  for (auto &ring : rings)
    ring.recordAlloc(ring.header().stream, 1);
  EXPECT_EQ(drain(), 8u);
  size_t accounts = 0;
  finish().reader().forEachAccount([&](const analysis::StreamAccount &) { ++accounts; });
  EXPECT_EQ(accounts, 8u);
}

} // namespace
} // namespace msleaks::test
