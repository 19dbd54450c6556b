// Tests how the reader joins the chunks of a stream, and merges the streams into one sequence.
#include "random_events.h"

#include <gtest/gtest.h>

namespace msleaks::analysis::test {
namespace {

abi::Slot alloc(uint64_t time_ns, uint64_t address, uint32_t site = 0) {
  return {{abi::EventKind::Alloc, abi::Heap::Host, 0, 0, site, time_ns}, {address, 1}};
}

// Returns the addresses in the order in which the reader returns the events.
std::vector<uint64_t> addressesOf(const std::vector<StreamEvent> &events) {
  std::vector<uint64_t> addresses;
  for (const StreamEvent &event : events)
    addresses.push_back(event.event.slots[0].payload[0]);
  return addresses;
}

std::vector<uint64_t> timesOf(const std::vector<StreamEvent> &events) {
  std::vector<uint64_t> times;
  for (const StreamEvent &event : events)
    times.push_back(event.event.header().time);
  return times;
}

using Numbers = std::vector<uint64_t>;

class Stream : public testing::Test {
protected:
  void write(uint32_t stream, uint64_t position, const std::vector<abi::Slot> &slots) {
    ASSERT_TRUE(writer_->events({1, stream, position, slots}));
  }
  TraceReader read() {
    auto reader = TraceReader::open(file_);
    if (!reader)
      throw std::runtime_error(reader.error().message);
    return std::move(*reader);
  }
  ScratchFolder folder_;
  std::filesystem::path file_ = folder_ / "trace.mslt";
  Result<TraceWriter> writer_ = TraceWriter::create(file_);
};

TEST_F(Stream, TimesInABatchAreSortedAndEqualOnesStay) {
  write(0, 0, {alloc(50, 1), alloc(40, 2), alloc(50, 3), alloc(40, 4), alloc(45, 5)});
  EXPECT_EQ(addressesOf(readAll(read())), (Numbers{2, 4, 5, 1, 3}));
}

TEST_F(Stream, ABatchThatBeginsTooEarlyIsLifted) {
  write(0, 0, {alloc(10, 1), alloc(30, 2)});
  write(0, 2, {alloc(25, 3), alloc(28, 4), alloc(31, 5)});
  write(1, 0, {alloc(27, 6), alloc(30, 7)});
  const TraceReader reader = read();
  EXPECT_EQ(addressesOf(readAll(reader)), (Numbers{1, 6, 2, 3, 4, 7, 5}));
  EXPECT_EQ(timesOf(readAll(reader)), (Numbers{10, 27, 30, 30, 30, 30, 31}));
  // Events 3 and 4 now have the time 30, because the reader never lets the times of a stream decrease. A window
  // contains them at the same position as the whole trace.
  EXPECT_EQ(addressesOf(readAll(reader, 30, 31)), (Numbers{2, 3, 4, 7}));
  EXPECT_EQ(addressesOf(readAll(reader, 0, 30)), (Numbers{1, 6}));
}

TEST_F(Stream, WhatIsStoredTwiceComesOnce) {
  write(0, 0, {alloc(1, 1), alloc(2, 2), alloc(3, 3)});
  write(0, 0, {alloc(1, 1), alloc(2, 2), alloc(3, 3)}); // the same events again
  write(0, 1, {alloc(2, 2), alloc(3, 3), alloc(4, 4)}); // some of them again, and a new one
  write(1, 0, {alloc(9, 9)});                           // position 0 of another stream
  const TraceReader reader = read();
  EXPECT_EQ(addressesOf(readAll(reader)), (Numbers{1, 2, 3, 4, 9}));
  EXPECT_EQ(reader.eventCount(), 5u);
  EXPECT_EQ(reader.storedUntil(1, 0), 4u);
  EXPECT_EQ(reader.storedUntil(1, 1), 1u);
  EXPECT_EQ(reader.storedUntil(2, 0), 0u);
  EXPECT_EQ(reader.storedEvents(1, 0), 4u);
  EXPECT_EQ(reader.storedEvents(1, 1), 1u);
  EXPECT_EQ(reader.storedEvents(2, 0), 0u);
  EXPECT_TRUE(reader.damage().empty());
}

TEST_F(Stream, APartStoredTwiceIsCountedInSlots) {
  std::mt19937_64 random(11);
  const auto slots = randomSlots(300, 1000, random);
  std::vector<size_t> begins;
  for (size_t i = 0; i < slots.size(); i += abi::slotsOf(slots[i].header.kind))
    begins.push_back(i);
  const size_t cut = begins[100], end = begins[200];
  write(0, 0, {slots.begin(), slots.begin() + static_cast<ptrdiff_t>(end)});
  write(0, cut, {slots.begin() + static_cast<ptrdiff_t>(cut), slots.end()});
  const TraceReader reader = read();
  const auto events = readAll(reader), expected = eventsOf(1, 0, slots);
  ASSERT_EQ(events.size(), expected.size());
  EXPECT_EQ(reader.eventCount(), expected.size());
  for (size_t i = 0; i < events.size(); ++i)
    EXPECT_TRUE(sameEvent(events[i], expected[i]));
}

TEST_F(Stream, AGapInThePositionsIsNoDamage) {
  write(0, 0, {alloc(1, 1)});
  write(0, 100, {alloc(2, 2)}); // the ring was overwritten before this chunk
  EXPECT_EQ(addressesOf(readAll(read())), (Numbers{1, 2}));
  EXPECT_EQ(read().storedUntil(1, 0), 101u);
}

TEST_F(Stream, SlotsThatAreNoEventArePassedOver) {
  abi::Slot garbage = alloc(2, 2);
  garbage.header.kind = static_cast<abi::EventKind>(200);
  abi::Slot half = alloc(4, 4);
  half.header.kind = abi::EventKind::Copy; // its continuation is missing
  abi::Slot continuation{};
  continuation.header.kind = abi::EventKind::Continuation;
  write(0, 10, {continuation, alloc(1, 1), garbage, garbage, alloc(3, 3), half, alloc(5, 5), half});
  EXPECT_EQ(read().eventCount(), 3u);
  EXPECT_EQ(addressesOf(readAll(read())), (Numbers{1, 3, 5}));
  EXPECT_EQ(read().storedUntil(1, 0), 17u);
}

TEST_F(Stream, EventsAreCountedNotSlots) {
  std::mt19937_64 random(1);
  const auto slots = randomSlots(50'000, 0, random); // more than a chunk can contain
  write(0, 0, slots);
  EXPECT_EQ(read().eventCount(), 50'000u);
  EXPECT_EQ(readAll(read()).size(), 50'000u);
}

TEST_F(Stream, EqualTimesGoByStream) {
  write(2, 0, {alloc(5, 1), alloc(5, 2), alloc(6, 3)});
  write(1, 0, {alloc(5, 4), alloc(6, 5)});
  EXPECT_EQ(addressesOf(readAll(read())), (Numbers{4, 1, 2, 5, 3}));
}

TEST_F(Stream, TheLastNanosecondIsInsideTheWholeWindow) {
  write(0, 0, {alloc(1, 1), alloc(UINT64_MAX, 2)});
  EXPECT_EQ(addressesOf(readAll(read())), (Numbers{1, 2}));
}

TEST_F(Stream, StopsWhenToldTo) {
  write(0, 0, {alloc(1, 1), alloc(2, 2), alloc(3, 3)});
  int seen = 0;
  const auto given = read().forEachEvent([&](const StreamEvent &) { return ++seen < 2; });
  EXPECT_EQ(seen, 2);
  EXPECT_EQ(given.value(), 2u);
}

// GIVEN windows over a trace of several streams THEN each window contains exactly the events of the whole trace between
// its two times
TEST_F(Stream, WindowsAddUpToTheWhole) {
  std::mt19937_64 random(5);
  std::array<uint64_t, 5> position{}, time_ns{};
  time_ns.fill(1000);
  for (int batch = 0; batch < 200; ++batch) {
    const auto stream = static_cast<uint32_t>(random() % position.size());
    const uint64_t begin_ns = time_ns[stream] - random() % 20; // sometimes before the last batch's end
    const size_t count = 1 + random() % 400;
    const auto slots = randomSlots(count, begin_ns, random);
    write(stream, position[stream], slots);
    position[stream] += slots.size();
    time_ns[stream] = eventsOf(1, stream, slots).back().event.header().time + random() % 5000;
  }
  const TraceReader reader = read();
  const auto all = readAll(reader);
  const uint64_t last_ns = all.back().event.header().time;
  size_t from = 0;
  for (uint64_t begin = 0; begin <= last_ns; begin += last_ns / 37) {
    const auto part = readAll(reader, begin, begin + last_ns / 37);
    for (const StreamEvent &event : part)
      ASSERT_TRUE(sameEvent(event, all[from++]));
  }
  EXPECT_EQ(from, all.size());
}

} // namespace
} // namespace msleaks::analysis::test
