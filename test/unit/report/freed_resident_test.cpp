// Tests the finding about freed memory that stays resident.
#include "report_fixture.h"

#include "msleaks/abi/sampled_block.h"

namespace msleaks::analysis {
namespace {

constexpr uint64_t kSecond = 1'000'000'000, kHeap = uint64_t{1} << 32, kPage = 4096;
constexpr uint64_t kBlocks = 8192, kBytes = 2 * kPage - 16; // a block has two pages, with what malloc adds
constexpr uint64_t kAll = kBlocks * 2 * kPage;

class FreedResident : public ReportTest {
protected:
  // The whole life of the process is eight seconds. All blocks fill the heap, and most are freed.
  struct Wish {
    uint64_t kept_one_in = 16, freed_s = 2;
    uint64_t first_look_s = 3, last_look_s = 7; // one look each second
    uint64_t resident_bytes = kAll;             // of the heap, at each look
    uint64_t last_resident_bytes = kAll;        // at the last look
    uint64_t bits = 0;                          // more bits of each look
    uint64_t process_mib = 80;
    bool pauses = false;
  };
  static uint64_t blockAt(uint64_t number) { return kHeap + number * 2 * kPage + 16; }
  static StreamEvent looked(uint64_t time_ns, uint64_t resident, uint64_t bits) {
    abi::PagesEvent pages{};
    pages.header = {abi::EventKind::Pages, abi::Heap::Host, 0, 0, 0, time_ns};
    pages.address = kHeap;
    pages.size = kAll;
    pages.continuation = abi::kContinuationTag;
    pages.touched = resident;
    pages.at_exit = abi::kPagesOfHeap | 12 << abi::kPageShiftBit | bits;
    return {1, abi::kCollectorStream, abi::AnyEvent::from(pages)};
  }
  json run(const Wish &wish) {
    std::vector<StreamEvent> list;
    for (uint64_t i = 0; i < kBlocks; ++i)
      list.push_back(test::alloc(kStart + i, blockAt(i), kBytes, i % 4 == 3 ? kTwo : kOne));
    if (wish.pauses)
      list.push_back(
          {kSessionProcess, 0,
           abi::AnyEvent::from(abi::EpochEvent{{abi::EventKind::Epoch, {}, 0, 0, 0, kStart + kBlocks}, 1, 0})});
    for (uint64_t i = 0; i < kBlocks; ++i)
      if (wish.kept_one_in == 0 || i % wish.kept_one_in != 0)
        list.push_back(test::free(kStart + wish.freed_s * kSecond + i, blockAt(i)));
    for (uint64_t at = wish.first_look_s; at <= wish.last_look_s; ++at) {
      const bool is_last = at == wish.last_look_s;
      list.push_back(
          looked(kStart + at * kSecond, is_last ? wish.last_resident_bytes : wish.resident_bytes, wish.bits));
    }
    start(1, 4711);
    std::stable_sort(list.begin(), list.end(), [](const StreamEvent &a, const StreamEvent &b) {
      return a.event.header().time < b.event.header().time;
    });
    events(list);
    const ResidentSample samples[] = {{1, kStart + 1, wish.process_mib * kMiB, kMiB}};
    EXPECT_TRUE(writer->resident(samples));
    end(1, 0, kStart + 8 * kSecond);
    manifest();
    close();
    return findingOf(asJson(), "resident");
  }
};

TEST_F(FreedResident, IsWhatNoLiveBlockUses) {
  const json finding = run({});
  ASSERT_FALSE(finding.is_null());
  // A kept block has two pages. The next page contains the head of a free chunk.
  constexpr uint64_t kKept = kBlocks / 16;
  EXPECT_EQ(finding["bytes"], kAll - kKept * 3 * kPage);
  EXPECT_EQ(finding["site"]["line"], 12);
  EXPECT_EQ(finding["confidence"], "likely");
  EXPECT_EQ(finding["saves_bytes"], 0);
  EXPECT_EQ(finding["evidence"]["main_arena_bytes"], finding["bytes"]);
  EXPECT_EQ(finding["evidence"]["main_arena_end_bytes"], 29 * kPage);
  EXPECT_EQ(finding["evidence"]["unused_resident_bytes"], kAll - kKept * 2 * kPage);
  EXPECT_EQ(finding["evidence"]["idle_ns"], 4 * kSecond);
}

// Freed memory is no part of the peak.
TEST_F(FreedResident, ReplacesNoOtherFinding) {
  run({});
  EXPECT_FALSE(findingOf(asJson(), "peak").is_null());
}

TEST_F(FreedResident, IsOnlyTheResidentPart) {
  const json finding = run({.resident_bytes = kAll / 2, .last_resident_bytes = kAll / 2});
  ASSERT_FALSE(finding.is_null());
  EXPECT_EQ(finding["bytes"], kAll / 2 - kBlocks / 16 * 3 * kPage);
}

TEST_F(FreedResident, OfOtherArenasIsNamedAsSuch) {
  const json finding = run({.bits = abi::kPagesOfArena});
  ASSERT_FALSE(finding.is_null());
  EXPECT_EQ(finding["evidence"]["main_arena_bytes"], 0);
  EXPECT_EQ(finding["evidence"]["other_arenas_bytes"], finding["bytes"]);
  EXPECT_NE(finding["advice"].get<std::string>().find("MALLOC_ARENA_MAX"), std::string::npos);
}

TEST_F(FreedResident, ThatIsGivenBackIsNone) { EXPECT_TRUE(run({.last_resident_bytes = 2 * kMiB}).is_null()); }

// The last second is an eighth of the life. A program may free everything before its end.
TEST_F(FreedResident, JustBeforeTheEndDoesNotCount) {
  EXPECT_TRUE(run({.first_look_s = 7, .last_look_s = 8}).is_null());
}

TEST_F(FreedResident, ThatIsGivenBackJustBeforeTheEndCounts) {
  EXPECT_FALSE(run({.last_look_s = 8, .last_resident_bytes = 0}).is_null());
}

TEST_F(FreedResident, ForAShortTimeIsNone) { EXPECT_TRUE(run({.first_look_s = 7, .last_look_s = 7}).is_null()); }

// The looks from the second 3 on find live blocks.
TEST_F(FreedResident, ThatWasFreedJustBeforeIsNone) { EXPECT_TRUE(run({.freed_s = 7}).is_null()); }

TEST_F(FreedResident, OfASmallPartOfTheProcessIsNone) { EXPECT_TRUE(run({.process_mib = 600}).is_null()); }

TEST_F(FreedResident, WithPausesOfTheRecordingIsNotKnown) { EXPECT_TRUE(run({.pauses = true}).is_null()); }

} // namespace
} // namespace msleaks::analysis
