// Tests comparisons of several runs on each side: noise between the runs, and a factor that all grown places share.
#include "analysis/compare/common_factor.h"
#include "analysis/compare/repeated_runs.h"

#include <gmock/gmock.h>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

namespace msleaks::analysis::compare {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr uint64_t kKiB = 1024;

// Returns a run. `functions` has the bytes of each function at the peak.
Report runWith(const std::map<std::string, uint64_t> &functions) {
  Report report;
  for (const auto &[function, bytes] : functions) {
    SiteLine line;
    line.site.file = "src/" + function + ".cpp";
    line.site.line = 7;
    line.site.function = function;
    line.site.library = "/bin/net";
    line.own = true;
    line.bytes = bytes;
    line.count = 1;
    report.peak.by_site.push_back(line);
    report.peak.bytes += bytes;
  }
  return report;
}

RunComparison compareAll(const std::vector<Report> &first, const std::vector<Report> &second) {
  return compareRepeatedRuns(first, second);
}

std::map<std::string, PlaceState> statesOf(const RunComparison &comparison) {
  std::map<std::string, PlaceState> states;
  for (const ComparedPlace &place : comparison.alive.places)
    states[place.site.function] = place.state;
  return states;
}

std::string textOfComparison(const RunComparison &comparison, bool is_whole = false) {
  std::ostringstream out;
  writeComparisonText(out, comparison, 200, is_whole);
  return out.str();
}

} // namespace

TEST(RepeatedRuns, LeaveOutWhatVariesBetweenRunsOfOneSide) {
  const auto comparison = compareAll(
      {runWith({{"load", 100 * kKiB}, {"cache", 30 * kKiB}}), runWith({{"load", 100 * kKiB}, {"cache", 40 * kKiB}})},
      {runWith({{"load", 200 * kKiB}, {"cache", 42 * kKiB}}), runWith({{"load", 200 * kKiB}, {"cache", 38 * kKiB}})});
  EXPECT_EQ(statesOf(comparison).at("load"), PlaceState::Grown);
  EXPECT_EQ(statesOf(comparison).at("cache"), PlaceState::Varies);
  EXPECT_TRUE(comparison.differs());
  const std::string text = textOfComparison(comparison);
  EXPECT_THAT(text, HasSubstr("at load.cpp:7 in load, twice the bytes"));
  EXPECT_THAT(text, HasSubstr("A is the mean of 2 runs, B of 2. Runs of one side differ by up to 10.0 KiB. 1 place "
                              "varies between them by as much as between A and B, and is left out."));
  EXPECT_THAT(text, Not(HasSubstr("cache.cpp")));
  EXPECT_THAT(text, HasSubstr("1 grown, 1 varies"));
}

TEST(RepeatedRuns, CountAPlaceOfTwoHeapsOnce) {
  const auto leaking = [](uint64_t bytes) {
    Report run = runWith({{"load", bytes}});
    for (const abi::Heap heap : {abi::Heap::Host, abi::Heap::Device}) {
      LeakLine leak;
      static_cast<SiteLine &>(leak) = run.peak.by_site.front();
      leak.remains.heap = heap;
      run.leaks.by_site.push_back(leak);
      run.leaks.sum += {bytes, 1};
    }
    return run;
  };
  const auto comparison = compareAll({leaking(100), leaking(100)}, {leaking(300), leaking(300)});
  uint64_t after_bytes = 0;
  for (const ComparedPlace &place : comparison.leaks.places)
    after_bytes += place.after.value_or(BlockSum{}).bytes;
  EXPECT_EQ(after_bytes, 600u);
  EXPECT_EQ(comparison.leaks.after_bytes, 600u);
}

TEST(RepeatedRuns, ThatOnlyVaryDoNotDiffer) {
  const auto comparison = compareAll({runWith({{"load", 100}}), runWith({{"load", 120}})}, {runWith({{"load", 110}})});
  EXPECT_FALSE(comparison.differs());
  EXPECT_EQ(comparison.alive.changeBytes(), 0);
  EXPECT_THAT(textOfComparison(comparison), HasSubstr("B needs the same memory as A."));
}

TEST(RepeatedRuns, ShowAChangeThatIsLargerThanTheNoise) {
  const auto comparison = compareAll({runWith({{"load", 100}}), runWith({{"load", 104}})},
                                     {runWith({{"load", 110}}), runWith({{"load", 114}})});
  EXPECT_EQ(statesOf(comparison).at("load"), PlaceState::Grown);
  EXPECT_EQ(comparison.alive.before_bytes, 102u);
  EXPECT_EQ(comparison.alive.after_bytes, 112u);
  EXPECT_EQ(comparison.alive.spread_bytes, 4u);
  EXPECT_EQ(comparison.alive.places.at(0).spread_bytes, 4u);
}

TEST(RepeatedRuns, KnowPlacesThatOnlySomeRunsHave) {
  const Report with = runWith({{"load", 100}, {"retry", 50}}), without = runWith({{"load", 100}});
  EXPECT_EQ(statesOf(compareAll({without, with}, {with, with})).at("retry"), PlaceState::Varies);
  EXPECT_EQ(statesOf(compareAll({with, with}, {without, with})).at("retry"), PlaceState::Varies);
  EXPECT_EQ(statesOf(compareAll({without, without}, {with, with})).at("retry"), PlaceState::New);
  EXPECT_EQ(statesOf(compareAll({with, with}, {without, without})).at("retry"), PlaceState::Gone);
  EXPECT_FALSE(compareAll({without, with}, {with, without}).differs());
}

TEST(RepeatedRuns, KeepFactsAndFindingsOfAllPairs) {
  Report before = runWith({}), after = runWith({});
  before.environment = {{"host", "n1"}, {"library libx", "libx.so.1"}};
  after.environment = {{"host", "n2"}, {"library libx", "libx.so.2"}};
  Report other = before;
  other.environment[0].text = "n2";
  Finding leak;
  leak.kind = "leak";
  leak.site.file = "a.c";
  after.findings = {leak};
  const auto comparison = compareAll({before, other}, {after, after});
  ASSERT_EQ(comparison.environment.size(), 1u);
  EXPECT_EQ(comparison.environment[0].name, "library libx");
  EXPECT_EQ(comparison.findings.size(), 1u);
  other.findings = {leak};
  EXPECT_THAT(compareAll({before, other}, {after, after}).findings, IsEmpty()) << "a run of the first side has it, too";
}

TEST(RepeatedRuns, OfOneRunEachAreAPlainComparison) {
  const Report before = runWith({{"load", 100}}), after = runWith({{"load", 300}});
  EXPECT_EQ(textOfComparison(compareAll({before}, {after})), textOfComparison(compareRuns(before, after)));
}

TEST(RepeatedRuns, HaveTheirNoiseInTheJson) {
  std::ostringstream out;
  writeComparisonJson(out, compareAll({runWith({{"load", 100}}), runWith({{"load", 120}})}, {runWith({{"load", 110}})}),
                      NameTable());
  const auto json = nlohmann::json::parse(out.str());
  EXPECT_EQ(json["noise"],
            nlohmann::json({{"runs", {2, 1}}, {"peak_bytes", 20}, {"at_bytes", 20}, {"leaks_bytes", 0}}));
  EXPECT_EQ(json["sites"].at(0)["state"], "varies");
  EXPECT_EQ(json["sites"].at(0)["spread_bytes"], 20);
  EXPECT_EQ(json["sites"].at(0)["change_bytes"], 0);
}

TEST(RepeatedRuns, AtTheEdgesOfTheirNumbersAreExact) {
  const Report most = runWith({{"load", UINT64_MAX}});
  const auto comparison = compareAll({most, most}, {most, most});
  EXPECT_EQ(comparison.alive.before_bytes, UINT64_MAX);
  EXPECT_FALSE(comparison.differs());
}

TEST(CommonFactor, IsToldIfAllGrownPlacesHaveIt) {
  const Report before = runWith({{"load", 100}, {"forward", 4000}, {"state", 70}});
  const auto comparison = compareRuns(before, runWith({{"load", 200}, {"forward", 8000}, {"state", 70}, {"cache", 9}}));
  const auto common = commonFactorOf(comparison.alive, PlaceState::Grown);
  ASSERT_TRUE(common);
  EXPECT_DOUBLE_EQ(common->factor, 2);
  EXPECT_EQ(common->places, 2u);
  EXPECT_THAT(textOfComparison(comparison), HasSubstr("All 2 grown places have twice their bytes"));
  EXPECT_THAT(factorText(compareRuns(before, runWith({{"load", 50}, {"forward", 2000}, {"state", 70}})).alive),
              HasSubstr("All 2 shrunk places have half their bytes"));
}

TEST(CommonFactor, IsNotToldOtherwise) {
  const Report before = runWith({{"load", 100}, {"forward", 4000}});
  for (const Report &after : {runWith({{"load", 200}, {"forward", 4000}}), runWith({{"load", 200}, {"forward", 8200}}),
                              runWith({}), runWith({{"load", 100}, {"forward", 4000}, {"a", 2}, {"b", 4}}), before})
    EXPECT_EQ(factorText(compareRuns(before, after).alive), "");
}

TEST(PlaceTree, HasASumForEachBranchAndDirection) {
  Report before = runWith({{"load", 100 * kKiB}, {"forward", 50 * kKiB}, {"old", 9 * kKiB}});
  Report after = runWith({{"load", 130 * kKiB}, {"forward", 70 * kKiB}, {"cache", 5 * kKiB}});
  SiteLine library;
  library.site.library = "/lib/libx.so.1";
  library.site.function = "make";
  library.bytes = kKiB;
  library.count = 1;
  before.peak.by_site.push_back(library);
  library.site.library = "/lib/libx.so.2";
  library.bytes = 3 * kKiB;
  after.peak.by_site.push_back(library);
  before.environment = {{"library libx", "libx.so.1 0011"}};
  after.environment = {{"library libx", "libx.so.2 2233"}};
  const std::string text = textOfComparison(compareRuns(before, after), true);
  EXPECT_THAT(text, HasSubstr("  Grown and new: +57.0 KiB in 4 places\n"
                              "    +55.0 KiB  the program, and libraries of the same version\n"
                              "    +55.0 KiB    net\n"
                              "    +30.0 KiB      src/load.cpp\n"
                              "    +30.0 KiB        load.cpp:7 in load  100.0 KiB -> 130.0 KiB\n"
                              "    +20.0 KiB      src/forward.cpp\n"));
  EXPECT_THAT(text, HasSubstr("    +2.00 KiB  libraries of another version\n"
                              "    +2.00 KiB    libx.so.1 0011 -> libx.so.2 2233\n"
                              "    +2.00 KiB      "));
  EXPECT_THAT(text, HasSubstr("  Shrunk and gone: -9.00 KiB in 1 place\n"));
}

} // namespace msleaks::analysis::compare
