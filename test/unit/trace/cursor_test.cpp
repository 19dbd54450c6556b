// Tests the reading of events through one cursor, through several cursors at once, and by several threads.
#include "random_events.h"

#include <fstream>
#include <thread>

#include <gtest/gtest.h>

namespace msleaks::analysis::test {
namespace {

namespace fs = std::filesystem;

constexpr uint32_t kStreams = 4;
// There are more chunks than one index leaf has, and so many events that a second thread reads ahead.
constexpr uint64_t kBatches = 1500, kBatchEvents = 100;

std::vector<StreamEvent> pullAll(EventCursor cursor) {
  std::vector<StreamEvent> all;
  for (auto events = cursor.next(); !events.empty(); events = cursor.next())
    all.insert(all.end(), events.begin(), events.end());
  EXPECT_TRUE(cursor.next().empty()) << "the end is the end";
  return all;
}

class CursorTest : public testing::Test {
protected:
  void SetUp() override {
    auto writer = TraceWriter::create(file_);
    std::mt19937_64 random(4);
    std::array<uint64_t, kStreams> position{};
    ASSERT_TRUE(writer->processStart({1, 100, 99, 5, 6, {"prog"}}));
    for (uint64_t batch = 0; batch < kBatches; ++batch) {
      const auto stream = static_cast<uint32_t>(batch % kStreams);
      const auto slots = randomSlots(kBatchEvents, 1000 + batch * 1000, random);
      ASSERT_TRUE(writer->events({1, stream, position[stream], slots}));
      position[stream] += slots.size();
    }
    damaged_from_ = writer->bytesWritten();
    ASSERT_TRUE(writer->events({1, 9, 0, randomSlots(10, 1000 + kBatches * 1000, random)}));
    ASSERT_TRUE(writer->close());
  }
  TraceReader open() const { return std::move(*TraceReader::open(file_)); }

  ScratchFolder folder_;
  fs::path file_ = folder_ / "trace.mslt";
  uint64_t damaged_from_ = 0;
};

TEST_F(CursorTest, GivesWhatForEachEventGives) {
  const TraceReader reader = open();
  expectSame(pullAll(reader.events()), readAll(reader));
  expectSame(pullAll(reader.events({300'000, 700'000})), readAll(reader, 300'000, 700'000));
  EXPECT_TRUE(pullAll(reader.events({0, 0})).empty());
}

TEST_F(CursorTest, SeveralGoOnIndependently) {
  const TraceReader reader = open();
  EventCursor one = reader.events(), other = reader.events({500'000, UINT64_MAX});
  const auto first = one.next();
  const StreamEvent kept = first.front();
  EXPECT_FALSE(other.next().empty());
  EXPECT_TRUE(sameEvent(first.front(), kept));
  EXPECT_GT(other.next().front().event.header().time, one.next().front().event.header().time);
}

TEST_F(CursorTest, GoesOnWhenItsReaderIsMoved) {
  TraceReader reader = open();
  const auto all = readAll(reader);
  EventCursor cursor = reader.events();
  const TraceReader moved = std::move(reader);
  expectSame(pullAll(std::move(cursor)), all);
}

// GIVEN a damaged chunk WHEN threads read at once THEN each thread gets all events of the other chunks, and the damage
// is reported once
TEST_F(CursorTest, ThreadsShareAReader) {
  {
    std::fstream file(file_, std::ios::binary | std::ios::in | std::ios::out);
    file.seekp(static_cast<std::streamoff>(damaged_from_ + 90));
    file.write("damage", 6);
  }
  const TraceReader reader = open();
  std::vector<std::thread> threads;
  std::array<size_t, 4> counts{};
  for (size_t i = 0; i < counts.size(); ++i)
    threads.emplace_back([&, i] {
      counts[i] = pullAll(reader.events()).size();
      (void)reader.forEachDefinitions([](uint32_t, std::span<const std::byte>) {});
      (void)reader.damage();
    });
  for (std::thread &thread : threads)
    thread.join();
  for (const size_t count : counts)
    EXPECT_EQ(count, kBatches * kBatchEvents);
  EXPECT_EQ(reader.damage().size(), 1u);
}

} // namespace
} // namespace msleaks::analysis::test
