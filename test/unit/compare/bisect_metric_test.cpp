// Tests the figure by which a bisect judges commits: its name, and a place whose line differs between commits.
#include "analysis/compare/bisect.h"

#include <gmock/gmock.h>
#include <sstream>

namespace msleaks::analysis::compare {
namespace {

using testing::HasSubstr;

// Returns a report with one place at its peak.
Report reportWith(uint32_t line, uint64_t bytes, const char *function = "load") {
  SiteLine place;
  place.site.file = "/tmp/tree/src/net.c";
  place.site.line = line;
  place.site.function = function;
  place.own = true;
  place.bytes = bytes;
  place.count = 1;
  Report report;
  report.peak.by_site = {place};
  report.peak.bytes = bytes;
  return report;
}

BisectMetric metricOf(const char *text) { return *parseBisectMetric(text); }

} // namespace

TEST(BisectMetric, IsReadFromItsName) {
  EXPECT_EQ(metricOf("peak").kind, BisectMetric::Kind::Peak);
  EXPECT_EQ(metricOf("leaks").kind, BisectMetric::Kind::Leaks);
  for (const char *text : {"place src/net.c:40", "place:src/net.c:40"}) {
    EXPECT_EQ(metricOf(text).file, "src/net.c");
    EXPECT_EQ(metricOf(text).line, 40u);
    EXPECT_EQ(textOf(metricOf(text)), "place src/net.c:40");
  }
  for (const char *text : {"", "size", "place", "place ", "place net.c", "place :3", "place net.c:", "place net.c:x",
                           "place net.c:0", "place net.c:99999999999", "places net.c:3"})
    EXPECT_EQ(parseBisectMetric(text).error().status, ExitStatus::Usage) << text;
}

TEST(BisectMetric, FollowsAPlaceWhoseLineMoves) {
  const Report good = reportWith(10, 100), bad = reportWith(40, 900);
  const auto figures = BisectFigures::of(metricOf("place net.c:40"), good, bad, StateAt::Peak);
  ASSERT_TRUE(figures) << figures.error().message;
  EXPECT_EQ(figures->bytesOf(good), 100u);
  EXPECT_EQ(figures->bytesOf(bad), 900u);
  EXPECT_EQ(figures->bytesOf(reportWith(25, 300)), 300u);
  EXPECT_EQ(figures->bytesOf(Report()), 0u) << "the commit has no such place";
  EXPECT_EQ(figures->bytesOf(reportWith(40, 300, "store")), 0u) << "another place is at this line now";
}

TEST(BisectMetric, TakesThePlaceOfTheGoodCommitIfTheBadOneHasNone) {
  const Report good = reportWith(10, 100);
  const auto figures = BisectFigures::of(metricOf("place net.c:10"), good, Report(), StateAt::Peak);
  ASSERT_TRUE(figures);
  EXPECT_EQ(figures->bytesOf(good), 100u);
  EXPECT_EQ(figures->bytesOf(Report()), 0u);
}

TEST(BisectMetric, RefusesAPlaceOfNeitherCommit) {
  for (const char *text : {"place net.c:11", "place et.c:10", "place other/net.c:10"})
    EXPECT_THAT(BisectFigures::of(metricOf(text), reportWith(10, 1), reportWith(10, 1), StateAt::Peak).error().message,
                HasSubstr("neither GOOD nor BAD"))
        << text;
}

TEST(BisectMetric, FindsLeaksThatAreNotAtThePeak) {
  const Report good;
  Report bad;
  LeakLine leak;
  static_cast<SiteLine &>(leak) = reportWith(10, 64).peak.by_site[0];
  bad.leaks.by_site = {leak};
  bad.leaks.sum = {64, 1};
  EXPECT_EQ(BisectFigures::of(metricOf("place net.c:10"), good, bad, StateAt::Peak)->bytesOf(bad), 64u);
  EXPECT_EQ(BisectFigures::of(metricOf("leaks"), good, bad, StateAt::Peak)->bytesOf(bad), 64u);
}

TEST(BisectText, NamesTheMomentOfTheFigure) {
  BisectResult result;
  const auto textOfResult = [&] {
    std::ostringstream text;
    writeBisectText(text, result, 100);
    return text.str();
  };
  EXPECT_THAT(textOfResult(), testing::StartsWith("The peak does not differ: "));
  result.moment = "step:3";
  EXPECT_THAT(textOfResult(), testing::StartsWith("The memory at step:3 does not differ: "));
}

} // namespace msleaks::analysis::compare
