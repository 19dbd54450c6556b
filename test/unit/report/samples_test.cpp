// Tests the finding about many small blocks of one place, if a sample of them holds little but zeros.
#include "report_fixture.h"

#include "msleaks/abi/sampled_block.h"

namespace msleaks::analysis {
namespace {

constexpr uint64_t kBlocks = 40, kBytes = 16 << 10, kNeeded = 1 << 10;

class Samples : public ReportTest {
protected:
  static uint64_t addressOf(uint64_t number) { return (number + 1) << 24; }
  static uint64_t birthOf(uint64_t number) { return kStart + 10 + number; }
  static StreamEvent looked(uint64_t time_ns, uint64_t number, uint64_t bytes, uint64_t needed, uint64_t what) {
    abi::PagesEvent pages{};
    pages.header = {abi::EventKind::Pages, abi::Heap::Host, 0, 0, 0, time_ns};
    pages.address = addressOf(number);
    pages.size = bytes;
    pages.continuation = abi::kContinuationTag;
    pages.allocated_ns = birthOf(number);
    pages.touched = needed;
    pages.at_exit = what;
    return {1, abi::kCollectorStream, abi::AnyEvent::from(pages)};
  }
  // All blocks are of one place, alive at the same time, and freed. The last look at the first `sampled` blocks finds
  // `needed` bytes; a look before it finds `before`.
  struct Wish {
    uint64_t sampled = 10, needed = kNeeded, before = 0;
    uint64_t last_bits = abi::kPagesOfSample | abi::kPagesLast;
    uint64_t bytes = kBytes, larger_bytes = 0;
    Where at = kOne;
  };
  json run(const Wish &wish) {
    std::vector<StreamEvent> list;
    for (uint64_t i = 0; i < kBlocks; ++i)
      list.push_back(test::alloc(birthOf(i), addressOf(i), wish.bytes, wish.at));
    if (wish.larger_bytes != 0)
      list.push_back(test::alloc(kStart + 60, addressOf(kBlocks), wish.larger_bytes, wish.at));
    for (uint64_t i = 0; i < wish.sampled && wish.before != 0; ++i)
      list.push_back(looked(kStart + 100 + i, i, wish.bytes, wish.before, abi::kPagesOfSample));
    for (uint64_t i = 0; i < kBlocks; ++i) {
      if (i < wish.sampled)
        list.push_back(looked(kStart + 200 + 2 * i, i, wish.bytes, wish.needed, wish.last_bits));
      list.push_back(test::free(kStart + 201 + 2 * i, addressOf(i), wish.at));
    }
    start(1, 4711, kStart, "/usr/lib/libclosed.so.1");
    const PathEntry paths[] = {{2, abi::kPathBegin, abi::kImageOfSite, 1}, {3, 2, 2, 0x9010}};
    EXPECT_TRUE(writer->paths(1, paths));
    events(list);
    end(1, 0, kStart + 1000);
    manifest();
    close();
    return findingOf(asJson(), "overallocated");
  }
};

TEST_F(Samples, OfAPlaceSayWhatItsBlocksDoNotNeed) {
  const json finding = run({});
  ASSERT_FALSE(finding.is_null());
  constexpr uint64_t kZeros = kBlocks * (kBytes - kNeeded);
  EXPECT_EQ(finding["site"]["line"], 12);
  EXPECT_EQ(finding["confidence"], "hint");
  EXPECT_EQ(finding["bytes"], kZeros);
  EXPECT_EQ(finding["count"], kBlocks);
  EXPECT_EQ(finding["saves_bytes"], kZeros);
  EXPECT_EQ(finding["evidence"]["sampled_blocks"], 10);
  EXPECT_EQ(finding["evidence"]["block_bytes"], kBytes);
  EXPECT_EQ(finding["evidence"]["needed_bytes"], kNeeded);
  EXPECT_FALSE(finding["evidence"].contains("touched_bytes")) << "nobody knows what was touched";
}

TEST_F(Samples, ThatAreFewSayNothing) { EXPECT_TRUE(run({.sampled = 7}).is_null()); }

TEST_F(Samples, OfWhichMoreThanHalfIsNeededAreNone) { EXPECT_TRUE(run({.needed = kBytes / 2 + 8}).is_null()); }

// The program clears the blocks before it frees them.
TEST_F(Samples, ThatAnEarlierLookFoundFullAreNeeded) { EXPECT_TRUE(run({.before = kBytes}).is_null()); }

// A block may be filled after such a look.
TEST_F(Samples, WithoutALastLookSayNothing) { EXPECT_TRUE(run({.last_bits = abi::kPagesOfSample}).is_null()); }

TEST_F(Samples, SayNothingOfMuchLargerBlocks) { EXPECT_TRUE(run({.larger_bytes = 3 * kBytes}).is_null()); }

TEST_F(Samples, ThatSaveLittleAreNone) { EXPECT_TRUE(run({.needed = 100, .bytes = 1600}).is_null()); }

// The user cannot change how much the library asks for.
TEST_F(Samples, OfAClosedLibrarySayNothing) {
  EXPECT_TRUE(run({.at = {.flags = abi::kFromHook, .site = abi::kPathSite | 3}}).is_null());
}

// For large blocks, the page tables show what was touched. So the finding is no hint.
TEST_F(Samples, AreNoTouchedPages) {
  const json finding = run({.last_bits = abi::kPagesLast});
  ASSERT_FALSE(finding.is_null());
  EXPECT_EQ(finding["confidence"], "proved");
  EXPECT_FALSE(finding["evidence"].contains("sampled_blocks"));
}

} // namespace
} // namespace msleaks::analysis
