#include "random_events.h"

#include <map>

#include <gtest/gtest.h>

namespace msleaks::analysis::test {
namespace {

// Sorts by time, then by stream. The events of one stream keep their order.
void sortAsRead(std::vector<StreamEvent> &events) {
  std::map<std::pair<uint64_t, uint32_t>, std::vector<StreamEvent>> groups;
  for (const StreamEvent &event : events)
    groups[{event.event.header().time, event.stream}].push_back(event);
  events.clear();
  for (const auto &[key, group] : groups)
    events.insert(events.end(), group.begin(), group.end());
}

// GIVEN streams of random events, written in interleaved batches of random length.
// WHEN they are read back.
// THEN every event is there, unchanged and in order of time. The events of one stream keep their order.
TEST(TraceRoundTrip, RandomStreams) {
  for (const uint64_t seed : {1, 2, 3, 4, 5, 6, 7, 8}) {
    std::mt19937_64 random(seed);
    const ScratchFolder folder;
    const auto file = folder / "trace.mslt";
    auto writer = TraceWriter::create(file);
    ASSERT_TRUE(writer) << writer.error().message;
    const uint32_t streams = 1 + seed % 4;
    std::vector<StreamEvent> expected;
    std::vector<uint64_t> position(streams), time_ns(streams, 1000);
    uint64_t written = 0;
    for (int batch = 0; batch < 40; ++batch) {
      const auto stream = static_cast<uint32_t>(random() % streams);
      const auto slots = randomSlots(random() % 700, time_ns[stream], random);
      ASSERT_TRUE(writer->events({1, stream, position[stream], slots}));
      position[stream] += slots.size();
      const auto events = eventsOf(1, stream, slots);
      if (!events.empty())
        time_ns[stream] = events.back().event.header().time;
      written += events.size();
      expected.insert(expected.end(), events.begin(), events.end());
    }
    if (seed % 2) {
      ASSERT_TRUE(writer->close());
    }
    sortAsRead(expected);

    const auto reader = TraceReader::open(file);
    ASSERT_TRUE(reader) << reader.error().message;
    EXPECT_EQ(reader->closed(), seed % 2 == 1);
    EXPECT_EQ(reader->eventCount(), written);
    for (uint32_t stream = 0; stream < streams; ++stream)
      EXPECT_EQ(reader->storedUntil(1, stream), position[stream]);
    const auto events = readAll(*reader);
    ASSERT_EQ(events.size(), expected.size());
    for (size_t i = 0; i < events.size(); ++i)
      ASSERT_TRUE(sameEvent(events[i], expected[i])) << "seed " << seed << ", event " << i;
    EXPECT_TRUE(reader->damage().empty()) << reader->damage().front();
  }
}

TEST(TraceRoundTrip, Metadata) {
  const ScratchFolder folder;
  const auto file = folder / "trace.mslt";
  auto writer = TraceWriter::create(file);
  ASSERT_TRUE(writer);
  ASSERT_TRUE(writer->processStart({1, 4711, 4700, 123, 1'700'000'000'000'000'000, {"prog", "", "two words"}}));
  ASSERT_TRUE(writer->processStart({2, 4712, 4711, 456, 1, {}}));
  const std::string records(3000, 'd');
  ASSERT_TRUE(writer->definitions(2, std::as_bytes(std::span(records))));
  const TraceWriter::CallerEntry callers[] = {{0, 1, 0x7fff'1234'5678}, {65535, 3, UINT64_MAX}};
  ASSERT_TRUE(writer->callers(2, callers));
  ImageNames names{{"/lib/x.so", {std::byte{1}}}, {}};
  const std::string longName(3000, 'n');
  for (uint64_t i = 0; i < 5000; ++i) // more than a chunk can contain
    names.addresses.push_back(
        {i, {{longName, "/x.cpp", static_cast<uint32_t>(i), 1}, {"f", "", 0, 0}}, i % 2 ? "fopen" : ""});
  ASSERT_TRUE(writer->names(names));
  ASSERT_TRUE(writer->streamAccount({1, 0, 4711, "main", 10, 1, 5}));
  ASSERT_TRUE(writer->streamAccount({1, 1, 4715, "worker", 7, 0, 0}));
  ASSERT_TRUE(writer->streamAccount({1, 0, 4711, "main", 20, 2, 6}));
  ASSERT_TRUE(writer->processEnd({1, 999, 0, 3}));
  ASSERT_TRUE(writer->processEnd({2, 1000, -1, 0}));
  ASSERT_TRUE(writer->close());

  const auto reader = TraceReader::open(file);
  ASSERT_TRUE(reader) << reader.error().message;
  ASSERT_EQ(reader->processes().size(), 2u);
  EXPECT_EQ(reader->processes()[0].pid, 4711u);
  EXPECT_EQ(reader->processes()[0].time_ns, 123u);
  EXPECT_EQ(reader->processes()[0].realtime_ns, 1'700'000'000'000'000'000u);
  EXPECT_EQ(reader->processes()[0].command, (std::vector<std::string>{"prog", "", "two words"}));
  ASSERT_EQ(reader->processEnds().size(), 2u);
  EXPECT_EQ(reader->processEnds()[0].dropped_no_ring, 3u);
  EXPECT_EQ(reader->processEnds()[1].status, -1);
  const std::vector<StreamAccount> accounts = accountsOf(*reader);
  ASSERT_EQ(accounts.size(), 2u);
  EXPECT_EQ(accounts[0].produced, 20u); // from the later account
  EXPECT_EQ(accounts[1].thread_name, "worker");
  int seen = 0;
  ASSERT_TRUE(reader->forEachDefinitions([&](uint32_t process, std::span<const std::byte> content) {
    ++seen;
    EXPECT_EQ(process, 2u);
    EXPECT_TRUE(std::ranges::equal(content, std::as_bytes(std::span(records))));
  }));
  ASSERT_TRUE(reader->forEachCallers([&](uint32_t process, std::span<const TraceWriter::CallerEntry> entries) {
    ++seen;
    EXPECT_EQ(process, 2u);
    ASSERT_EQ(entries.size(), 2u);
    EXPECT_EQ(entries[0].address, callers[0].address);
    EXPECT_EQ(entries[1].address, UINT64_MAX);
    EXPECT_EQ(entries[1].index, 65535u);
  }));
  ImageNames read;
  ASSERT_TRUE(reader->forEachNames([&](const ImageNames &some) {
    EXPECT_EQ(some.image, names.image);
    read.addresses.insert(read.addresses.end(), some.addresses.begin(), some.addresses.end());
  }));
  ASSERT_EQ(read.addresses.size(), names.addresses.size());
  for (size_t i = 0; i < read.addresses.size(); ++i) {
    EXPECT_EQ(read.addresses[i].address, i);
    EXPECT_EQ(read.addresses[i].places, names.addresses[i].places);
    EXPECT_EQ(read.addresses[i].callee, names.addresses[i].callee);
  }
  EXPECT_EQ(seen, 2);
}

} // namespace
} // namespace msleaks::analysis::test
