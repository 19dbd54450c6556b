// Tests the figures of a run (leaks, peaks) that `msleaks check` compares with another run, and the file that stores
// them.
#include "analysis/compare/figures.h"

#include "../report/report_fixture.h"

#include <fstream>
#include <gmock/gmock.h>

namespace msleaks::analysis {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class Figures : public ReportTest {
protected:
  void record(const std::vector<StreamEvent> &list, int status = 0, uint64_t dropped = 0) {
    start(1, 4711);
    events(list, dropped);
    end(1, status, kStart + 1'000'000'000);
    manifest();
    close();
  }
  RunFigures figures() { return figuresOf(report()); }
  std::string errorOf(const std::string &text) {
    const auto file = base / "saved.json";
    std::ofstream(file) << text;
    const auto read = readBaseline(file, {}, {});
    EXPECT_FALSE(read) << text;
    if (read)
      return "";
    EXPECT_EQ(read.error().status, ExitStatus::BadInput);
    return read.error().message;
  }
};

constexpr char kSaved[] = R"({"format": "msleaks check", "version": 1, "peak": {"bytes": 7}, "leaks": {}})";

std::string savedWith(const std::string &from, const std::string &to) {
  std::string text = kSaved;
  return text.replace(text.find(from), from.size(), to);
}

} // namespace

TEST_F(Figures, AreThoseOfTheReport) {
  record(smallRun());
  const RunFigures of = figures();
  const Report whole = report();
  EXPECT_EQ(of.peak.bytes, whole.peak.bytes);
  EXPECT_EQ(of.leaks.bytes, whole.leaks.sum.bytes);
  EXPECT_GT(of.leaks.bytes, 0u);
  EXPECT_THAT(of.command, ElementsAre("/bin/net", "--size", "7"));
  EXPECT_EQ(of.exit, 0);
  EXPECT_THAT(of.gaps, IsEmpty());
  uint64_t bytes = 0;
  for (const PlaceFigures &place : of.peak.places)
    bytes += place.bytes;
  EXPECT_EQ(bytes, of.peak.bytes);
}

TEST_F(Figures, AreKeptInAFile) {
  record(smallRun());
  const RunFigures of = figures();
  const std::string text = formatFigures(of);
  const auto read = parseFigures(text, "saved.json");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(formatFigures(*read), text);
  EXPECT_EQ(read->peak.bytes, of.peak.bytes);
  ASSERT_EQ(read->leaks.places.size(), of.leaks.places.size());
  EXPECT_EQ(read->leaks.places[0].function, of.leaks.places[0].function);
  EXPECT_EQ(read->exit, 0);
}

TEST_F(Figures, OfAFileAndItsRunAreTheSame) {
  record(smallRun());
  const std::string text = formatFigures(figures());
  std::ofstream(base / "saved.json") << text;
  std::ofstream(base / "result.json") << jsonText(report());
  for (const auto &path : {base / "saved.json", base / "result.json", run, trace_file}) {
    const auto read = readBaseline(path, {}, {});
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(read->leaks.bytes, figures().leaks.bytes) << path;
    EXPECT_EQ(read->command, figures().command) << path;
  }
}

TEST_F(Figures, SayWhatIsMissing) {
  record(smallRun(), 0, 3);
  EXPECT_THAT(figures().gaps, ElementsAre("3 events were dropped"));
}

TEST_F(Figures, OfAKilledProgramSaySo) {
  record(smallRun(), 9);
  EXPECT_THAT(figures().gaps, ElementsAre("1 process was killed by a signal"));
}

TEST_F(Figures, OfASessionWithoutAnEndSaySo) {
  start(1, 4711);
  events(smallRun());
  manifest("running");
  close();
  EXPECT_THAT(figures().gaps,
              ElementsAre("the session was killed or still runs", "1 process was still running at the end"));
}

TEST_F(Figures, OfNothingSaySo) {
  manifest();
  close();
  EXPECT_THAT(figures().gaps, ElementsAre("no process was recorded"));
}

TEST_F(Figures, FromOtherFilesAreRefused) {
  ASSERT_TRUE(parseFigures(kSaved, "x"));
  EXPECT_THAT(errorOf(""), HasSubstr("neither a run nor a file that msleaks check --save wrote"));
  EXPECT_THAT(errorOf("{}"), HasSubstr("neither a run"));
  EXPECT_THAT(errorOf("[1]"), HasSubstr("neither a run"));
  EXPECT_THAT(errorOf(std::string(kSaved).substr(0, 60)), HasSubstr("or it is damaged"));
  EXPECT_THAT(errorOf(savedWith("check", "list")), HasSubstr("neither a run"));
  EXPECT_THAT(errorOf(savedWith("1", "2")),
              HasSubstr("was written by a newer msleaks (version 2, this one reads up to 1)"));
  EXPECT_THAT(errorOf(savedWith("7", "-7")), HasSubstr("peak.bytes does not have the type"));
  EXPECT_THAT(errorOf(savedWith("\"leaks\"", "\"else\"")), HasSubstr("leaks is missing"));
  EXPECT_THAT(errorOf(savedWith("\"bytes\": 7", "\"places\": [{}, {\"line\": \"7\"}]")),
              HasSubstr("peak.places[1].line does not have the type"));
}

// Another version of msleaks may have written the file. The reader ignores unknown fields, and a missing field gets its
// default value.
TEST_F(Figures, OfAnotherDayAreRead) {
  const auto read =
      parseFigures(savedWith("\"leaks\": {}", "\"leaks\": {\"bytes\": 3, \"by_magic\": []}, \"more\": 1"), "x");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->peak.bytes, 7u);
  EXPECT_EQ(read->leaks.bytes, 3u);
  EXPECT_FALSE(read->exit);
}

} // namespace msleaks::analysis
