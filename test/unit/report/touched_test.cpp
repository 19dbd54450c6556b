// Tests the findings about host blocks whose touched bytes are known from the page tables.
#include "report_fixture.h"

namespace msleaks::analysis {
namespace {

constexpr uint64_t kSize = 1'000'000;
constexpr Where kKept{.site = 1}, kOther{.site = 2}, kReallocated{.flags = abi::kRealloc, .site = 1};

class Touched : public ReportTest {
protected:
  StreamEvent born(uint64_t at, uint64_t address, uint64_t size, const Where &where = kKept) {
    return test::alloc(kStart + at, address << 24, size, where);
  }
  StreamEvent dies(uint64_t at, uint64_t address, uint16_t flags = 0) {
    return test::free(kStart + at, address << 24, {.flags = flags, .site = 1});
  }
  StreamEvent looked(uint64_t at, uint64_t address, uint64_t size, uint64_t born_at, uint64_t touched) {
    abi::PagesEvent pages{};
    pages.header = {abi::EventKind::Pages, abi::Heap::Host, 0, 0, 0, kStart + at};
    pages.address = address << 24;
    pages.size = size;
    pages.continuation = abi::kContinuationTag;
    pages.allocated_ns = kStart + born_at;
    pages.touched = touched;
    return {1, abi::kCollectorStream, abi::AnyEvent::from(pages)};
  }
  // Returns the event that the process itself records before it frees the block.
  StreamEvent lookedAtLast(uint64_t at, uint64_t address, uint64_t size, uint64_t born_at, uint64_t touched) {
    const StreamEvent event = looked(at, address, size, born_at, touched);
    auto pages = event.event.as<abi::PagesEvent>();
    pages.at_exit = 1;
    return {1, 1, abi::AnyEvent::from(pages)};
  }
  StreamEvent lookedAtAll(uint64_t at, bool at_exit = false) {
    StreamEvent event = looked(at, 0, 0, at, 0);
    auto pages = event.event.as<abi::PagesEvent>();
    pages.at_exit = at_exit;
    event.event = abi::AnyEvent::from(pages);
    return event;
  }

  void run(const std::vector<StreamEvent> &list) { report = reportOf(list); }
  json of(const std::string &kind) const { return findingOf(report, kind); }
  json report;
};

TEST_F(Touched, WhatNothingEverTouchesIsUnused) {
  run({born(10, 1, kSize), looked(20, 1, kSize, 10, 0), lookedAtAll(20), born(30, 2, kSize, kOther),
       lookedAtLast(99, 1, kSize, 10, 0), dies(100, 1), dies(200, 2)});
  const json unused = of("unused");
  ASSERT_FALSE(unused.is_null()) << report["findings"];
  EXPECT_EQ(unused["site"]["line"], 12);
  EXPECT_EQ(unused["heap"], "host");
  EXPECT_EQ(unused["confidence"], "proved");
  EXPECT_EQ(unused["bytes"], kSize);
  EXPECT_EQ(unused["count"], 1);
  EXPECT_EQ(unused["saves_bytes"], kSize);
  EXPECT_EQ(unused["evidence"]["idle_ns"], 90);
  EXPECT_EQ(unused["evidence"]["touched_bytes"], 0);
  EXPECT_TRUE(of("early-allocation").is_null()) << "it has no first touch";
}

TEST_F(Touched, WhatMayHaveBeenTouchedBehindTheLastLookIsNot) {
  run({born(10, 1, kSize), looked(20, 1, kSize, 10, 0), lookedAtAll(20), lookedAtAll(99), dies(100, 1)});
  EXPECT_TRUE(of("unused").is_null()) << report["findings"];
}

// The program touches the whole block just before it frees the block. So the block is neither unused nor too large.
TEST_F(Touched, WhatIsTouchedLateIsNeitherUnusedNorTooLarge) {
  run({born(10, 1, kSize), born(15, 3, kSize, kOther), looked(20, 1, kSize, 10, 0), lookedAtAll(95), dies(97, 3),
       lookedAtLast(99, 1, kSize, 10, kSize), dies(100, 1), born(110, 1, kSize), looked(120, 1, kSize, 110, kSize / 2),
       lookedAtAll(195), lookedAtLast(199, 1, kSize, 110, kSize), dies(200, 1)});
  EXPECT_TRUE(of("unused").is_null()) << report["findings"];
  EXPECT_TRUE(of("overallocated").is_null()) << report["findings"];
  EXPECT_EQ(of("early-allocation")["evidence"]["idle_ns"], 95 - 10);
}

// The other block is freed only after the copy into this block. So both are needed at the same time.
TEST_F(Touched, WhatIsTouchedWhileMemoryIsHighestIsNotTooEarly) {
  run({born(10, 2, kSize, kOther), born(20, 1, kSize), looked(50, 1, kSize, 20, 0), lookedAtAll(50),
       looked(60, 1, kSize, 20, kSize), lookedAtAll(60), dies(70, 2), dies(100, 1)});
  EXPECT_TRUE(of("early-allocation").is_null()) << report["findings"];
}

TEST_F(Touched, WhatWasSeenUntouchedLongEnoughIsTooEarly) {
  run({born(10, 2, kSize, kOther), born(20, 1, kSize), looked(30, 1, kSize, 20, 0), lookedAtAll(30), dies(35, 2),
       looked(70, 1, kSize, 20, kSize), lookedAtAll(70), dies(100, 1)});
  ASSERT_FALSE(of("early-allocation").is_null()) << report["findings"];
  EXPECT_EQ(of("early-allocation")["saves_bytes"], kSize);
  EXPECT_EQ(of("early-allocation")["evidence"]["idle_ns"], 10);
}

TEST_F(Touched, WhatWasSeenUntouchedOnlyForAMomentIsNotTooEarly) {
  run({born(10, 2, kSize, kOther), born(20, 1, kSize), looked(30, 1, kSize, 20, 0), lookedAtAll(30), dies(35, 2),
       looked(71, 1, kSize, 20, kSize), lookedAtAll(71), dies(100, 1)});
  EXPECT_TRUE(of("early-allocation").is_null()) << report["findings"];
}

TEST_F(Touched, WhatTwoLooksSawUntouchedIsTooEarly) {
  run({born(10, 2, kSize, kOther), born(20, 1, kSize), looked(22, 1, kSize, 20, 0), lookedAtAll(22), lookedAtAll(24),
       dies(35, 2), looked(71, 1, kSize, 20, kSize), lookedAtAll(71), dies(100, 1)});
  EXPECT_EQ(of("early-allocation").value("saves_bytes", uint64_t{0}), kSize) << report["findings"];
}

TEST_F(Touched, PagesThatWereGivenBackWereTouched) {
  run({born(10, 1, kSize), looked(20, 1, kSize, 10, kSize), lookedAtAll(20), lookedAtLast(99, 1, kSize, 10, 0),
       dies(100, 1)});
  EXPECT_TRUE(of("unused").is_null()) << report["findings"];
  EXPECT_TRUE(of("overallocated").is_null()) << report["findings"];
}

// The process was killed. It may have touched pages after the collector last read the page tables. So the block must be
// no finding.
TEST_F(Touched, WhatIsAliveAtAnEndThatDoesNotWaitIsNotKnown) {
  run({born(10, 1, kSize), looked(20, 1, kSize, 10, 0), lookedAtAll(99)});
  EXPECT_TRUE(of("unused").is_null()) << report["findings"];
}

TEST_F(Touched, WhatWaitsAtItsExitTouchesNothingMore) {
  run({born(10, 1, kSize), looked(20, 1, kSize, 10, 0), lookedAtAll(20), lookedAtAll(80, true)});
  EXPECT_EQ(of("unused")["saves_bytes"], kSize) << report["findings"];
  EXPECT_EQ(of("unused")["confidence"], "proved");
}

TEST_F(Touched, WhatIsNeverTouchedAndLeaksIsSavedOnce) {
  run({born(10, 1, kSize), looked(20, 1, kSize, 10, kSize / 4), lookedAtAll(20, true)});
  uint64_t most = 0;
  for (const json &finding : report["findings"])
    most = std::max(most, finding["saves_cumulative_bytes"].get<uint64_t>());
  EXPECT_EQ(of("overallocated")["saves_bytes"], kSize - kSize / 4);
  EXPECT_EQ(of("leak")["saves_bytes"], kSize);
  EXPECT_EQ(most, kSize);
  EXPECT_EQ(of("leak")["saves_cumulative_bytes"], kSize);
}

TEST_F(Touched, WhatIsFreedDuringALookIsNot) {
  StreamEvent all = lookedAtAll(110);
  auto pages = all.event.as<abi::PagesEvent>();
  pages.allocated_ns = kStart + 95;
  all.event = abi::AnyEvent::from(pages);
  run({born(10, 1, kSize), dies(100, 1), looked(110, 1, kSize, 10, 0), all});
  EXPECT_TRUE(of("unused").is_null()) << report["findings"];
}

TEST_F(Touched, WhatIsTouchedInPartIsTooLarge) {
  run({born(10, 1, kSize), looked(20, 1, kSize, 10, kSize / 4), lookedAtAll(20),
       lookedAtLast(99, 1, kSize, 10, kSize / 4), dies(100, 1)});
  const json rest = of("overallocated");
  ASSERT_FALSE(rest.is_null()) << report["findings"];
  EXPECT_EQ(rest["bytes"], kSize - kSize / 4);
  EXPECT_EQ(rest["saves_bytes"], kSize - kSize / 4);
  EXPECT_EQ(rest["evidence"]["touched_bytes"], kSize / 4);
  EXPECT_TRUE(of("early-allocation").is_null()) << "when it was first touched is not known";
}

TEST_F(Touched, WhatAReallocMadeLargerHasCapacity) {
  run({born(10, 1, kSize / 2), dies(15, 1, abi::kRealloc), born(16, 2, kSize, kReallocated),
       looked(20, 2, kSize, 16, kSize / 2), lookedAtAll(20), lookedAtLast(99, 2, kSize, 16, kSize / 2), dies(100, 2)});
  const json rest = of("capacity");
  ASSERT_FALSE(rest.is_null()) << report["findings"];
  EXPECT_EQ(rest["site"]["line"], 12);
  EXPECT_EQ(rest["bytes"], kSize / 2);
  EXPECT_EQ(rest["saves_bytes"], kSize / 2);
  EXPECT_EQ(rest["confidence"], "proved");
  EXPECT_EQ(rest["evidence"]["touched_bytes"], kSize / 2);
  EXPECT_TRUE(of("overallocated").is_null());
}

// The program itself frees the unused rest: by a realloc, or by a copy to a smaller block.
TEST_F(Touched, WhatIsGivenBackIsNone) {
  const auto grown = [&](uint64_t at, uint64_t address) {
    return std::vector{born(at, address + 1, kSize / 2),
                       dies(at + 1, address + 1, abi::kRealloc),
                       born(at + 2, address, kSize, kReallocated),
                       looked(at + 3, address, kSize, at + 2, kSize / 2),
                       lookedAtAll(at + 3),
                       lookedAtLast(at + 4, address, kSize, at + 2, kSize / 2)};
  };
  std::vector<StreamEvent> list = grown(10, 1), copied = grown(30, 4);
  list.push_back(dies(15, 1, abi::kRealloc));
  list.push_back(born(16, 3, kSize / 2, kReallocated));
  list.push_back(dies(17, 3));
  list.insert(list.end(), copied.begin(), copied.end());
  list.push_back(born(35, 7, kSize / 2));
  list.push_back(test::copy(kStart + 36, uint64_t{7} << 24, uint64_t{4} << 24, {.heap = abi::Heap::Host}, kSize / 2));
  list.push_back(dies(37, 4));
  list.push_back(dies(90, 7));
  run(list);
  EXPECT_TRUE(of("capacity").is_null()) << report["findings"];
}

// At the peak, block 2 is alive. The second realloc frees block 2 before the collector reads its pages. The touched
// bytes of block 3 are known. Block 3 has the content of block 2, so block 2 had no more touched bytes.
TEST_F(Touched, AFormerBlockHadTheSameCapacity) {
  run({born(10, 1, kSize / 4), dies(11, 1, abi::kRealloc), born(12, 2, kSize, kReallocated), born(13, 9, kSize, kOther),
       dies(14, 9), dies(15, 2, abi::kRealloc), born(16, 3, kSize + kSize / 2, kReallocated),
       looked(20, 3, kSize + kSize / 2, 16, kSize / 4), lookedAtAll(20),
       lookedAtLast(99, 3, kSize + kSize / 2, 16, kSize / 4), dies(100, 3)});
  const json rest = of("capacity");
  ASSERT_FALSE(rest.is_null()) << report["findings"];
  EXPECT_EQ(rest["bytes"], kSize + kSize / 4) << "of the last block";
  EXPECT_EQ(rest["count"], 1);
  EXPECT_EQ(rest["saves_bytes"], kSize - kSize / 4) << "at the peak";
}

TEST_F(Touched, WhatAReallocMadeSmallerHasNone) {
  run({born(10, 1, 2 * kSize), dies(15, 1, abi::kRealloc), born(16, 2, kSize, kReallocated),
       looked(20, 2, kSize, 16, kSize / 2), lookedAtAll(20), lookedAtLast(99, 2, kSize, 16, kSize / 2), dies(100, 2)});
  EXPECT_TRUE(of("capacity").is_null()) << report["findings"];
}

// A container allocates a larger block at the same place, and then frees its smaller block.
TEST_F(Touched, AGrowingContainerHasCapacity) {
  run({born(10, 1, kSize / 2), born(15, 2, kSize), dies(16, 1), looked(20, 2, kSize, 15, kSize / 2), lookedAtAll(20),
       lookedAtLast(99, 2, kSize, 15, kSize / 2), dies(100, 2)});
  EXPECT_EQ(of("capacity")["bytes"], kSize / 2) << report["findings"];
  EXPECT_TRUE(of("overallocated").is_null());
}

// The container grows at another place. So only the copy shows that block 2 replaced block 1.
TEST_F(Touched, AContainerThatGrowsElsewhereHasCapacity) {
  run({born(10, 1, kSize / 2), born(15, 2, kSize, kOther),
       test::copy(kStart + 16, uint64_t{2} << 24, uint64_t{1} << 24, {.heap = abi::Heap::Host}, kSize / 2), dies(17, 1),
       looked(20, 2, kSize, 15, kSize / 2), lookedAtAll(20), lookedAtLast(99, 2, kSize, 15, kSize / 2), dies(100, 2)});
  EXPECT_EQ(of("capacity")["bytes"], kSize / 2) << report["findings"];
  EXPECT_TRUE(of("overallocated").is_null());
}

TEST_F(Touched, WhatWaitsForItsFirstTouchIsEarly) {
  run({born(10, 1, kSize), looked(20, 1, kSize, 10, 0), lookedAtAll(20), born(30, 2, kSize, kOther),
       looked(35, 2, kSize, 30, kSize), lookedAtAll(40), dies(50, 2), lookedAtAll(60), looked(70, 1, kSize, 10, kSize),
       lookedAtAll(70), dies(100, 1)});
  const json early = of("early-allocation");
  ASSERT_FALSE(early.is_null()) << report["findings"];
  EXPECT_EQ(early["site"]["line"], 12);
  EXPECT_EQ(early["saves_bytes"], kSize);
  EXPECT_EQ(early["confidence"], "proved");
  EXPECT_EQ(early["evidence"]["idle_ns"], 60 - 10) << "until the last look that found nothing";
  EXPECT_TRUE(of("unused").is_null());
  EXPECT_TRUE(of("overallocated").is_null());
}

TEST_F(Touched, WaitingThatNoPeakSeesIsNothing) {
  run({born(10, 1, kSize), looked(20, 1, kSize, 10, 0), lookedAtAll(60), looked(70, 1, kSize, 10, kSize),
       lookedAtAll(70), born(80, 2, kSize, kOther), dies(90, 2), lookedAtAll(99), dies(100, 1)});
  EXPECT_TRUE(of("early-allocation").is_null()) << report["findings"];
}

TEST_F(Touched, AnotherBlockAtTheAddressIsNotMeant) {
  run({born(10, 1, kSize), dies(15, 1), born(16, 1, kSize), looked(20, 1, kSize, 10, 0), lookedAtAll(99),
       dies(100, 1)});
  EXPECT_TRUE(of("unused").is_null()) << report["findings"];
}

} // namespace
} // namespace msleaks::analysis
