#include "analysis/stream/pipeline.h"

#include "../live/events.h"

#include "msleaks/abi/session.h"

#include <gtest/gtest.h>
#include <string>

namespace msleaks::analysis {
namespace {

// Logs the calls that the pipeline makes, in order.
class Journal final : public Analyzer {
public:
  std::string_view name() const override { return "journal"; }
  uint32_t eventKinds() const override { return abi::enabledBit(abi::EventKind::Free); }
  void onEvent(const StreamEvent &event, SiteId) override { add("event", event.event.header().time); }
  void onAlloc(const Block &, AllocCause, uint64_t time_ns) override { add("alloc", time_ns); }
  void onFree(const Block &, FreeCause cause, uint64_t time_ns) override {
    add(isEnd(cause) ? "left" : "free", time_ns);
  }
  void onProcessEnd(uint32_t process, const ProcessFate &fate) override {
    lines += "end" + std::to_string(process) + "@" + std::to_string(fate.time_ns) + "\n";
  }
  std::string lines;

private:
  void add(const char *what, uint64_t time_ns) { lines += std::string(what) + "@" + std::to_string(time_ns) + "\n"; }
};

class PipelineTest : public testing::Test {
protected:
  Symbolizer symbolizer;
  SiteCatalog catalog{symbolizer};
  Journal journal;
  Pipeline pipeline{catalog, {&journal}};
};

} // namespace

TEST_F(PipelineTest, TellsBlocksBeforeTheirEventAndOnlyWantedKinds) {
  pipeline.apply(msleaks::test::alloc(1, 0x10, 5));
  pipeline.apply(msleaks::test::free(2, 0x10));
  pipeline.finish();
  EXPECT_EQ(journal.lines, "alloc@1\nfree@2\nevent@2\nend1@2\n");
}

TEST_F(PipelineTest, ProcessesEndBetweenEvents) {
  pipeline.expectEnd(1, {FreeCause::ProcessExited, 1'000'000, 0});
  pipeline.apply(msleaks::test::alloc(500, 0x10, 5));
  pipeline.apply(msleaks::test::alloc(5'000'000, 0x10, 5, {.process = 2}));
  pipeline.finish();
  EXPECT_EQ(journal.lines, "alloc@500\nleft@1000000\nend1@1000000\nalloc@5000000\nleft@5000000\nend2@5000000\n");
}

// A session may contain many readings of pointers, which together may need more memory than the machine has. So the
// pipeline loads a reading only when the events reach its time.
TEST_F(PipelineTest, PointersAreReadWhenTheirTimeHasCome) {
  int reads = 0;
  const auto expect = [&](uint64_t time_ns) {
    pipeline.expectPointers(time_ns, [&reads]() -> std::shared_ptr<const PointedMemory> {
      ++reads;
      return nullptr; // as if the chunk with the pointers was damaged
    });
  };
  expect(1'000);
  expect(9'000'000);
  pipeline.apply(msleaks::test::alloc(500, 0x10, 5));
  pipeline.drain();
  EXPECT_EQ(reads, 0);
  pipeline.apply(msleaks::test::alloc(5'000'000, 0x20, 5));
  pipeline.drain();
  EXPECT_EQ(reads, 1);
  pipeline.finish();
  EXPECT_EQ(reads, 2);
}

// The parent process records the end, by its own clock. So the last events of the process may have slightly later
// times. They must be applied before the end.
TEST_F(PipelineTest, LastEventsMayBeLaterThanTheEnd) {
  pipeline.expectEnd(1, {FreeCause::ProcessExited, 1'000'000, 0});
  pipeline.apply(msleaks::test::alloc(500, 0x10, 5));
  pipeline.apply(msleaks::test::free(1'000'700, 0x10));
  pipeline.finish();
  EXPECT_EQ(journal.lines, "alloc@500\nfree@1000700\nevent@1000700\nend1@1000000\n");
}

TEST_F(PipelineTest, EventsLongAfterTheEndAreJudgedAgain) {
  pipeline.expectEnd(1, {FreeCause::ProcessKilled, 1'000, 137});
  pipeline.apply(msleaks::test::alloc(10'000'000, 0x10, 5));
  pipeline.finish();
  EXPECT_EQ(journal.lines, "end1@1000\nalloc@10000000\nleft@1000\nend1@1000\n");
}

TEST_F(PipelineTest, DrainTellsWhatWaits) {
  pipeline.apply(msleaks::test::alloc(1, 0x10, 5));
  EXPECT_EQ(journal.lines, "");
  pipeline.drain();
  EXPECT_EQ(journal.lines, "alloc@1\n");
  for (uint64_t i = 0; i < 100; ++i)
    pipeline.apply(msleaks::test::alloc(10 + i, 0x100 + 16 * i, 1));
  pipeline.drain();
  EXPECT_EQ(pipeline.liveSet().liveBlocks(), 101u);
}

// An analyzer stores its numbers of the peak at the first change after the peak. So when the pipeline reports a new
// block, the peaks must not contain this block yet.
TEST_F(PipelineTest, AnalyzersSeeThePeakBeforeABirth) {
  class Looking final : public Analyzer {
  public:
    std::string_view name() const override { return "looking"; }
    bool usePeaks(const Peaks &of) override {
      peaks = &of;
      return true;
    }
    void onAlloc(const Block &, AllocCause, uint64_t) override { note(); }
    void onFree(const Block &, FreeCause, uint64_t) override { note(); }
    void note() { numbers.push_back(peaks->physical().clock().number()); }
    const Peaks *peaks = nullptr;
    std::vector<uint64_t> numbers;
  } looking;
  Pipeline of_two(catalog, {&looking, &journal});
  of_two.apply(msleaks::test::alloc(1, 0x10, 5));
  of_two.apply(msleaks::test::alloc(2, 0x20, 5));
  of_two.apply(msleaks::test::free(3, 0x10));
  of_two.apply(msleaks::test::alloc(4, 0x30, 1));
  of_two.finish();
  EXPECT_EQ(looking.numbers, (std::vector<uint64_t>{0, 1, 2, 2, 2, 2}));
  EXPECT_EQ(of_two.peaks().physical().clock().bytes(), 10u);
  EXPECT_EQ(of_two.peaks().physical().clock().timeNs(), 2u);
}

TEST_F(PipelineTest, NobodyCountsPeaksThatNoAnalyzerLooksAt) {
  pipeline.apply(msleaks::test::alloc(1, 0x10, 5));
  pipeline.finish();
  EXPECT_EQ(pipeline.peaks().physical().clock().bytes(), 0u);
}

} // namespace msleaks::analysis
