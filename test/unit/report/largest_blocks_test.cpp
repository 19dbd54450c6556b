// Tests what the page of a report shows besides the report: the largest blocks, and the curves of findings.
#include "report_fixture.h"

#include <fmt/format.h>

namespace msleaks::analysis {
namespace {

class LargestBlocks : public ReportTest {
protected:
  Report finish() {
    end(1, 0, kStart + 1000);
    manifest();
    close();
    ReportQuestion question;
    question.wants_series = question.wants_blocks = true;
    auto report = analyzeRun(run, question);
    EXPECT_TRUE(report) << report.error().message;
    return report ? std::move(*report) : Report{};
  }
  // Returns bytes, begin, end and "freed" of each block, as text.
  static std::vector<std::string> blocksOf(const Report &report) {
    std::vector<std::string> blocks;
    for (const Section &section : report.sections)
      if (section.name == "largest_blocks")
        for (const std::vector<Cell> &row : section.rows)
          blocks.push_back(fmt::format("{} {} to {} {}", std::get<uint64_t>(row[2]), std::get<uint64_t>(row[3]),
                                       std::get<uint64_t>(row[4]), std::get<std::string>(row[5])));
    return blocks;
  }
};

TEST_F(LargestBlocks, LivedFromTheirAllocationToTheirFreeOrTheEnd) {
  start(1, 4711);
  events({test::alloc(kStart + 10, 0x1000, 300, kOne), test::alloc(kStart + 20, 0x2000, 500, kTwo),
          test::free(kStart + 60, 0x2000, kTwo), test::alloc(kStart + 70, 0x3000, 300, kOne)});
  const Report report = finish();
  EXPECT_EQ(blocksOf(report), (std::vector<std::string>{"500 20 to 60 yes", "300 10 to 1000 no", "300 70 to 1000 no"}));
}

TEST_F(LargestBlocks, AreTheLargestOfAll) {
  start(1, 4711);
  std::vector<StreamEvent> list;
  uint64_t now = kStart;
  for (uint64_t i = 0; i < 1000; ++i) {
    list.push_back(test::alloc(++now, 0x10000 + (i << 12), 1 + (i * 7) % 1000, kOne)); // each size from 1 to 1000 once
    list.push_back(test::free(++now, 0x10000 + (i << 12), kOne));
  }
  events(list);
  const std::vector<std::string> blocks = blocksOf(finish());
  ASSERT_EQ(blocks.size(), 200u);
  EXPECT_TRUE(blocks.front().starts_with("1000 ")) << blocks.front();
  EXPECT_TRUE(blocks.back().starts_with("801 ")) << blocks.back();
}

// A later block may have the number of an earlier one.
TEST_F(LargestBlocks, HaveTheirOwnUses) {
  constexpr Where kDevice{.heap = abi::Heap::Device, .site = 1};
  start(1, 4711);
  events({test::alloc(kStart + 10, 0x1000, 500, kDevice), test::access(kStart + 20, 0x1000),
          test::access(kStart + 30, 0x1000), test::access(kStart + 40, 0x1000),
          test::free(kStart + 50, 0x1000, kDevice), test::alloc(kStart + 60, 0x1000, 300, kDevice),
          test::free(kStart + 70, 0x1000, kDevice)});
  const Report report = finish();
  const auto section = std::ranges::find(report.sections, "largest_blocks", &Section::name);
  ASSERT_NE(section, report.sections.end());
  ASSERT_EQ(section->rows.size(), 2u);
  const std::vector<Cell> &used = section->rows[0], &unused = section->rows[1];
  EXPECT_EQ(std::get<uint64_t>(used[6]), 20u);
  EXPECT_EQ(std::get<uint64_t>(used[7]), 40u);
  EXPECT_TRUE(std::holds_alternative<std::monostate>(unused[6]));
  EXPECT_TRUE(std::holds_alternative<std::monostate>(unused[7]));
}

TEST_F(LargestBlocks, AreNoPartsOfPools) {
  start(1, 4711);
  events({test::alloc(kStart + 10, 0x1000, 300, kOne), test::alloc(kStart + 20, 0x1010, 100, kPart)});
  EXPECT_EQ(blocksOf(finish()), (std::vector<std::string>{"300 10 to 1000 no"}));
}

TEST_F(LargestBlocks, AFindingHasACurveOfTheBytesThatItsFixRemoves) {
  start(1, 4711);
  events({test::alloc(kStart + 10, 0x1000, 3000, kOne), test::alloc(kStart + 20, 0x2000, 500, kTwo),
          test::free(kStart + 30, 0x2000, kTwo), test::alloc(kStart + 40, 0x3000, 3000, kOne)});
  const Report report = finish();
  ASSERT_FALSE(report.findings.empty());
  const Finding &leak = report.findings.front();
  ASSERT_EQ(leak.kind, "leak");
  ASSERT_TRUE(report.series);
  std::vector<uint64_t> total, removed;
  for (const Series::Curve &curve : report.series->curves)
    if (curve.by == "total")
      total = curve.bytes;
    else if (curve.by == "finding" && curve.name == leak.id)
      removed = curve.bytes;
  EXPECT_EQ(total, (std::vector<uint64_t>{3500, 6000}));
  EXPECT_EQ(removed, (std::vector<uint64_t>{3000, 6000}));
}

} // namespace
} // namespace msleaks::analysis
