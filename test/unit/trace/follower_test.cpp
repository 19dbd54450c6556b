// Tests the reading of a trace while the trace is written.
#include "analysis/trace/trace_follower.h"
#include "random_events.h"

#include "analysis/trace/chunk_index.h"
#include "analysis/trace/trace_reader.h"

#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace msleaks::analysis::test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class FollowerTest : public testing::Test {
protected:
  void write(uint32_t stream, uint64_t begin_ns, size_t events = 50) {
    const auto slots = randomSlots(events, begin_ns, random_);
    ASSERT_TRUE(writer_->events({1, stream, position_[stream], slots}));
    position_[stream] += slots.size();
  }
  TraceFollower follow(TraceListener listener = {}) {
    auto follower = TraceFollower::open(file_, std::move(listener));
    if (!follower)
      throw std::runtime_error(follower.error().message);
    return std::move(*follower);
  }
  // Returns all events that the follower can read now.
  static std::vector<StreamEvent> take(TraceFollower &follower) {
    std::vector<StreamEvent> all;
    for (auto events = follower.next(); events && !events->empty(); events = follower.next())
      all.insert(all.end(), events->begin(), events->end());
    return all;
  }
  std::vector<StreamEvent> whole() const { return readAll(*TraceReader::open(file_)); }
  static void expectSame(const std::vector<StreamEvent> &a, const std::vector<StreamEvent> &b) {
    ASSERT_EQ(a.size(), b.size());
    for (size_t i = 0; i < a.size(); ++i)
      ASSERT_TRUE(sameEvent(a[i], b[i])) << "event " << i;
  }

  std::mt19937_64 random_{3};
  ScratchFolder folder_;
  fs::path file_ = folder_ / "trace.mslt";
  Result<TraceWriter> writer_ = TraceWriter::create(file_);
  std::array<uint64_t, 4> position_{};
};

TEST_F(FollowerTest, GivesWhatIsCompleteAndNoMore) {
  TraceFollower follower = follow();
  EXPECT_TRUE(take(follower).empty());
  write(0, 1000);
  EXPECT_TRUE(take(follower).empty());
  write(1, 1000);
  ASSERT_TRUE(writer_->completeUntil(1500));
  const auto first = take(follower);
  ASSERT_FALSE(first.empty());
  for (const StreamEvent &event : first)
    EXPECT_LT(event.event.header().time, 1500u);
  EXPECT_EQ(first.size(), readAll(*TraceReader::open(file_), 0, 1500).size());
  EXPECT_EQ(follower.completeUntil(), 1500u);
  EXPECT_TRUE(take(follower).empty());
  ASSERT_TRUE(writer_->close());
  EXPECT_EQ(first.size() + take(follower).size(), 100u);
  EXPECT_TRUE(follower.closed());
  EXPECT_TRUE(follower.damage().empty());
}

TEST_F(FollowerTest, GivesEachEventOnceInTheOrderOfTheWhole) {
  TraceFollower follower = follow();
  std::vector<StreamEvent> all;
  uint64_t now_ns = 100'000;
  for (int step = 0; step < 300; ++step, now_ns += 1000) {
    write(static_cast<uint32_t>(random_() % 4), now_ns + random_() % 5000, 1 + random_() % 60);
    if (random_() % 4 == 0) {
      ASSERT_TRUE(writer_->completeUntil(now_ns));
    }
    const auto more = take(follower);
    all.insert(all.end(), more.begin(), more.end());
  }
  EXPECT_GT(all.size(), 3000u);
  ASSERT_TRUE(writer_->close());
  const auto rest = take(follower);
  all.insert(all.end(), rest.begin(), rest.end());
  expectSame(all, whole());
}

TEST_F(FollowerTest, TakesTheRestWhenNobodyWritesAnyMore) {
  TraceFollower follower = follow();
  write(0, 1000);
  EXPECT_TRUE(take(follower).empty());
  follower.takeRest();
  EXPECT_EQ(take(follower).size(), 50u);
  EXPECT_FALSE(follower.closed());
}

TEST_F(FollowerTest, WhatIsStoredTwiceComesOnce) {
  TraceFollower follower = follow();
  const auto slots = randomSlots(20, 1000, random_);
  ASSERT_TRUE(writer_->events({1, 0, 0, slots}));
  ASSERT_TRUE(writer_->events({1, 0, 0, slots}));
  ASSERT_TRUE(writer_->completeUntil(1'000'000));
  EXPECT_EQ(take(follower).size(), 20u);
}

TEST_F(FollowerTest, WhatComesTooLateIsLifted) {
  TraceFollower follower = follow();
  write(0, 5000);
  ASSERT_TRUE(writer_->completeUntil(1'000'000));
  const uint64_t last_ns = take(follower).back().event.header().time;
  write(1, 10);
  ASSERT_TRUE(writer_->completeUntil(1'000'001));
  const auto late = take(follower);
  ASSERT_EQ(late.size(), 50u);
  for (const StreamEvent &event : late)
    EXPECT_GE(event.event.header().time, last_ns);
}

TEST_F(FollowerTest, TellsWhatEventsMeanBeforeThem) {
  std::vector<std::string> told;
  TraceListener listener;
  listener.start = [&](const ProcessStart &start) { told.push_back("start " + start.command.at(0)); };
  listener.end = [&](const ProcessEnd &end) { told.push_back("end " + std::to_string(end.status)); };
  listener.account = [&](const StreamAccount &account) { told.push_back("account " + account.thread_name); };
  listener.definitions = [&](uint32_t, std::span<const std::byte> bytes) {
    told.push_back("definitions " + std::to_string(bytes.size()));
  };
  listener.callers = [&](uint32_t, std::span<const TraceWriter::CallerEntry> entries) {
    told.push_back("callers " + std::to_string(entries.front().address));
  };
  listener.paths = [&](uint32_t, std::span<const PathEntry> entries) {
    told.push_back("paths " + std::to_string(entries.front().number));
  };
  TraceFollower follower = follow(listener);
  ASSERT_TRUE(writer_->processStart({1, 2, 3, 4, 5, {"prog"}}));
  ASSERT_TRUE(writer_->definitions(1, std::as_bytes(std::span("abc"))));
  const TraceWriter::CallerEntry caller{1, 2, 77};
  ASSERT_TRUE(writer_->callers(1, {&caller, 1}));
  const PathEntry path{9, 1, 0, 5};
  ASSERT_TRUE(writer_->paths(1, {&path, 1}));
  write(0, 1000);
  ASSERT_TRUE(writer_->completeUntil(1'000'000));
  EXPECT_EQ(follower.next()->empty(), false);
  EXPECT_THAT(told, testing::ElementsAre("start prog", "definitions 4", "callers 77", "paths 9"));
  take(follower);
  ASSERT_TRUE(writer_->streamAccount({1, 0, 9, "t", 50, 0, 0}));
  ASSERT_TRUE(writer_->processEnd({1, 2'000'000, 6, 0}));
  take(follower);
  EXPECT_EQ(told.size(), 6u);
}

// GIVEN a file that grows byte by byte THEN a half-written chunk is no damage
TEST_F(FollowerTest, AFileThatGrowsByteByByte) {
  ASSERT_TRUE(writer_->processStart({1, 2, 3, 4, 5, {"prog"}}));
  for (uint64_t i = 0; i < 6; ++i) {
    write(static_cast<uint32_t>(i % 2), 1000 + 1000 * i, 5);
    ASSERT_TRUE(writer_->completeUntil(1000 + 1000 * i));
  }
  ASSERT_TRUE(writer_->close());
  std::ifstream source(file_, std::ios::binary);
  const std::string content{std::istreambuf_iterator<char>(source), {}};
  const auto expected = whole();
  file_ = folder_ / "growing";
  std::ofstream growing(file_, std::ios::binary);
  TraceFollower follower = follow();
  std::vector<StreamEvent> all;
  for (const char byte : content) {
    growing.put(byte).flush();
    const auto events = take(follower);
    all.insert(all.end(), events.begin(), events.end());
  }
  expectSame(all, expected);
  EXPECT_TRUE(follower.closed());
  EXPECT_TRUE(follower.damage().empty());
}

TEST_F(FollowerTest, DamageIsPassedOver) {
  write(0, 1000);
  const uint64_t begin = writer_->bytesWritten();
  write(0, 50'000);
  write(0, 100'000);
  ASSERT_TRUE(writer_->close());
  {
    std::fstream file(file_, std::ios::binary | std::ios::in | std::ios::out);
    file.seekp(static_cast<std::streamoff>(begin) + 9);
    file.put('x');
  }
  TraceFollower follower = follow();
  EXPECT_EQ(take(follower).size(), 100u);
  ASSERT_EQ(follower.damage().size(), 1u);
  EXPECT_THAT(follower.damage()[0], HasSubstr("not a chunk"));
}

// GIVEN a session that was killed in the middle of a write WHEN it continues THEN nothing is lost or reported
TEST_F(FollowerTest, ATornEndThatIsCutOffIsNoError) {
  write(0, 1000);
  const uint64_t whole_bytes = writer_->bytesWritten();
  write(0, 10'000);
  position_[0] /= 2;
  writer_ = tl::make_unexpected(Error{"killed", {}});
  fs::resize_file(file_, whole_bytes + 100);
  TraceFollower follower = follow();
  EXPECT_TRUE(take(follower).empty());
  writer_ = TraceWriter::append(file_);
  ASSERT_TRUE(writer_);
  position_[0] = TraceReader::open(file_)->storedUntil(1, 0);
  write(0, 20'000);
  ASSERT_TRUE(writer_->close());
  EXPECT_EQ(take(follower).size(), 100u);
  EXPECT_TRUE(follower.damage().empty());
}

class LostTraceTest : public FollowerTest {
protected:
  // Expects that the follower returns an error, and returns the same error again.
  void expectError(TraceFollower &follower, const std::string &what) {
    for (int round = 0; round < 2; ++round) {
      const auto events = follower.next();
      ASSERT_FALSE(events);
      EXPECT_THAT(events.error().message, HasSubstr(what));
      EXPECT_EQ(events.error().message.find('\n'), std::string::npos);
    }
  }
  TraceFollower followed() {
    write(0, 1000);
    TraceFollower follower = follow();
    EXPECT_TRUE(take(follower).empty());
    return follower;
  }
};

TEST_F(LostTraceTest, Removed) {
  TraceFollower follower = followed();
  fs::remove(file_);
  expectError(follower, "was removed or renamed while it was read");
}

TEST_F(LostTraceTest, Replaced) {
  TraceFollower follower = followed();
  fs::rename(file_, folder_ / "elsewhere");
  fs::copy_file(folder_ / "elsewhere", file_);
  expectError(follower, "was replaced by another file");
}

TEST_F(LostTraceTest, CutShort) {
  TraceFollower follower = followed();
  fs::resize_file(file_, 50);
  expectError(follower, "was cut short, to 50 bytes");
}

TEST_F(LostTraceTest, NoTrace) {
  std::ofstream(folder_ / "other") << std::string(1000, 'x');
  file_ = folder_ / "other";
  TraceFollower follower = follow();
  expectError(follower, "is not a trace of msleaks");
}

} // namespace
} // namespace msleaks::analysis::test
