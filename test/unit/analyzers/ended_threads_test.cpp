// Tests how much memory the analyzers need for a server that starts a thread for each request. A thread that has ended
// must need none. This program's own operator new counts the memory.
#include "analysis/analyzers/registry.h"
#include "analysis/stream/pipeline.h"

#include "../live/events.h"

#include <atomic>
#include <cstdlib>
#include <gtest/gtest.h>
#include <malloc.h>
#include <new>
#include <optional>

namespace {
std::atomic<size_t> live_bytes;
}

void *operator new(size_t size, const std::nothrow_t &) noexcept {
  void *block = std::malloc(size);
  live_bytes += block ? malloc_usable_size(block) : 0;
  return block;
}
void *operator new(size_t size) {
  void *block = operator new(size, std::nothrow);
  if (!block)
    throw std::bad_alloc();
  return block;
}
void operator delete(void *block) noexcept {
  live_bytes -= block ? malloc_usable_size(block) : 0;
  std::free(block);
}
void operator delete(void *block, size_t) noexcept { operator delete(block); }

namespace msleaks::analysis {
namespace {

// After kFew threads, the memory history (memory_history.h) has its largest size. Later threads do not enlarge it.
constexpr uint32_t kFew = 200'000, kMany = 400'000;

// Has all analyzers of a report. A test applies the events of a process that runs one thread after another.
class EndedThreads : public testing::Test {
protected:
  EndedThreads() {
    std::vector<Analyzer *> all;
    for (const auto &analyzer : analyzers_)
      all.push_back(analyzer.get());
    pipeline.emplace(catalog_, all);
  }
  // Calls serve(thread) for each thread from next_ to `end` - 1.
  template <class Serve> void runUntil(uint32_t end, Serve serve) {
    for (; next_ < end; ++next_)
      serve(next_);
    pipeline->drain();
  }
  // Returns how much more memory is in use after kMany threads than after kFew threads.
  template <class Serve> size_t leftBy(Serve serve) {
    runUntil(kFew, serve);
    const size_t before = live_bytes;
    runUntil(kMany, serve);
    return live_bytes - std::min<size_t>(before, live_bytes);
  }
  void apply(const StreamEvent &event) { pipeline->apply(event); }
  uint64_t now() { return ++now_ns_; }

  std::optional<Pipeline> pipeline;

private:
  Symbolizer symbolizer_;
  SiteCatalog catalog_{symbolizer_};
  std::vector<std::unique_ptr<Analyzer>> analyzers_ = makeAnalyzers();
  uint32_t next_ = 0;
  uint64_t now_ns_ = 1000;
};

// The analyzers may drop the state of an ended thread late. So the states of some thousands of threads may still exist.
constexpr size_t kMostLeft = 1 << 20;

TEST_F(EndedThreads, LeaveNothingOfTheirBlocks) {
  const size_t left = leftBy([&](uint32_t stream) {
    const test::Where where{.stream = stream}, growth{.stream = stream, .flags = abi::kRealloc};
    apply(test::alloc(now(), 0x100, 16, where));
    apply(test::free(now(), 0x100, growth));
    apply(test::alloc(now(), 0x200, 32, growth));
    apply(test::free(now(), 0x200, where));
  });
  EXPECT_LT(left, kMostLeft);
  EXPECT_LT(pipeline->liveSet().cohorts().size(), kThreadsApart + 10);
}

TEST_F(EndedThreads, LeaveNothingOfTheirMappingsAndDeviceMemory) {
  const size_t left = leftBy([&](uint32_t stream) {
    const test::Where map{.stream = stream, .heap = abi::Heap::Mapping},
        device{.stream = stream, .heap = abi::Heap::Device};
    apply(test::alloc(now(), 0x10000, 4096, map));
    apply(test::free(now(), 0x10000, map));
    apply(test::alloc(now(), 0x20000, 4096, device));
    apply(test::launch(now(), 0, device));
    apply(test::free(now(), 0x20000, device));
  });
  EXPECT_LT(left, kMostLeft);
}

// A thread may end before it pops its owner and ends its range.
TEST_F(EndedThreads, LeaveLittleOfWhatTheySaid) {
  const size_t left = leftBy([&](uint32_t stream) {
    const test::Where where{.stream = stream};
    apply(test::make<abi::OwnerPushEvent>(now(), where, 5, 0));
    apply(test::make<abi::RangeBeginEvent>(now(), where, 6, 0));
    apply(test::alloc(now(), 0x100, 16, where));
    apply(test::free(now(), 0x100, where));
  });
  EXPECT_LT(left, 16 * kMostLeft);
}

// From thread kThreadsApart on, threads share cohorts. Each of their blocks still has its own thread.
TEST_F(EndedThreads, ShareTheCohortOfTheirBlocks) {
  runUntil(kThreadsApart + 2,
           [&](uint32_t stream) { apply(test::alloc(now(), 0x1000 + 0x100 * stream, 16, {.stream = stream})); });
  const auto cohortOf = [&](uint32_t stream) {
    const Block *block = pipeline->liveSet().find(1, abi::AddressSpace::Host, 0x1000 + 0x100 * stream);
    EXPECT_EQ(block->stream, stream);
    return pipeline->liveSet().cohorts()[block->cohort].stream;
  };
  EXPECT_EQ(cohortOf(kThreadsApart - 1), kThreadsApart - 1);
  EXPECT_EQ(cohortOf(kThreadsApart), kOtherThreads);
  EXPECT_EQ(cohortOf(kThreadsApart + 1), kOtherThreads);
}

// The memory that a process needs for its cohorts must not grow with the number of processes that ended before it.
TEST_F(EndedThreads, AProcessLeavesNoMoreWhenManyHaveEnded) {
  constexpr uint32_t kProcesses = 1000, kSites = 20;
  uint32_t process = 0;
  const auto leftByProcesses = [&] {
    const size_t before = live_bytes;
    for (const uint32_t end = process + kProcesses; process < end;) {
      ++process;
      for (uint32_t site = 1; site <= kSites; ++site)
        apply(test::alloc(now(), uint64_t{0x100} * site, 16, {.process = process, .stream = site}));
      pipeline->drain();
      pipeline->expectEnd(process, {FreeCause::ProcessExited, now(), 0});
      pipeline->passTime(now());
    }
    return live_bytes - before;
  };
  leftByProcesses();
  const size_t first = leftByProcesses();
  leftByProcesses();
  leftByProcesses();
  const size_t later = leftByProcesses();
  EXPECT_LT(later, 3 * first) << "vectors grow by half";
  EXPECT_LT(later, size_t{kProcesses} * kSites * 4096);
}

} // namespace
} // namespace msleaks::analysis
