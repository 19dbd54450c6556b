// Tests reports of runs that are large, or whose places have unusual names.
#include "report_fixture.h"

#include "analysis/base/text.h"

#include <gmock/gmock.h>

namespace msleaks::analysis {
namespace {

class LargeReports : public ReportTest {
protected:
  // Starts process 1 with this site table.
  void startWith(test::TableBytes table) {
    ASSERT_TRUE(writer->processStart({1, 4711, 1, kStart, 0, {"/bin/net"}}));
    abi::ImageDefinition image{};
    image.image = 1;
    const auto bytes = table.build();
    const std::string unit(reinterpret_cast<const char *>(bytes.data()), bytes.size());
    const std::string records = record(abi::DefinitionKind::Image, raw(image) + "/bin/net") +
                                record(abi::DefinitionKind::Unit, raw(abi::UnitDefinition{1, 1}) + unit);
    ASSERT_TRUE(writer->definitions(1, std::as_bytes(std::span(records))));
  }
  void endRun() {
    end(1, 0, kStart + 1'000'000'000);
    manifest();
    close();
  }
  static abi::SiteRow rowOf(test::TableBytes &table, const std::string &file, uint32_t line,
                            const std::string &function) {
    abi::SiteRow row{};
    row.id = line;
    row.file = table.text(file);
    row.line = line;
    row.function = table.text(function);
    row.callee = table.text("malloc");
    return row;
  }
};

TEST_F(LargeReports, AHundredThousandSites) {
  constexpr uint32_t kSites = 100'000;
  test::TableBytes table;
  for (uint32_t site = 1; site <= kSites; ++site)
    table.rows.push_back(rowOf(table, "src/net.cpp", site, "f" + std::to_string(site)));
  startWith(std::move(table));
  std::vector<StreamEvent> list;
  for (uint32_t site = 1; site <= kSites; ++site)
    list.push_back(test::alloc(kStart + site, uint64_t{site} * 0x100000, site, {.site = site}));
  events(list);
  endRun();
  const Report found = report();
  EXPECT_EQ(found.leaks.sum.bytes, uint64_t{kSites} * (kSites + 1) / 2);
  EXPECT_EQ(found.leaks.sum.count, kSites);
  ASSERT_EQ(found.leaks.by_site.size(), kSites);
  EXPECT_EQ(found.leaks.by_site[0].bytes, kSites); // the largest place is first
  EXPECT_EQ(found.findings.size(), 1000u);         // the limit in docs/report.md
  EXPECT_EQ(found.findings[0].site.line, kSites);
  std::ostringstream text;
  writeReportTable(text, found, {.columns = 80, .top = 3});
  EXPECT_THAT(text.str(), testing::HasSubstr("net.cpp:100000"));
  const std::string all = text.str();
  EXPECT_LT(std::count(all.begin(), all.end(), '\n'), 100);
}

TEST_F(LargeReports, OddNames) {
  const std::string odd[] = {"with\ttab",
                             "with\nnewline",
                             "\x1b[2Jclears",
                             std::string(4096, 'x'),
                             "\xe5\xbc\xa0\xe9\x87\x8f", // wide characters: tensor in Chinese
                             "e\xcc\x81",
                             "\xff\xfe", // invalid UTF-8; the name above has a combining character
                             "quote\"back\\slash",
                             "::",
                             ""};
  test::TableBytes table;
  uint32_t line = 0;
  for (const std::string &name : odd)
    table.rows.push_back(rowOf(table, "src/" + name + ".cpp", ++line, name));
  startWith(std::move(table));
  std::vector<StreamEvent> list;
  for (uint32_t site = 1; site <= std::size(odd); ++site)
    list.push_back(test::alloc(kStart + site, uint64_t{site} * 0x10000, 1000 - site, {.site = site}));
  events(list);
  endRun();
  EXPECT_EQ(asJson()["leaks"]["by_site"].size(), std::size(odd));
  for (const size_t columns : {50, 61, 80, 132, 200}) {
    std::istringstream lines(asTable(columns, 20));
    for (std::string shown; std::getline(lines, shown);) {
      EXPECT_EQ(shown.find_first_of("\t\x1b"), std::string::npos) << shown;
      EXPECT_LE(widthOf(shown), columns) << shown;
    }
  }
}

// Frees without an allocation, and repeated frees, do not change the live blocks.
TEST_F(LargeReports, FreesThatAreNoneOrTwo) {
  start(1, 4711);
  const Where where{.site = 1};
  events({test::alloc(kStart + 1, 0x10, 100, where), test::free(kStart + 2, 0x10, where),
          test::free(kStart + 3, 0x10, where), test::free(kStart + 4, 0x999, where),
          test::alloc(kStart + 5, 0x10, 7, where), test::alloc(kStart + 6, 0x10, 9, where)});
  endRun();
  const json report = asJson();
  EXPECT_EQ(report["leaks"]["bytes"], 9); // the free of the block of 7 bytes was not recorded
  EXPECT_EQ(report["peak"]["bytes"], 100);
}

TEST_F(LargeReports, ARunWithoutFrees) {
  start(1, 4711);
  std::vector<StreamEvent> list;
  for (uint64_t i = 1; i <= 1000; ++i)
    list.push_back(test::alloc(kStart + i, i * 64, 10, {.site = 1}));
  events(list);
  endRun();
  const json report = asJson();
  EXPECT_EQ(report["leaks"]["bytes"], 10'000);
  EXPECT_EQ(report["peak"]["bytes"], 10'000);
  ASSERT_EQ(report["findings"].size(), 1u);
  EXPECT_EQ(report["findings"][0]["saves_bytes"], 10'000);
}

} // namespace
} // namespace msleaks::analysis
