// Tests the second reading of a run, which passes each block to a reader after the report is finished.
#include "analysis/report/block_reader.h"

#include "analysis/live/owners.h"
#include "report_fixture.h"

#include <algorithm>
#include <fmt/format.h>

namespace msleaks::analysis {
namespace {

// Logs what it is told.
class Log final : public BlockReader {
public:
  uint32_t eventKinds() const override { return kinds; }
  bool goesOn() const override { return told.size() < most; }
  void begin(ReadRun &run) override { told.push_back(fmt::format("begin {}", run.report.peak.bytes)); }
  void onAlloc(ReadRun &run, const Block &block, BlockNumber number, AllocCause cause, uint64_t time_ns) override {
    told.push_back(fmt::format("alloc {} {} {} line {} of '{}' cause {}", time_ns - kStart, number, block.size,
                               run.catalog.describe(block.site).line, ownerOf(run.cohorts[block.cohort], run.catalog),
                               static_cast<int>(cause)));
    now += block.bytes();
    highest = std::max(highest, now);
  }
  void onFree(ReadRun &run, const Block &block, BlockNumber number, FreeCause cause, uint64_t time_ns) override {
    told.push_back(fmt::format("free {} {} of '{}' cause {}", time_ns - kStart, number,
                               ownerOf(run.cohorts[block.cohort], run.catalog), static_cast<int>(cause)));
    now -= block.bytes();
  }
  void onEvent(ReadRun &, const StreamEvent &event, SiteId) override {
    told.emplace_back(abi::nameOf(event.event.header().kind));
  }
  void end(ReadRun &) override { told.emplace_back("end"); }

  uint32_t kinds = 0;
  size_t most = SIZE_MAX;
  std::vector<std::string> told;
  uint64_t now = 0, highest = 0;
};

class BlockReaderTest : public ReportTest {
protected:
  void record(const std::vector<StreamEvent> &list) {
    start(1, 4711);
    const std::string label =
        msleaks::analysis::record(abi::DefinitionKind::String, raw(abi::StringDefinition{5, 0}) + "own");
    ASSERT_TRUE(writer->definitions(1, std::as_bytes(std::span(label))));
    events(list);
    end(1, 0, kStart + 900);
    manifest();
    close();
  }
};

TEST_F(BlockReaderTest, KnowsLaterPlacesAndOwnersFromTheBeginning) {
  record({test::alloc(kStart + 100, 0x10, 1000, kOne), test::alloc(kStart + 110, 0x9000, 50, kOne),
          test::free(kStart + 200, 0x9000, kOne), test::alloc(kStart + 300, 0x9000, 70, kOne),
          test::retarget(kStart + 310, 0x9000, kTwo), test::owned(kStart + 320, 0x9000, 5),
          test::free(kStart + 400, 0x9000, kOne)});
  Log log;
  const auto read = readBlocks(run, log);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(log.told, (std::vector<std::string>{"begin 1070", "alloc 100 1 1000 line 12 of '' cause 0",
                                                "alloc 110 2 50 line 12 of '' cause 0", "free 200 2 of '' cause 0",
                                                "alloc 300 3 70 line 3 of 'own' cause 0", "free 400 3 of 'own' cause 0",
                                                "free 900 1 of '' cause 4", "end"}));
  EXPECT_EQ(log.highest, read->peak.bytes);
}

TEST_F(BlockReaderTest, TellsAnEventAfterItsBlocks) {
  record({test::alloc(kStart + 100, 0x10, 1000, kOne), test::make<abi::MarkEvent>(kStart + 150, {}, 5, 0),
          test::alloc(kStart + 160, 0x10, 30, kOne)});
  Log log;
  log.kinds = abi::enabledBit(abi::EventKind::Mark) | abi::enabledBit(abi::EventKind::Alloc);
  size_t again = 0;
  ASSERT_TRUE(readBlocks(run, log, {}, [&] {
    ++again;
    EXPECT_EQ(log.told.size(), 0u);
  }));
  EXPECT_EQ(again, 1u);
  EXPECT_EQ(log.told, (std::vector<std::string>{"begin 1000", "alloc 100 1 1000 line 12 of '' cause 0", "Alloc", "Mark",
                                                "free 160 1 of '' cause 2", "alloc 160 2 30 line 12 of '' cause 0",
                                                "Alloc", "free 900 2 of '' cause 4", "end"}));
}

TEST_F(BlockReaderTest, StopsWhenTheReaderDoes) {
  std::vector<StreamEvent> list;
  for (uint64_t i = 0; i < 100; ++i)
    list.push_back(test::alloc(kStart + 100 + i, 0x1000 * (i + 1), 8, kOne));
  record(list);
  Log log;
  log.most = 5;
  ASSERT_TRUE(readBlocks(run, log));
  const auto allocs =
      std::ranges::count_if(log.told, [](const std::string &line) { return line.starts_with("alloc"); });
  EXPECT_LT(allocs, 40);
}

} // namespace
} // namespace msleaks::analysis
