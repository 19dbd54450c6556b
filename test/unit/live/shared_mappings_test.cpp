// Tests that memory counts once if several mappings map it, while mappings are added and removed.
#include "analysis/analyzers/leaks.h"
#include "analysis/live/live_set.h"
#include "analysis/live/peaks.h"

#include "events.h"

#include <gtest/gtest.h>
#include <map>
#include <random>

namespace msleaks::analysis {
namespace {

constexpr uint64_t kSharedPage = 4096;

class SharedMappings : public testing::Test {
protected:
  void map(uint32_t process, uint64_t address, uint64_t pages, uint64_t object, uint64_t first_page = 0) {
    const test::Where where{
        .process = process, .heap = abi::Heap::Mapping, .flags = abi::kReserve | abi::kFile, .site = process};
    apply(test::shared(++time_, address, pages * kSharedPage, object, first_page * kSharedPage, where));
    apply(test::alloc(++time_, address, pages * kSharedPage, where));
  }
  void unmap(uint32_t process, uint64_t address, uint64_t pages) {
    apply(test::free(++time_, address, {.process = process, .heap = abi::Heap::Mapping}, pages * kSharedPage));
  }
  void end(uint32_t process) { live.endProcess(process, FreeCause::ProcessExited, ++time_); }
  void apply(const StreamEvent &event) { live.apply(event, SiteId{event.event.header().site}); }

  // Counts the live pages from the reported changes.
  class Sum final : public BlockObserver {
  public:
    void onAlloc(const Block &block, AllocCause, uint64_t) override { add(block, 1); }
    void onFree(const Block &block, FreeCause, uint64_t) override { add(block, -1); }
    void onRetarget(const Block &, const Block &, uint64_t) override {}
    std::map<uint32_t, int64_t> pages; // by process
    int64_t blocks = 0;
    int64_t all() const {
      int64_t sum = 0;
      for (const auto &[process, count] : pages)
        sum += count;
      return sum;
    }

  private:
    void add(const Block &block, int64_t sign) {
      pages[block.process] += sign * static_cast<int64_t>(block.bytes() / kSharedPage);
      blocks += sign;
    }
  };

  Sum sum;
  Peaks peaks;
  LeakAnalyzer leaks;
  LiveSet live{{&sum, &leaks, &peaks}};
  uint64_t time_ = 0;
};

TEST_F(SharedMappings, TwoProcessesHaveItOnce) {
  map(1, 0x10000, 16, 7);
  map(2, 0x90000, 16, 7);
  EXPECT_EQ(sum.all(), 16);
  EXPECT_EQ(sum.pages[1], 16);
  map(3, 0x90000, 16, 8); // another object
  EXPECT_EQ(sum.all(), 32);
  unmap(1, 0x10000, 16);
  EXPECT_EQ(sum.pages[1], 0);
  EXPECT_EQ(sum.pages[2], 16) << "the memory is there as long as somebody shows it";
  unmap(2, 0x90000, 16);
  EXPECT_EQ(sum.all(), 16);
  EXPECT_EQ(peaks.physical().clock().bytes(), 32 * kSharedPage);
  EXPECT_EQ(live.counts().unmatched_frees, 0u);
}

TEST_F(SharedMappings, OneProcessHasItOnce) {
  map(1, 0x10000, 4, 7);
  map(1, 0x90000, 4, 7);
  EXPECT_EQ(sum.all(), 4);
  unmap(1, 0x10000, 4);
  EXPECT_EQ(sum.all(), 4);
  unmap(1, 0x90000, 4);
  EXPECT_EQ(sum.all(), 0);
}

TEST_F(SharedMappings, PartsAreOfTheObject) {
  map(1, 0x10000, 4, 7);     // pages 0 to 3
  map(2, 0x20000, 4, 7, 2);  // pages 2 to 5
  map(3, 0x30000, 10, 7, 0); // pages 0 to 9
  EXPECT_EQ(sum.pages[1], 4);
  EXPECT_EQ(sum.pages[2], 2);
  EXPECT_EQ(sum.pages[3], 4);
  unmap(1, 0x10000 + kSharedPage, 2); // pages 1 and 2
  EXPECT_EQ(sum.pages[1], 2);
  EXPECT_EQ(sum.all(), 10);
  unmap(3, 0x30000, 10);
  EXPECT_EQ(sum.all(), 5) << "0 and 3 by the first, 2, 4 and 5 by the second, 1 by nobody";
  EXPECT_EQ(sum.pages[2], 3);
}

TEST_F(SharedMappings, WhatTheLastOneLeavesIsTheLeak) {
  map(1, 0x10000, 16, 7);
  map(2, 0x90000, 16, 7);
  map(2, 0xb0000, 16, 7);
  end(1);
  EXPECT_EQ(physicalSum(leaks.result().leaked).bytes, 0u);
  EXPECT_EQ(sum.all(), 16);
  end(2);
  EXPECT_EQ(physicalSum(leaks.result().leaked).bytes, 16 * kSharedPage);
  EXPECT_EQ(sum.all(), 0);
  EXPECT_EQ(sum.blocks, 0);
  EXPECT_EQ(live.liveBlocks(), 0u);
}

TEST_F(SharedMappings, ARefusedMunmapAndAnMremapKeepTheObject) {
  const test::Where mapping{.process = 1, .heap = abi::Heap::Mapping};
  test::Where moved = mapping, refused = mapping;
  moved.flags = abi::kRealloc;
  refused.flags = abi::kRestored;
  map(1, 0x10000, 4, 7);
  map(2, 0x90000, 4, 7);
  unmap(1, 0x10000, 4);
  apply(test::alloc(++time_, 0x10000, 4 * kSharedPage, refused));
  EXPECT_EQ(sum.all(), 4);
  apply(test::free(++time_, 0x10000, moved, 4 * kSharedPage));
  apply(test::alloc(++time_, 0x40000, 6 * kSharedPage, moved));
  EXPECT_EQ(sum.all(), 6);
  unmap(2, 0x90000, 4);
  EXPECT_EQ(sum.pages[1], 6);
}

TEST_F(SharedMappings, WhatIsProtectedIsStillTheObject) {
  map(1, 0x10000, 4, 7);
  map(2, 0x10000, 4, 7);
  apply(test::protect(++time_, 0x11000, kSharedPage, abi::kReserve, 1));
  EXPECT_EQ(sum.all(), 4);
  end(1);
  EXPECT_EQ(sum.pages[2], 4);
  end(2);
  EXPECT_EQ(sum.all(), 0);
}

TEST_F(SharedMappings, AMappingPutOverItTakesItsPagesOnly) {
  map(1, 0x10000, 8, 7);
  map(2, 0x90000, 8, 7);
  map(1, 0x12000, 2, 9);
  EXPECT_EQ(sum.all(), 10);
  EXPECT_EQ(sum.pages[2], 2);
}

TEST_F(SharedMappings, WhatIsNotSharedIsNotTouched) {
  const test::Where file{.heap = abi::Heap::Mapping, .flags = abi::kReserve | abi::kFile};
  const auto next = [&](const StreamEvent &told, uint64_t address) {
    apply(told);
    apply(test::alloc(++time_, address, kSharedPage, file));
    return sum.all();
  };
  EXPECT_EQ(next(test::shared(++time_, 0x20000, kSharedPage, 7), 0x10000), 0);             // has another address
  EXPECT_EQ(next(test::shared(++time_, 0x10000, 2 * kSharedPage, 7), 0x10000), 0);         // has another size
  EXPECT_EQ(next(test::shared(++time_, 0x10000, kSharedPage, 0), 0x10000), 0);             // has no object
  EXPECT_EQ(next(test::shared(++time_, 0x10000, kSharedPage, 7, UINT64_MAX), 0x10000), 0); // lies beyond every object
  EXPECT_EQ(next(test::shared(++time_, 0x10000, kSharedPage, 7), 0x10000), 1);
  EXPECT_EQ(next(test::alloc(++time_, 0x20000, kSharedPage, file), 0x30000), 1) << "told once";
  apply(test::protect(++time_, 0x10000, kSharedPage, abi::kReserve));
  EXPECT_EQ(sum.all(), 1) << "the object's pages are there whatever the protection";
  unmap(1, 0x10000, 1);
  EXPECT_EQ(sum.all(), 0);
}

// A damaged or hostile trace may contain thousands of mappings of one object. The work for one event must stay bounded.
TEST_F(SharedMappings, ManyMappingsOfOneObjectAreBounded) {
  for (uint64_t i = 0; i < 3000; ++i)
    map(static_cast<uint32_t>(1 + i % 3), 0x10000000 + i * 0x10000, 2 + i % 7, 7, i % 11);
  EXPECT_EQ(sum.all(), 18);
  for (uint64_t i = 0; i < 3000; ++i)
    unmap(static_cast<uint32_t>(1 + i % 3), 0x10000000 + i * 0x10000, 2 + i % 7);
  EXPECT_EQ(sum.all(), 0);
  EXPECT_EQ(sum.blocks, 0);
}

// Compares the live set with a model. For each page of a process, the model stores which page of the object is mapped
// there.
TEST_F(SharedMappings, CountsWhatAModelCounts) {
  std::mt19937 random(7);
  const auto pick = [&](uint32_t least, uint32_t most) {
    return std::uniform_int_distribution<uint32_t>(least, most)(random);
  };
  std::map<std::pair<uint32_t, uint64_t>, std::pair<uint64_t, uint64_t>> shown; // page of a process → page of an object
  for (int step = 0; step < 20'000; ++step) {
    const uint32_t process = pick(1, 3), pages = pick(1, 6);
    const uint64_t page = pick(1, 20), object = pick(1, 2), first = pick(0, 9);
    const uint32_t what = pick(0, 40);
    if (what == 0)
      end(process);
    else if (what < 22)
      map(process, page * kSharedPage, pages, object, first);
    else
      unmap(process, page * kSharedPage, pages);
    if (what == 0)
      std::erase_if(shown, [&](const auto &entry) { return entry.first.first == process; });
    else
      for (uint64_t i = 0; i < pages; ++i)
        if (what < 22)
          shown[{process, page + i}] = {object, first + i};
        else
          shown.erase({process, page + i});
    std::map<std::pair<uint64_t, uint64_t>, int> once;
    for (const auto &[key, place] : shown)
      once[place] = 1;
    ASSERT_EQ(sum.all(), static_cast<int64_t>(once.size())) << "step " << step;
    ASSERT_EQ(static_cast<int64_t>(live.liveBlocks()), sum.blocks);
  }
}

} // namespace
} // namespace msleaks::analysis
