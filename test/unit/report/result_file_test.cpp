// Tests the reader of result files: a report as JSON. Each report of the other tests is read back, too (ReportTest).
#include "report_fixture.h"

#include <gmock/gmock.h>
#include <random>

namespace msleaks::analysis {
namespace {

class ResultFile : public ReportTest {
protected:
  void SetUp() override {
    ReportTest::SetUp();
    start(1, 4711);
    events({test::alloc(100, 0x1000, 300, kOne), test::alloc(200, 0x2000, 40, kTwo), test::free(300, 0x2000)});
    end(1, 0, kStart + 1'000);
    manifest();
    close();
    whole = asJson();
  }
  // Returns the error of reading this text, or an empty string.
  std::string errorOf(const std::string &text) const {
    const std::filesystem::path file = base / "other.json";
    std::ofstream(file, std::ios::binary) << text;
    const auto report = readReportJson(file);
    return report ? "" : report.error().message;
  }
  std::string errorOf(const json &other) const { return errorOf(other.dump()); }

  json whole;
};

} // namespace

TEST_F(ResultFile, OfANewerVersionIsRefused) {
  whole["version"] = 1000;
  EXPECT_THAT(errorOf(whole), testing::HasSubstr("a newer msleaks wrote it (version 1000, this one reads up to 1)"));
}

TEST_F(ResultFile, OfAnotherProgramIsRefused) {
  EXPECT_THAT(errorOf(std::string(R"({"traceEvents": []})")), testing::HasSubstr("it is no result"));
  EXPECT_THAT(errorOf(std::string("[]")), testing::HasSubstr("it is no result"));
}

TEST_F(ResultFile, WithAWrongTypeNamesTheField) {
  whole["peak"]["by_site"][0]["bytes"] = "many";
  EXPECT_THAT(errorOf(whole), testing::HasSubstr("peak.by_site[0].bytes does not have the type of its field"));
}

TEST_F(ResultFile, WithAnUnknownNameIsRefused) {
  whole["leaks"]["by_site"][0]["heap"] = "attic";
  EXPECT_THAT(errorOf(whole), testing::HasSubstr("leaks.by_site[0].heap"));
}

TEST_F(ResultFile, WithNumbersAtTheEdgesIsReadExactly) {
  const std::filesystem::path file = base / "other.json";
  whole["peak"]["bytes"] = UINT64_MAX;
  whole["ledger"] =
      json::array({{{"device", nullptr}, {"source", "driver"}, {"bytes", INT64_MIN}, {"at_peak_bytes", INT64_MAX}}});
  std::ofstream(file) << whole.dump();
  const auto report = readReportJson(file);
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->peak.bytes, UINT64_MAX);
  EXPECT_EQ(report->ledger.at(0).bytes, INT64_MIN);
  EXPECT_EQ(report->ledger.at(0).at_peak_bytes, INT64_MAX);
  whole["ledger"][0]["bytes"] = UINT64_MAX;
  EXPECT_THAT(errorOf(whole), testing::HasSubstr("ledger[0].bytes"));
}

TEST_F(ResultFile, WithARowThatIsTooShortIsRefused) {
  whole["sections"][0]["rows"].push_back(json::array());
  EXPECT_THAT(errorOf(whole), testing::HasSubstr("a cell for each column"));
}

TEST_F(ResultFile, CutAnywhereIsRefused) {
  const std::string text = whole.dump();
  for (size_t size = 0; size < text.size(); size += text.size() / 300)
    ASSERT_NE(errorOf(text.substr(0, size)), "") << "cut to " << size << " bytes";
}

TEST_F(ResultFile, WithFlippedBytesIsReadOrRefused) {
  std::mt19937 random(7);
  const std::string text = whole.dump();
  for (int i = 0; i < 3000; ++i) {
    std::string flipped = text;
    flipped[random() % flipped.size()] = static_cast<char>(random());
    errorOf(flipped); // must not crash
  }
}

// The first screen shows a section of a user's own analyzer. So the file must store `is_users_own`.
TEST_F(ResultFile, KeepsTheSectionsOfAnalyzersOfTheUsersOwn) {
  Report report;
  report.sections = {{.name = "mine",
                      .title = "Mine",
                      .columns = {{"bytes", Unit::Bytes}},
                      .rows = {{uint64_t{7}}},
                      .is_users_own = true}};
  expectReadBack(report);
}

TEST_F(ResultFile, ThatIsMissingIsRefused) {
  const auto report = readReportJson(base / "nothing.json");
  ASSERT_FALSE(report);
  EXPECT_THAT(report.error().message, testing::HasSubstr("nothing.json"));
  EXPECT_FALSE(isResultFile(base / "nothing.json"));
}

} // namespace msleaks::analysis
