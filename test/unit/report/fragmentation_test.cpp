// Tests the findings about segments of pools that stay allocated because small parts of them are in use.
#include "report_fixture.h"

#include "analysis/result/pictures.h"

namespace msleaks::analysis {
namespace {

constexpr Where kSegment{.heap = abi::Heap::Device, .site = 1};
constexpr Where kPin{.heap = abi::Heap::Pool, .flags = abi::kFromHook, .site = abi::kCallerSite};

class Fragmentation : public ReportTest {
protected:
  void SetUp() override {
    ReportTest::SetUp();
    start(1, 4711);
  }
  void alloc(uint64_t address, uint64_t bytes, const Where &where) {
    list.push_back(test::alloc(kStart + ++ms * kMs, address * kMiB, bytes, where));
  }
  void free(uint64_t address, const Where &where) {
    list.push_back(test::free(kStart + ++ms * kMs, address * kMiB, where));
  }
  void finish() {
    events(list);
    end(1, 0, kStart + ++ms * kMs);
    manifest();
    close();
    report = asJson();
  }
  json segments() const {
    for (const json &section : report["sections"])
      if (section["name"] == "segments")
        return section["rows"];
    return {};
  }
  json finding() const {
    for (const json &finding : report["findings"])
      if (finding["kind"] == "fragmentation")
        return finding;
    return {};
  }
  // Allocates a segment of 20 MiB at address 100 MiB. At first 11 MiB of it are used, later only 1 MiB at address 110
  // MiB.
  void leaveOnePart() {
    alloc(100, 20 * kMiB, kSegment);
    alloc(100, 10 * kMiB, kPart);
    alloc(110, 1 * kMiB, kPin);
    free(100, kPart);
  }
  std::vector<StreamEvent> list;
  uint64_t ms = 0;
  json report;
};

} // namespace

TEST_F(Fragmentation, SavesWhatIsFreeWhileLittleIsInUse) {
  leaveOnePart();
  alloc(200, 30 * kMiB, kSegment); // the peak: 50 MiB
  alloc(200, 30 * kMiB, kPart);
  finish();
  const json found = finding();
  ASSERT_FALSE(found.is_null()) << report["findings"];
  EXPECT_EQ(found["confidence"], "hint");
  for (const json &other : report["findings"])
    EXPECT_FALSE(other["kind"] == "peak" && other["heap"] == "device") << "it says less of the same place";
  EXPECT_EQ(found["bytes"], 19 * kMiB);
  EXPECT_EQ(found["count"], 1);
  EXPECT_EQ(found["heap"], "device");
  EXPECT_EQ(found["saves_bytes"], 19 * kMiB) << "what is in use would be elsewhere";
  EXPECT_EQ(found["site"]["line"], 12);
  EXPECT_EQ(found["evidence"]["segment_bytes"], 20 * kMiB);
  EXPECT_EQ(found["evidence"]["used_at_peak_bytes"], kMiB);
  EXPECT_EQ(found["evidence"]["parts_at_peak"], 1);
  EXPECT_EQ(found["evidence"]["largest_hole_bytes"], 10 * kMiB);
  EXPECT_EQ(found["evidence"]["pinned_by"], "/nowhere/libx.so+0x123");
  ASSERT_EQ(segments().size(), 1u) << "the other one was none yet";
  EXPECT_EQ(segments()[0][1], 20 * kMiB);
  EXPECT_EQ(segments()[0][2], kMiB);
  EXPECT_EQ(segments()[0][3], 19 * kMiB);
  EXPECT_EQ(segments()[0][4], 10 * kMiB);
  EXPECT_EQ(segments()[0][5]["library"], "/nowhere/libx.so");
}

TEST_F(Fragmentation, SavesNoMoreThanThePeakFallsBy) {
  leaveOnePart();
  alloc(200, 30 * kMiB, kSegment); // now 50 MiB are allocated
  free(200, kSegment);
  alloc(105, 8 * kMiB, kPart);     // 8 MiB of the segment are in use again
  alloc(300, 25 * kMiB, kSegment); // now 45 MiB are allocated, and the segment is needed
  finish();
  EXPECT_EQ(finding()["bytes"], 19 * kMiB);
  EXPECT_EQ(finding()["saves_bytes"], 5 * kMiB);
}

TEST_F(Fragmentation, IsNotWhatIsInUseAtThePeak) {
  alloc(100, 20 * kMiB, kSegment);
  alloc(100, 10 * kMiB, kPart); // half of the segment is in use at the peak
  alloc(200, 30 * kMiB, kSegment);
  free(200, kSegment);
  alloc(110, 1 * kMiB, kPin);
  free(100, kPart); // the segment is nearly empty only after the peak
  finish();
  EXPECT_TRUE(finding().is_null()) << finding();
  ASSERT_EQ(segments().size(), 1u);
  EXPECT_EQ(segments()[0][2], 10 * kMiB) << "as it was at the peak";
}

TEST_F(Fragmentation, IsNotWhatWasNeverFull) {
  alloc(100, 20 * kMiB, kSegment);
  alloc(100, 1 * kMiB, kPart);
  alloc(200, 30 * kMiB, kSegment);
  finish();
  EXPECT_TRUE(finding().is_null()) << finding();
}

TEST_F(Fragmentation, IsNotWhatWasGivenBackBeforeThePeak) {
  leaveOnePart();
  free(110, kPin);
  free(100, kSegment);
  alloc(200, 30 * kMiB, kSegment);
  alloc(200, 30 * kMiB, kPart);
  finish();
  EXPECT_TRUE(finding().is_null()) << finding();
}

TEST_F(Fragmentation, AnEmptySegmentIsPinnedByNothing) {
  leaveOnePart();
  free(110, kPin);
  alloc(200, 30 * kMiB, kSegment);
  finish();
  EXPECT_EQ(finding()["saves_bytes"], 19 * kMiB) << "the last part was there until behind the first of the time";
  EXPECT_EQ(finding()["evidence"]["parts_at_peak"], 0);
  EXPECT_FALSE(finding()["evidence"].contains("pinned_by"));
  EXPECT_TRUE(segments()[0][5].is_null());
}

// The place of a segment tells only which part did not fit into the other segments.
TEST_F(Fragmentation, ALargePartStandsOutAndItsSegmentDoesNot) {
  constexpr Where kWhole{.heap = abi::Heap::Device, .site = 3};
  alloc(100, 20 * kMiB, kSegment);
  alloc(100, 18 * kMiB, kPart);
  alloc(200, 20 * kMiB, kWhole);
  free(100, kPart);
  free(100, kSegment);
  free(200, kWhole);
  finish();
  std::set<std::pair<std::string, uint64_t>> found;
  for (const json &finding : report["findings"])
    if (finding["kind"] == "peak")
      found.emplace(finding["heap"], finding["bytes"]);
  EXPECT_EQ(found, (std::set<std::pair<std::string, uint64_t>>{{"pool", 18 * kMiB}, {"device", 20 * kMiB}}));
}

// A cell of a segment of 20 MiB has 80 KiB. The part of 1 MiB at byte 10 MiB begins in cell 128 and ends in cell 140.
TEST_F(Fragmentation, APageDrawsTheSegmentsByAddress) {
  alloc(200, 30 * kMiB, kSegment);
  alloc(200, 30 * kMiB, kPart);
  leaveOnePart();
  alloc(400, kMiB, kSegment); // the peak
  finish();
  ReportQuestion question;
  question.wants_pictures = true;
  const auto drawn = analyzeRun(run, question);
  ASSERT_TRUE(drawn && drawn->pictures);
  const SegmentMaps &pools = drawn->pictures->pools;
  EXPECT_EQ(pools.segments_in_all, 2u);
  ASSERT_EQ(pools.segments.size(), 2u);
  const SegmentMap &low = pools.segments[0], &full = pools.segments[1];
  EXPECT_EQ(low.address, 100 * kMiB);
  EXPECT_EQ(low.pid, 4711u);
  EXPECT_EQ(low.used_bytes, kMiB);
  uint64_t used = 0, cells = 0, first_used = 0;
  for (const SegmentMap::Run &drawn_run : low.runs) {
    if (used == 0 && drawn_run.used_bytes != 0)
      first_used = cells;
    used += drawn_run.used_bytes;
    cells += drawn_run.cells;
  }
  EXPECT_EQ(used, kMiB);
  EXPECT_EQ(cells, SegmentMap::kCells);
  EXPECT_EQ(first_used, 128u);
  ASSERT_EQ(full.runs.size(), 1u) << "cells that look the same are one run";
  EXPECT_EQ(full.runs[0].used_bytes, 30 * kMiB);
  EXPECT_EQ(pools.places.at(full.runs[0].place)->line, 3u);
  EXPECT_EQ(pools.places.at(full.place)->line, 12u);
}

} // namespace msleaks::analysis
