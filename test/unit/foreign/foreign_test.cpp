// Tests analyzers that users write: the data that they receive, their results in the report, and their failures.
#include "analysis/foreign/foreign_analyzer.h"

#include "../report/report_fixture.h"

#include <cstdlib>
#include <gmock/gmock.h>

namespace msleaks::analysis {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

std::string fileOf(const std::string &name) { return std::string(ANALYZERS) + "/" + name + ".so"; }

class Foreign : public ReportTest {
protected:
  void TearDown() override {
    ::unsetenv("FAULT");
    ReportTest::TearDown();
  }
  void record() {
    start(1, 4711);
    auto list = smallRun();
    list.push_back(test::make<abi::StepEvent>(kStart + 950, {}, 7, 0));
    events(list);
    end(1, 0, kStart + 1'000'000'000);
    manifest();
    close();
  }
  json reportWith(const std::vector<std::string> &names, ReportQuestion question = {}) {
    std::vector<std::string> files;
    for (const std::string &name : names)
      files.push_back(fileOf(name));
    LoadedAnalyzers loaded = loadAnalyzers(files);
    EXPECT_THAT(loaded.refusals, IsEmpty());
    question.analyzers = std::move(loaded.libraries);
    auto report = analyzeRun(run, question);
    EXPECT_TRUE(report) << report.error().message;
    failures = report->failed_analyzers;
    std::ostringstream out;
    writeReportJson(out, *report);
    return json::parse(out.str());
  }
  static json section(const json &report, const std::string &name) {
    for (const json &section : report["sections"])
      if (section["name"] == name)
        return section;
    return {};
  }
  static std::vector<json> findings(const json &report, const std::string &kind) {
    std::vector<json> list;
    for (const json &finding : report["findings"])
      if (finding["kind"] == kind)
        list.push_back(finding);
    return list;
  }
  std::vector<std::string> failures;
};

} // namespace

TEST_F(Foreign, IsToldOfEveryBlockAndOfTheEventsThatItWants) {
  record();
  const json rows = section(reportWith({"witness"}), "witness/said")["rows"];
  ASSERT_FALSE(rows.is_null());
  EXPECT_EQ(rows[0], (json{"alloc", 1000, kStart + 100, 0}));
  std::map<std::string, int> counts;
  for (const json &row : rows)
    ++counts[row[0]];
  EXPECT_EQ(counts["alloc"], 6);
  EXPECT_EQ(counts["free"], 6) << "two freed, four at the end of the process";
  EXPECT_EQ(counts["step"], 1);
  EXPECT_EQ(counts["end"], 1);
  EXPECT_THAT(rows, testing::Contains(json{"step", 7, kStart + 950, 1}));
  EXPECT_THAT(rows, testing::Contains(json{"end", 1, 0, 4})) << "exited with 0";
}

TEST_F(Foreign, AddsFindingsWithWhatTheySave) {
  record();
  const json report = reportWith({"witness"});
  const auto seen = findings(report, "witness/seen");
  ASSERT_FALSE(seen.empty());
  uint64_t saved = 0;
  for (const json &finding : seen) {
    EXPECT_EQ(finding["confidence"], "likely");
    EXPECT_EQ(finding["advice"], "Look.");
    EXPECT_EQ(finding["evidence"]["half"], 0.5);
    EXPECT_EQ(finding["evidence"]["word"], "yes");
    EXPECT_EQ(finding["heap"], "host");
    EXPECT_EQ(finding["id"].get<std::string>().size(), 16u);
    if (finding["site"]["line"] == 12) {
      EXPECT_EQ(finding["bytes"], 1030);
    }
    saved = std::max(saved, finding["saves_bytes"].get<uint64_t>());
  }
  EXPECT_EQ(saved, 6070u - 1101u) << "without the temporary the peak of the host is the end";
}

TEST_F(Foreign, LeavesEverythingElseAsItIs) {
  record();
  json with = reportWith({"witness"});
  const json without = asJson();
  std::erase_if(with["sections"].get_ref<json::array_t &>(),
                [](const json &section) { return section["name"].get<std::string>().starts_with("witness/"); });
  std::erase_if(with["findings"].get_ref<json::array_t &>(),
                [](const json &finding) { return finding["kind"].get<std::string>().starts_with("witness/"); });
  ASSERT_EQ(with["findings"].size(), without["findings"].size());
  for (size_t i = 0; i < without["findings"].size(); ++i) // the cumulative savings include the witness's findings
    with["findings"][i]["saves_cumulative_bytes"] = without["findings"][i]["saves_cumulative_bytes"];
  EXPECT_EQ(with, without);
}

TEST_F(Foreign, KnowsPlacesAndProcesses) {
  record();
  const json places = section(reportWith({"witness"}), "witness/places");
  ASSERT_FALSE(places.is_null());
  EXPECT_EQ(places["columns"][0]["unit"], "place");
  bool has_line = false;
  for (const json &row : places["rows"]) {
    has_line |= row[0]["line"] == 12;
    EXPECT_EQ(row[2], "pid 4711 (net)");
  }
  EXPECT_TRUE(has_line) << places;
}

TEST_F(Foreign, IsToldOfTheSelectedPartOnly) {
  record();
  ReportQuestion question;
  question.heap = abi::Heap::Device;
  const json rows = section(reportWith({"witness"}, question), "witness/said")["rows"];
  ASSERT_THAT(rows, SizeIs(4)) << "a block's birth and death, the step, the process: " << rows;
}

TEST_F(Foreign, FailsAlone) {
  record();
  for (const char *where : {"make", "alloc", "free", "event", "end", "conclude"}) {
    ::setenv("FAULT", where, 1);
    const json report = reportWith({"faulty", "witness"});
    ASSERT_THAT(failures, SizeIs(1)) << where;
    EXPECT_THAT(failures[0], HasSubstr("analyzer 'faulty' (" + fileOf("faulty") + ") failed"));
    EXPECT_THAT(failures[0], HasSubstr(std::string("broken in ") + where));
    EXPECT_EQ(report["notes"][0], failures[0]);
    EXPECT_TRUE(section(report, "faulty/first").is_null()) << where;
    EXPECT_THAT(findings(report, "faulty/first"), IsEmpty()) << where;
    EXPECT_FALSE(section(report, "witness/said").is_null()) << where;
    EXPECT_GT(report["leaks"]["bytes"], 0) << where;
  }
  ::setenv("FAULT", "nowhere", 1);
  const json report = reportWith({"faulty"});
  EXPECT_THAT(failures, IsEmpty());
  EXPECT_FALSE(section(report, "faulty/first").is_null());
  EXPECT_THAT(findings(report, "faulty/first"), SizeIs(1));
}

TEST_F(Foreign, IsToldWhatDoesNotFit) {
  record();
  const std::pair<const char *, const char *> kFaults[] = {
      {"number", "no std::exception"}, {"no shares", "no shares"},        {"no kind", "no kind"},
      {"wrong group", "9999"},         {"two heaps", "several heaps"},    {"wrong absent", "group 0"},
      {"wrong site", "no site 9999"},  {"wrong unit", "of its unit"},     {"short row", "as many cells"},
      {"no title", "a name, a title"}, {"twice", "has this name already"}};
  for (const auto &[fault, text] : kFaults) {
    ::setenv("FAULT", fault, 1);
    const json report = reportWith({"faulty"});
    ASSERT_THAT(failures, SizeIs(1)) << fault;
    EXPECT_THAT(failures[0], HasSubstr(text));
    EXPECT_TRUE(section(report, "faulty/first").is_null()) << fault;
  }
}

TEST_F(Foreign, WithoutOurHeaderMayThrow) {
  record();
  reportWith({"plain"});
  ASSERT_THAT(failures, SizeIs(1));
  EXPECT_THAT(failures[0], HasSubstr("no std::exception"));
}

TEST(AnalyzerLibrary, IsRefusedInOneLine) {
  const std::pair<std::string, const char *> kFiles[] = {
      {fileOf("nowhere"), "cannot be loaded"},
      {fileOf("too_new"), "built for version 2 of msleaks/analyzer.h, and this msleaks knows up to 1"},
      {fileOf("nameless"), "its description is wrong"},
      {fileOf("no_analyzer"), "has no symbol __msl_analyzer"},
      {"/etc/passwd", "cannot be loaded"},
      {"libc.so.6", "cannot be loaded"}};
  for (const auto &[file, text] : kFiles) {
    const auto library = AnalyzerLibrary::load(file);
    ASSERT_FALSE(library) << file;
    EXPECT_EQ(library.error().status, ExitStatus::BadInput);
    EXPECT_THAT(library.error().message, HasSubstr("analyzer '" + file + "' is not used: "));
    EXPECT_THAT(library.error().message, HasSubstr(text));
    EXPECT_THAT(library.error().message, Not(HasSubstr("\n")));
  }
}

TEST(AnalyzerLibrary, IsRefusedWhereAnotherHasItsName) {
  const LoadedAnalyzers loaded = loadAnalyzers({fileOf("plain"), fileOf("witness"), fileOf("plain")});
  EXPECT_THAT(loaded.libraries, SizeIs(2));
  EXPECT_THAT(loaded.refusals, ElementsAre(HasSubstr("is called plain, too")));
}

} // namespace msleaks::analysis
