// Tests the comparison of two results by their places.
#include "analysis/compare/run_comparison.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>
#include <sstream>

namespace msleaks::analysis::compare {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr uint64_t kMiB = 1 << 20;

SiteLine line(const char *file, uint32_t number, const char *function, uint64_t bytes, uint64_t count,
              const char *variable = "rows") {
  SiteLine line;
  line.site.file = file;
  line.site.line = number;
  line.site.function = function;
  line.site.variable = variable;
  line.site.library = "/bin/net";
  line.own = true;
  line.bytes = bytes;
  line.count = count;
  return line;
}

SiteLine inLibrary(const char *library, const char *function, uint64_t bytes) {
  SiteLine line;
  line.site.library = library;
  line.site.function = function;
  line.site.origin = SiteOrigin::Hook;
  line.bytes = bytes;
  line.count = 1;
  return line;
}

Report reportOf(std::vector<SiteLine> lines) {
  Report report;
  report.run = "run";
  report.command = {"./net"};
  for (const SiteLine &line : lines)
    report.peak.bytes += line.bytes;
  report.peak.by_site = std::move(lines);
  return report;
}

std::string textOf(const RunComparison &comparison) {
  std::ostringstream out;
  writeComparisonText(out, comparison, 200);
  return out.str();
}

nlohmann::json jsonOf(const RunComparison &comparison) {
  std::ostringstream out;
  writeComparisonJson(out, comparison, NameTable());
  return nlohmann::json::parse(out.str());
}

PlaceState stateOf(const Report &before, const Report &after) {
  return compareRuns(before, after).alive.places.at(0).state;
}

} // namespace

TEST(RunComparison, OfEqualRunsIsEmpty) {
  const Report report = reportOf({line("a.c", 3, "grow", kMiB, 1), inLibrary("/lib/libx.so.1", "make", 64)});
  const RunComparison comparison = compareRuns(report, report);
  EXPECT_FALSE(comparison.differs());
  EXPECT_THAT(comparison.environment, IsEmpty());
  EXPECT_THAT(textOf(comparison), HasSubstr("B needs the same memory as A."));
}

TEST(RunComparison, SaysWhatCostsHowMuchAndWhy) {
  const Report before = reportOf({line("src/conv.cpp", 218, "forward", 400 * kMiB, 4, "output")});
  const Report after = reportOf({line("src/conv.cpp", 220, "forward", 800 * kMiB, 4, "output"),
                                 line("src/cache.cpp", 40, "keep", 50 * kMiB, 2, "cache")});
  const RunComparison comparison = compareRuns(before, after);
  EXPECT_TRUE(comparison.differs());
  std::string text = textOf(comparison);
  std::replace(text.begin(), text.end(), '\n', ' ');
  EXPECT_THAT(text,
              HasSubstr("B needs 450.0 MiB more at its peak: 400.0 MiB of it at conv.cpp:220 in forward (`output`), "
                        "twice the bytes for each block;"));
  EXPECT_THAT(text, HasSubstr("50.0 MiB at cache.cpp:40 in keep (`cache`), new."));
}

TEST(RunComparison, NamesTheCallerWhoseBlocksChanged) {
  const auto reportWith = [](uint64_t parser_bytes) {
    SiteLine copy = line("text.c", 87, "copyText", kMiB + parser_bytes, 2, "");
    const auto pathOf = [&](const char *file, const char *function, uint64_t bytes) {
      auto place = std::make_shared<SiteText>(copy.site), caller = std::make_shared<SiteText>();
      caller->file = file;
      caller->line = 9;
      caller->function = function;
      copy.paths.push_back({bytes, 1, {place, caller}, true, 0});
    };
    pathOf("names.c", "addName", kMiB);
    pathOf("parser.c", "parse", parser_bytes);
    return reportOf({copy});
  };
  const RunComparison comparison = compareRuns(reportWith(kMiB), reportWith(5 * kMiB));
  EXPECT_THAT(sentenceOf(comparison), HasSubstr("at text.c:87 in copyText < parser.c:9 in parse, "));
  EXPECT_EQ(jsonOf(comparison)["sites"].at(0)["caller"]["function"], "parse");
  EXPECT_THAT(textOf(comparison), HasSubstr("\n      < parser.c:9 in parse\n"));
  EXPECT_EQ(compareRuns(reportWith(kMiB), reportWith(kMiB)).alive.places.at(0).caller, std::nullopt);
}

TEST(RunComparison, JoinsPlacesWhoseCommonCalleeWasLeftOut) {
  const auto lineOf = [](const char *function, uint32_t number, uint64_t count,
                         const std::vector<const char *> &callers) {
    SiteLine made = line("a.c", number, function, 120 * count, count, "buffer");
    for (const char *caller : callers) {
      auto place = std::make_shared<SiteText>(made.site), around = std::make_shared<SiteText>();
      around->function = caller;
      made.paths.push_back({120, 1, {place, around}, true, 0});
    }
    return made;
  };
  const Report plain = reportOf({lineOf("allocate", 5, 2, {"grow", "load"})});
  const Report optimized = reportOf({lineOf("grow", 20, 1, {"main"}), lineOf("load", 30, 1, {"main"})});
  EXPECT_FALSE(compareRuns(plain, optimized).differs());
  EXPECT_FALSE(compareRuns(optimized, plain).differs());
  EXPECT_TRUE(compareRuns(plain, reportOf({lineOf("grow", 20, 1, {"main"})})).differs());
  EXPECT_TRUE(
      compareRuns(plain, reportOf({lineOf("grow", 20, 1, {"main"}), lineOf("store", 30, 1, {"main"})})).differs());
}

TEST(RunComparison, AddsUpThePlacesOfALine) {
  std::vector<SiteLine> before, after;
  for (const char *function : {"Pool<72>::take()", "Pool<88>::take()"}) {
    before.push_back(line("pool.h", 317, function, 5 * 1000, 5, "block"));
    after.push_back(line("pool.h", 317, function, 2 * 4000, 2, "block"));
  }
  EXPECT_EQ(sentenceOf(compareRuns(reportOf(before), reportOf(after))),
            "B needs 5.86 KiB more at its peak: 5.86 KiB of it at pool.h:317 in Pool::take (`block`), 4 blocks of "
            "3.91 KiB instead of 10 of 1000 B.");
}

TEST(RunComparison, TellsBothDirectionsIfTheyNearlyCancel) {
  const Report before = reportOf({line("a.c", 3, "windows", 10 * kMiB, 5), line("b.c", 1, "load", kMiB, 1)});
  const Report after = reportOf({line("c.c", 7, "window", 11 * kMiB, 1), line("b.c", 1, "load", kMiB, 1)});
  EXPECT_EQ(sentenceOf(compareRuns(before, after)),
            "B needs 1.00 MiB more at its peak: 11.0 MiB more at c.c:7 in window (`rows`), new; 10.0 MiB less at "
            "a.c:3 in windows (`rows`), gone.");
  EXPECT_THAT(sentenceOf(compareRuns(before, reportOf({line("c.c", 7, "window", 11 * kMiB, 1)}))),
              HasSubstr("B needs as many bytes as A at its peak, but not from the same places: 11.0 MiB more at"));
}

TEST(RunComparison, TellsPlacesApartThatHadTheSameLineInTurn) {
  EXPECT_THAT(
      sentenceOf(compareRuns(reportOf({line("a.c", 3, "make", kMiB, 1, "output")}),
                             reportOf({line("a.c", 3, "make", kMiB, 1, "input")}))),
      HasSubstr("not from the same places: 1.00 MiB more at a.c:3 in make (`input`), new; 1.00 MiB less at a.c:3 "
                "in make (`output`), gone."));
}

TEST(RunComparison, TellsWhichPlaceLeaks) {
  const Report before = reportOf({line("a.c", 3, "grow", kMiB, 1)});
  Report after = before;
  LeakLine leak;
  static_cast<SiteLine &>(leak) = line("list.c", 5, "copyNode", 300, 3, "node");
  after.leaks.by_site = {leak};
  after.leaks.sum = {300, 3};
  EXPECT_EQ(sentenceOf(compareRuns(before, after)), "B leaks 300 B more: 300 B of it at list.c:5 in copyNode (`node`), "
                                                    "new. It needs as many bytes as A at its peak.");
}

TEST(RunComparison, TellsWhatIsAllocatedBesideThePeak) {
  const auto reportWith = [](uint64_t bytes, uint64_t count = 10) {
    Report report = reportOf({line("a.c", 3, "grow", kMiB, 1)});
    const auto row = [](const SiteLine &line) {
      return std::vector<Cell>{std::make_shared<const SiteText>(line.site), line.bytes, line.count, line.count};
    };
    Section section;
    section.name = "allocations";
    section.columns = {{"place", Unit::Place, Fold::Key}, {"bytes", Unit::Bytes}, {"count"}, {"temporary"}};
    section.rows = {row(line("a.c", 3, "grow", kMiB, 1)), row(line("b.c", 9, "read", bytes, count))};
    report.sections = {section};
    return report;
  };
  const RunComparison comparison = compareRuns(reportWith(40 * kMiB), reportWith(10 * kMiB));
  EXPECT_FALSE(comparison.differs()) << "its memory is the same";
  EXPECT_EQ(sentenceOf(comparison), "B needs the same memory as A. In all, it allocates 30.0 MiB less: 30.0 MiB of it "
                                    "at b.c:9 in read (`rows`), 1.00 MiB instead of 4.00 MiB for each block.");
  EXPECT_EQ(jsonOf(comparison)["allocated"]["change_bytes"], -30 * int64_t{kMiB});
  EXPECT_EQ(sentenceOf(compareRuns(reportWith(kMiB), reportWith(kMiB + 1))), "B needs the same memory as A.");
  EXPECT_THAT(
      sentenceOf(compareRuns(reportWith(kMiB, 100), reportWith(kMiB - 16, 99))),
      HasSubstr("In all, it allocates 16 B less: 16 B of it at b.c:9 in read (`rows`), 99 blocks instead of 100."))
      << "many blocks are as much as many bytes";
}

TEST(RunComparison, OfManySmallChangesSaysSo) {
  std::vector<SiteLine> before, after;
  for (uint32_t i = 1; i <= 20; ++i) {
    before.push_back(line("a.c", i, ("f" + std::to_string(i)).c_str(), kMiB, 1));
    after.push_back(line("a.c", i, ("f" + std::to_string(i)).c_str(), 2 * kMiB, 1));
  }
  EXPECT_THAT(textOf(compareRuns(reportOf(before), reportOf(after))),
              HasSubstr("B needs 20.0 MiB more at its peak, in many places."));
}

TEST(RunComparison, CountsOtherBlocksOfTheSameSize) {
  const std::string text = textOf(
      compareRuns(reportOf({line("a.c", 3, "grow", 4 * kMiB, 4)}), reportOf({line("a.c", 3, "grow", 8 * kMiB, 8)})));
  EXPECT_THAT(text, HasSubstr("8 blocks instead of 4"));
  EXPECT_THAT(sentenceOf(compareRuns(reportOf({line("a.c", 3, "grow", 302 * 55, 302)}),
                                     reportOf({line("a.c", 3, "grow", 3 * 61, 3)}))),
              HasSubstr("3 blocks instead of 302"));
}

TEST(RunComparison, NamesTheStateOfEachPlace) {
  const Report small = reportOf({line("a.c", 3, "grow", kMiB, 1)}),
               large = reportOf({line("a.c", 3, "grow", 2 * kMiB, 1)});
  EXPECT_EQ(stateOf(small, small), PlaceState::Same);
  EXPECT_EQ(stateOf(small, large), PlaceState::Grown);
  EXPECT_EQ(stateOf(large, small), PlaceState::Shrunk);
  EXPECT_EQ(stateOf(reportOf({}), small), PlaceState::New);
  EXPECT_EQ(stateOf(small, reportOf({})), PlaceState::Gone);
  EXPECT_EQ(stateOf(small, reportOf({line("a.c", 9, "grow", kMiB, 1)})), PlaceState::Moved);
}

TEST(RunComparison, OfMovedSourcesIsNoDifference) {
  const Report before = reportOf({line("/home/me/net/a.c", 3, "grow", kMiB, 1)});
  EXPECT_FALSE(compareRuns(before, reportOf({line("/build/net/a.c", 30, "grow", kMiB, 1)})).differs());
  EXPECT_FALSE(compareRuns(before, reportOf({line("/home/me/net/b.c", 3, "grow", kMiB, 1)})).differs());
  EXPECT_FALSE(compareRuns(before, reportOf({line("/home/me/net/a.c", 3, "enlarge", kMiB, 1)})).differs());
}

TEST(RunComparison, KnowsALibraryByItsNameAndFunction) {
  const Report before = reportOf({inLibrary("/opt/libcudart-d0da41ae.so.11.0", "cudaMalloc", 64)});
  const Report after = reportOf({inLibrary("/usr/lib/libcudart.so.12", "cudaMalloc", 64)});
  EXPECT_FALSE(compareRuns(before, after).differs());
  EXPECT_TRUE(compareRuns(before, reportOf({inLibrary("/usr/lib/libcudart.so.12", "cudaMallocHost", 64)})).differs());
}

TEST(RunComparison, TellsTheEnvironmentFirst) {
  Report before = reportOf({}), after = reportOf({});
  after.command = {"./net", "--batch", "8"};
  before.environment = {{"host", "n1"}, {"library libc", "libc.so.6 0011aabb"}};
  after.environment = {{"host", "n1"}, {"library libc", "libc.so.6 ccdd0011"}};
  const RunComparison comparison = compareRuns(before, after);
  EXPECT_FALSE(comparison.differs()) << "only the environment";
  const std::string text = textOf(comparison);
  EXPECT_LT(text.find("command: ./net -> ./net --batch 8"), text.find("Peak"));
  EXPECT_THAT(text, HasSubstr("library libc: libc.so.6 0011aabb -> libc.so.6 ccdd0011"));
  EXPECT_THAT(text, Not(HasSubstr("host")));
}

TEST(RunComparison, AsJsonHasTheFieldsOfItsContract) {
  const auto json =
      jsonOf(compareRuns(reportOf({line("a.c", 3, "grow", kMiB, 1)}), reportOf({line("a.c", 5, "grow", 3 * kMiB, 3)})));
  EXPECT_EQ(json["peak"]["before"], kMiB);
  EXPECT_EQ(json["peak"]["after"], 3 * kMiB);
  const auto &site = json["sites"].at(0);
  EXPECT_EQ(site["site"]["line"], 5);
  EXPECT_EQ(site["before"]["bytes"], kMiB);
  EXPECT_EQ(site["after"]["count"], 3);
  EXPECT_EQ(site["change_bytes"], 2 * kMiB);
  EXPECT_EQ(site["state"], "grown");
  EXPECT_TRUE(json["environment"].is_array());
  EXPECT_TRUE(json["launches"].is_array());
  EXPECT_TRUE(json["findings"].is_array());
}

TEST(RunComparison, AtAnotherMomentComparesWhatIsAliveThen) {
  const Report before = reportOf({line("a.c", 3, "grow", 9 * kMiB, 1)});
  Report after = before;
  LeakLine kept;
  static_cast<SiteLine &>(kept) = line("a.c", 5, "keep", kMiB, 1);
  after.leaks.by_site = {kept};
  after.leaks.sum = {kMiB, 1};
  after.alive.by_site = {kept};
  after.alive.sum = {kMiB, 1};
  EXPECT_EQ(compareRuns(before, after).alive.changeBytes(), 0);
  EXPECT_EQ(compareRuns(before, after, StateAt::End).alive.after_bytes, 2 * kMiB) << "leaked, or of a killed process";
  EXPECT_EQ(compareRuns(before, after, StateAt::Cut).alive.after_bytes, kMiB);
}

TEST(RunComparison, AtTheEdgesOfItsNumbersIsExact) {
  const RunComparison comparison =
      compareRuns(reportOf({line("a.c", 3, "grow", 0, 0)}), reportOf({line("a.c", 3, "grow", INT64_MAX, 1)}));
  EXPECT_EQ(comparison.alive.places.at(0).changeBytes(), INT64_MAX);
}

TEST(RunComparison, ComparesLeaksInPools) {
  const auto leakOf = [](uint64_t bytes) {
    Report report = reportOf({});
    LeakLine leak;
    static_cast<SiteLine &>(leak) = line("a.c", 3, "take", bytes, 2);
    report.leaks.pool_by_site = {leak};
    report.leaks.pool_sum = {bytes, 2};
    return report;
  };
  EXPECT_FALSE(compareRuns(leakOf(kMiB), leakOf(kMiB)).differs());
  const RunComparison comparison = compareRuns(leakOf(kMiB), leakOf(3 * kMiB));
  EXPECT_TRUE(comparison.differs());
  EXPECT_THAT(textOf(comparison), HasSubstr("Leaks in pools 1.00 MiB -> 3.00 MiB; places: 1 grown"));
  const auto pool = jsonOf(comparison)["leaks"]["pool"];
  EXPECT_EQ(pool["change_bytes"], 2 * kMiB);
  EXPECT_EQ(pool["sites"].at(0)["state"], "grown");
}

TEST(RunComparison, ShowsTheFindingsOfOneRunOnly) {
  Report before = reportOf({}), after = reportOf({});
  Finding leak;
  static_cast<SiteLine &>(leak) = line("a.c", 3, "grow", kMiB, 1);
  leak.id = "1";
  leak.kind = "leak";
  after.findings = {leak};
  const auto json = jsonOf(compareRuns(before, after));
  EXPECT_EQ(json["findings"].at(0)["state"], "new");
  EXPECT_EQ(json["findings"].at(0)["kind"], "leak");
  EXPECT_THAT(textOf(compareRuns(after, before)), HasSubstr("gone  leak (1.00 MiB) at a.c:3"));
  EXPECT_THAT(compareRuns(after, after).findings, IsEmpty());
  before.findings = {leak, leak};
  before.findings.at(1).part = "later blocks";
  EXPECT_THAT(compareRuns(before, after).findings, IsEmpty()) << "B has all these blocks in one finding";
  before.findings.clear();
  after.findings.at(0).kind = "peak";
  EXPECT_THAT(compareRuns(before, after).findings, IsEmpty()) << "the places say this";
}

TEST(RunComparison, LeavesOutWhatSamplesMissed) {
  const auto reportWith = [](uint64_t bytes, std::vector<Finding> findings) {
    Report report = reportOf({line("a.c", 3, "grow", bytes, 1)});
    report.findings = std::move(findings);
    return report;
  };
  Finding unused;
  static_cast<SiteLine &>(unused) = line("a.c", 3, "grow", kMiB, 1);
  unused.kind = "overallocated";
  const Report before = reportWith(kMiB, {unused});
  EXPECT_THAT(compareRuns(before, reportWith(kMiB, {})).findings, IsEmpty()) << "the place has the same blocks";
  EXPECT_THAT(compareRuns(before, reportWith(3 * kMiB, {})).findings.size(), 1u);
  unused.heap = abi::Heap::Device;
  EXPECT_THAT(compareRuns(reportWith(kMiB, {unused}), reportWith(kMiB, {})).findings.size(), 1u)
      << "events tell this exactly";
}

} // namespace msleaks::analysis::compare
