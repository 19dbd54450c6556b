// Tests how `msleaks check` judges a run by its limits and by a baseline.
#include "analysis/compare/verdict.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>
#include <sstream>

namespace msleaks::analysis {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

PlaceFigures place(uint32_t line, const char *function, uint64_t bytes, const char *file = "src/net.c") {
  PlaceFigures place;
  place.own = true;
  place.file = file;
  place.line = line;
  place.function = function;
  place.variable = "rows";
  place.heap = "host";
  place.bytes = bytes;
  place.count = 1;
  return place;
}

// Returns the figures of a run with a leak of 100 bytes at one place and a peak of 1000 bytes.
RunFigures figures() {
  RunFigures figures;
  figures.command = {"/bin/net", "--size", "7"};
  figures.exit = 0;
  figures.peak = {1000, {place(10, "grow", 900)}};
  figures.leaks.bytes = 100;
  figures.leaks.count = 1;
  figures.leaks.places = {place(10, "grow", 100)};
  return figures;
}

Verdict verdictOf(const RunFigures &now, const std::optional<RunFigures> &baseline, const Limits &limits) {
  const auto verdict = judge(now, baseline, limits);
  EXPECT_TRUE(verdict) << verdict.error().message;
  return verdict.value_or(Verdict{});
}

GateResult judgementOf(const Verdict &verdict, std::string_view name) {
  for (const LimitGate &gate : verdict.gates)
    if (gate.name == name)
      return gate.judgement;
  ADD_FAILURE() << "no gate " << name;
  return GateResult::NotJudged;
}

std::string markdownOf(const Verdict &verdict) {
  std::ostringstream out;
  writeVerdictMarkdown(out, verdict);
  return out.str();
}

json jsonOf(const Verdict &verdict) {
  std::ostringstream out;
  writeVerdictJson(out, verdict);
  return json::parse(out.str());
}

} // namespace

TEST(Verdict, JudgesOnlyWhatHasALimit) {
  RunFigures worse = figures();
  worse.peak.bytes = 5000;
  worse.leaks.bytes = 4000;
  worse.leaks.places.push_back(place(50, "other", 3900));
  const Verdict verdict = verdictOf(worse, figures(), {});
  EXPECT_TRUE(verdict.passed());
  for (const char *name : {"peak", "leaks", "places"})
    EXPECT_EQ(judgementOf(verdict, name), GateResult::NotJudged) << name;
  EXPECT_THAT(markdownOf(verdict), HasSubstr("| peak | 1000 B | 4.88 KiB | +3.91 KiB (+400.0%) |  | not judged |"));
}

TEST(Verdict, OfThePeakIsExactToTheByte) {
  RunFigures now = figures();
  now.peak.bytes = 1020;
  EXPECT_TRUE(verdictOf(now, figures(), {.peak = MorePercent{2}}).passed());
  now.peak.bytes = 1021;
  const Verdict failed = verdictOf(now, figures(), {.peak = MorePercent{2}});
  EXPECT_FALSE(failed.passed());
  EXPECT_THAT(markdownOf(failed), HasSubstr("### msleaks check: failed"));
  EXPECT_THAT(markdownOf(failed), HasSubstr("| peak | 1000 B | 1021 B | +21 B (+2.1%) | 1020 B (+2%) | **failed** |"));
  EXPECT_TRUE(verdictOf(now, {}, {.peak = AtMostBytes{1021}}).passed());
  EXPECT_FALSE(verdictOf(now, {}, {.peak = AtMostBytes{1020}}).passed());
}

TEST(Verdict, OfLeaksCountsBytes) {
  EXPECT_TRUE(verdictOf(figures(), {}, {.leak_bytes = 100}).passed());
  EXPECT_FALSE(verdictOf(figures(), {}, {.leak_bytes = 99}).passed());
  RunFigures pool = figures();
  pool.leaks.pool_bytes = 101;
  pool.leaks.pool_count = 1;
  const Verdict verdict = verdictOf(pool, {}, {.leak_bytes = 100});
  EXPECT_EQ(judgementOf(verdict, "leaks"), GateResult::Passed);
  EXPECT_EQ(judgementOf(verdict, "pool-leaks"), GateResult::Failed);
}

TEST(Verdict, OfPlacesNamesTheNewOnes) {
  RunFigures now = figures();
  now.leaks.places = {place(12, "grow", 150), place(40, "make|shape`", 7)};
  const Verdict verdict = verdictOf(now, figures(), {.new_places = true});
  EXPECT_EQ(judgementOf(verdict, "places"), GateResult::Failed);
  ASSERT_EQ(verdict.new_places.size(), 1u);
  EXPECT_EQ(verdict.new_places[0].line, 40u);
  ASSERT_EQ(verdict.grown_leaks.size(), 1u);
  EXPECT_EQ(verdict.grown_leaks[0].before_bytes, 100u);
  const std::string text = markdownOf(verdict);
  EXPECT_THAT(text, HasSubstr("| leaking places | 1 | 2 | 1 new, 0 gone | none new | **failed** |"));
  EXPECT_THAT(text, HasSubstr("| `src/net.c:40` | 7 B | 1 | `make\\|shape'` -> `rows` |"))
      << "nothing breaks the table";
  EXPECT_THAT(text, HasSubstr("| `src/net.c:12` | 100 B | 150 B | +50 B (+50.0%) |"));
  EXPECT_TRUE(verdictOf(figures(), now, {.new_places = true}).passed()) << "one that is gone is no harm";
}

TEST(Verdict, OfARunThatIsNotCompleteIsNotPassed) {
  RunFigures cut = figures();
  cut.gaps = {"3 events were dropped"};
  for (const auto &[now, baseline] : {std::pair(cut, figures()), std::pair(figures(), cut)}) {
    const Verdict verdict = verdictOf(now, baseline, {.leak_bytes = 1000});
    EXPECT_FALSE(verdict.passed());
    EXPECT_THAT(markdownOf(verdict), HasSubstr("3 events were dropped"));
    const Verdict allowed = verdictOf(now, baseline, {.leak_bytes = 1000, .incomplete_allowed = true});
    EXPECT_TRUE(allowed.passed());
    EXPECT_THAT(markdownOf(allowed), HasSubstr("3 events were dropped")) << "it is said all the same";
  }
}

TEST(Verdict, RefusesABaselineOfAnotherProgram) {
  RunFigures other = figures();
  other.command[0] = "/bin/train";
  const auto verdict = judge(figures(), other, {});
  ASSERT_FALSE(verdict);
  EXPECT_EQ(verdict.error().status, ExitStatus::BadInput);
  EXPECT_THAT(verdict.error().message, HasSubstr("'train', and this run is of 'net'"));
  other.command = {"/elsewhere/net", "--size", "8"};
  EXPECT_THAT(markdownOf(verdictOf(figures(), other, {})),
              HasSubstr("- in the baseline the command was `/elsewhere/net --size 8`"));
  other.command.clear();
  EXPECT_THAT(markdownOf(verdictOf(figures(), other, {})), HasSubstr("a manifest is missing"));
}

TEST(Verdict, SaysThatTheProgramEndedInAnotherWay) {
  RunFigures failed = figures();
  failed.exit = 1;
  EXPECT_THAT(markdownOf(verdictOf(failed, figures(), {})), HasSubstr("- exit status 1, in the baseline 0"));
  EXPECT_THAT(markdownOf(verdictOf(figures(), figures(), {})), Not(HasSubstr("exit status")));
}

TEST(Verdict, SaysWhatChangedAtThePeak) {
  RunFigures now = figures();
  now.peak = {1900, {place(11, "grow", 700), place(20, "other", 1200)}};
  const json peak = jsonOf(verdictOf(now, figures(), {}))["peak_changes"];
  ASSERT_EQ(peak.size(), 2u);
  EXPECT_EQ(peak[0]["function"], "other");
  EXPECT_EQ(peak[0]["before_bytes"], 0);
  EXPECT_EQ(peak[0]["now_bytes"], 1200);
  EXPECT_EQ(peak[1]["before_bytes"], 900);
  EXPECT_EQ(peak[1]["now_bytes"], 700);
}

TEST(Verdict, AsJsonHasAllGates) {
  const json said = jsonOf(verdictOf(figures(), figures(), {.peak = MoreBytes{5}, .leak_bytes = 99}));
  EXPECT_EQ(said["passed"], false);
  EXPECT_EQ(said["gates"], json::parse(R"([
    {"name": "peak", "unit": "bytes", "baseline": 1000, "now": 1000, "most": 1005, "verdict": "passed"},
    {"name": "leaks", "unit": "bytes", "baseline": 100, "now": 100, "most": 99, "verdict": "failed"},
    {"name": "places", "unit": "count", "baseline": 1, "now": 1, "most": null, "verdict": "not judged"}])"));
  EXPECT_EQ(said["recording"]["verdict"], "passed");
  EXPECT_EQ(said["leaking_places"][0]["line"], 10);
  EXPECT_EQ(said["new_places"], json::array());
}

} // namespace msleaks::analysis
