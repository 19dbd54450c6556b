// Tests the second thread that reads events ahead. The events must stay the same, even if one of the two threads stops
// or fails.
#include "analysis/trace/read_ahead.h"
#include "random_events.h"

#include <atomic>
#include <chrono>
#include <thread>

#include <gtest/gtest.h>

namespace msleaks::analysis::test {
namespace {

// A source that returns the events 0, 1, 2, … in batches of varying sizes, and then the end or an exception.
class ManyEvents final : public EventSource {
public:
  ManyEvents(uint64_t count, bool throws, std::atomic<uint64_t> *asked)
      : count_(count), throws_(throws), asked_(asked) {}
  std::span<const StreamEvent> next() override {
    ++*asked_;
    batch_.clear();
    for (const size_t size = 1 + given_ % 5000; batch_.size() < size && given_ < count_; ++given_) {
      StreamEvent event{};
      event.event.slots[0] = {{abi::EventKind::Alloc, abi::Heap::Host, 0, 0, 0, given_}, {given_, 1}};
      batch_.push_back(event);
    }
    if (batch_.empty() && throws_)
      throw std::runtime_error("the source broke");
    return batch_;
  }

private:
  uint64_t count_, given_ = 0;
  bool throws_;
  std::atomic<uint64_t> *asked_;
  std::vector<StreamEvent> batch_;
};

class ReadAheadTest : public testing::Test {
protected:
  std::unique_ptr<ReadAhead> read(uint64_t count, bool throws = false) {
    return std::make_unique<ReadAhead>(std::make_unique<ManyEvents>(count, throws, &asked_));
  }
  // Reads batches until it has at least `most` events, and returns their number. The time of each event must be the
  // next number.
  static uint64_t take(ReadAhead &events, uint64_t most = UINT64_MAX) {
    uint64_t count = 0;
    for (auto batch = events.next(); !batch.empty(); batch = events.next()) {
      for (const StreamEvent &event : batch)
        EXPECT_EQ(event.event.header().time, count++);
      if (count >= most)
        break;
    }
    return count;
  }
  std::atomic<uint64_t> asked_{0};
};

TEST_F(ReadAheadTest, GivesEveryEventInOrder) {
  for (const uint64_t count : {0, 1, 65'535, 65'537, 70'000, 300'000}) {
    const auto events = read(count);
    EXPECT_EQ(take(*events), count);
    EXPECT_TRUE(events->next().empty());
    EXPECT_TRUE(events->next().empty());
  }
}

TEST_F(ReadAheadTest, WaitsForASlowUser) {
  const auto events = read(3'000'000);
  take(*events, 100'000);
  uint64_t before = 0;
  for (int i = 0; i < 500 && before != asked_; ++i) { // until the reading thread waits
    before = asked_;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  EXPECT_LT(asked_, 200u); // the source has about 1,200 batches
  EXPECT_FALSE(events->next().empty());
}

TEST_F(ReadAheadTest, EndsWhenNobodyWantsMore) {
  for (const uint64_t taken : {1, 66'000, 80'000, 150'000})
    take(*read(100'000'000), taken);
}

TEST_F(ReadAheadTest, AnExceptionComesBehindWhatWasReadBefore) {
  for (const uint64_t count : {1000, 200'000}) {
    const auto events = read(count, true);
    uint64_t taken = 0;
    EXPECT_THROW(
        {
          for (auto batch = events->next(); !batch.empty(); batch = events->next())
            taken += batch.size();
        },
        std::runtime_error);
    EXPECT_EQ(taken, count);
  }
}

TEST_F(ReadAheadTest, AnExceptionThatNobodySeesDoesNoHarm) { take(*read(100'000, true), 70'000); }

TEST_F(ReadAheadTest, ATraceReadsTheSame) {
  const ScratchFolder folder;
  const auto file = folder / "trace.mslt";
  {
    auto writer = TraceWriter::create(file);
    std::mt19937_64 random(1);
    for (uint32_t stream = 0; stream < 8; ++stream)
      ASSERT_TRUE(writer->events({1, stream, 0, randomSlots(30'000, 1000, random)}));
    ASSERT_TRUE(writer->close());
  }
  const auto reader = TraceReader::open(file);
  const auto expected = readAll(*reader);
  size_t at = 0;
  const auto given = reader->forEachEvent(Reading::Ahead, [&](const StreamEvent &event) {
    EXPECT_TRUE(sameEvent(event, expected[at]));
    return ++at < expected.size();
  });
  EXPECT_EQ(given.value(), expected.size());
  EXPECT_EQ(reader->forEachEvent(Reading::Ahead, [](const StreamEvent &) { return false; }).value(), 1u);
}

} // namespace
} // namespace msleaks::analysis::test
