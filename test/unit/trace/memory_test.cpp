// Tests how much memory the reader uses. This program's own operator new counts the memory.
#include "random_events.h"

#include "analysis/trace/trace_follower.h"

#include <atomic>
#include <cstdlib>
#include <malloc.h>
#include <new>

#include <gtest/gtest.h>

namespace {
std::atomic<size_t> live_bytes, peak_bytes;
}

void *operator new(size_t size) {
  void *block = std::malloc(size);
  if (!block)
    throw std::bad_alloc();
  const size_t now = live_bytes += malloc_usable_size(block);
  if (now > peak_bytes)
    peak_bytes = now;
  return block;
}
void operator delete(void *block) noexcept {
  live_bytes -= block ? malloc_usable_size(block) : 0;
  std::free(block);
}
void operator delete(void *block, size_t) noexcept { operator delete(block); }

namespace msleaks::analysis::test {
namespace {

size_t peakWhileReading(const std::filesystem::path &file, uint64_t &events) {
  const auto reader = TraceReader::open(file);
  if (!reader)
    throw std::runtime_error(reader.error().message);
  const size_t before = live_bytes;
  peak_bytes = before;
  events = reader->forEachEvent([](const StreamEvent &) { return true; }).value();
  return peak_bytes - before;
}

std::filesystem::path writeStreams(const ScratchFolder &folder, uint32_t streams, uint64_t apart_ns) {
  const auto file = folder / ("streams-" + std::to_string(apart_ns));
  auto writer = TraceWriter::create(file);
  std::mt19937_64 random(1);
  for (uint32_t stream = 0; stream < streams; ++stream) {
    const auto slots = randomSlots(2000, 1000 + stream * apart_ns, random);
    EXPECT_TRUE(writer->events({1, stream, 0, slots}));
  }
  return file;
}

// The reader must need less than 1 MiB for the events of 2000 threads that ran one after another. For 200 threads that
// ran at once, it needs more than 4 MiB, which shows that the measured value can grow.
TEST(TraceMemory, StreamsThatFollowEachOtherAreNotHeldTogether) {
  const ScratchFolder folder;
  uint64_t events = 0;
  const size_t sequential = peakWhileReading(writeStreams(folder, 2000, 1'000'000), events);
  EXPECT_EQ(events, 4'000'000u);
  EXPECT_LT(sequential, 1u << 20);
  const size_t together = peakWhileReading(writeStreams(folder, 200, 0), events);
  EXPECT_EQ(events, 400'000u);
  EXPECT_GT(together, 4u << 20);
  RecordProperty("sequential_bytes", static_cast<int>(sequential));
  RecordProperty("together_bytes", static_cast<int>(together));
  std::printf("2000 streams in a row: %zu KiB; 200 at once: %zu KiB\n", sequential >> 10, together >> 10);
}

constexpr uint32_t kFewThreads = 20'000, kManyThreads = 100'000;

// Writes a trace of threads that ran one after another. Each thread has three events and an account.
std::filesystem::path writeThreads(const ScratchFolder &folder, uint32_t threads) {
  const auto file = folder / ("threads-" + std::to_string(threads));
  auto writer = TraceWriter::create(file);
  std::mt19937_64 random(1);
  for (uint32_t stream = 0; stream < threads; ++stream) {
    const auto slots = randomSlots(3, 1000 + stream * 1000, random);
    EXPECT_TRUE(writer->events({1, stream, 0, slots}));
    EXPECT_TRUE(writer->streamAccount({1, stream, stream, "server", 3, 0, 0}));
    if (stream % 1000 == 999)
      EXPECT_TRUE(writer->completeUntil(1000 + stream * 1000));
  }
  EXPECT_TRUE(writer->close());
  return file;
}

// Returns the most bytes that `use` needs at one time.
template <class Use> size_t peakOf(Use use) {
  const size_t before = live_bytes;
  peak_bytes = before;
  use();
  return peak_bytes - before;
}

size_t peakOfReader(const std::filesystem::path &file) {
  return peakOf([&] {
    const auto reader = TraceReader::open(file);
    ASSERT_TRUE(reader);
    uint64_t accounts = 0;
    reader->forEachAccount([&](const StreamAccount &) { ++accounts; });
    EXPECT_GE(accounts, kFewThreads);
    EXPECT_TRUE(reader->forEachEvent([](const StreamEvent &) { return true; }));
  });
}

size_t peakOfFollower(const std::filesystem::path &file) {
  return peakOf([&] {
    auto follower = TraceFollower::open(file);
    ASSERT_TRUE(follower);
    follower->takeRest();
    for (auto events = follower->next(); events && !events->empty();)
      events = follower->next();
  });
}

// Two facts of an ended thread stay in memory: its sums in the index, and the position up to which it is stored.
TEST(TraceMemory, EndedThreadsTakeAFewBytes) {
  const ScratchFolder folder;
  std::filesystem::path few, many;
  const size_t few_written = peakOf([&] { few = writeThreads(folder, kFewThreads); });
  const size_t many_written = peakOf([&] { many = writeThreads(folder, kManyThreads); });
  const double threads = kManyThreads - kFewThreads;
  const auto eachOf = [&](size_t few_bytes, size_t many_bytes) {
    return (static_cast<double>(many_bytes) - static_cast<double>(few_bytes)) / threads;
  };
  const double written = eachOf(few_written, many_written), read = eachOf(peakOfReader(few), peakOfReader(many)),
               followed = eachOf(peakOfFollower(few), peakOfFollower(many));
  std::printf("bytes for an ended thread: written %.0f, read %.0f, followed %.0f\n", written, read, followed);
  EXPECT_LT(written, 70);
  EXPECT_LT(read, 40);
  EXPECT_LT(followed, 30);
}

} // namespace
} // namespace msleaks::analysis::test
