// Tests reports about a part of a run (a time window, a process, a thread, a heap), groupings, and the user's
// suppression rules.
#include "report_fixture.h"

#include "analysis/places/patterns.h"
#include "analysis/report/analyze_run.h"
#include "analysis/report/question.h"
#include "analysis/text/report_text.h"

namespace msleaks::analysis {
namespace {

constexpr Where kOtherThread{.stream = 1, .site = 1}, kOtherProcess{.process = 2, .site = 1};
constexpr Where kOneOnDevice{.heap = abi::Heap::Device, .site = 1};

StreamEvent step(uint64_t ms, uint64_t number) { return test::make<abi::StepEvent>(kStart + ms * kMs, {}, number, 0); }
StreamEvent block(uint64_t ms, uint64_t address, uint64_t bytes, const Where &where = kOne) {
  return test::alloc(kStart + ms * kMs, address, bytes, where);
}
StreamEvent release(uint64_t ms, uint64_t address, const Where &where = kOne) {
  return test::free(kStart + ms * kMs, address, where);
}

class Questions : public ReportTest {
protected:
  void SetUp() override {
    ReportTest::SetUp();
    start(1, 4711);
    start(2, 4712);
    events({block(1, 0x10, 100), step(2, 1), block(3, 0x20, 1000, kTwo), block(4, 0x10, 70, kOneOnDevice), step(5, 2),
            release(6, 0x20, kTwo), block(7, 0x30, 10, kOtherThread), block(8, 0x40, 5), step(9, 3),
            block(10, 0x10, 3, kOtherProcess), release(12, 0x40)});
    end(1, 0, kStart + 20 * kMs);
    end(2, 0, kStart + 30 * kMs);
    manifest();
    close();
  }
  Report ask(const ReportQuestion &question) {
    auto report = analyzeRun(run, question);
    EXPECT_TRUE(report) << report.error().message;
    return report.value_or(Report{});
  }
  Report between(const char *from, const char *to, const char *born_until = "") {
    ReportQuestion question;
    question.window = *parseWindow(from, to, born_until);
    return ask(question);
  }
};

} // namespace

TEST_F(Questions, AWindowKnowsWhatLivedBeforeIt) {
  const Report report = between("2ms", "7ms");
  EXPECT_EQ(report.peak.bytes, 100u + 1000 + 70);
  EXPECT_EQ(report.peak.time_ns, kStart + 4 * kMs);
  EXPECT_TRUE(report.leaks.empty()) << "no process has ended yet";
  EXPECT_EQ(report.alive.sum, (BlockSum{170, 2}));
  for (const Section &section : report.sections)
    if (section.name == "allocations") {
      EXPECT_EQ(std::get<uint64_t>(section.totals()[1]), 1070u) << "what lived before was not allocated in it";
    }
}

TEST_F(Questions, AStateIsThatOfThePeakOrTheEndOrAMoment) {
  const auto at = [&](const char *name) {
    ReportQuestion question;
    question.at = *parseState(name);
    return ask(question);
  };
  EXPECT_EQ(at("peak").peak.bytes, report().peak.bytes);
  EXPECT_EQ(at("peak").at->time_ns, kStart + 4 * kMs + 1) << "behind the event that reached it";
  EXPECT_EQ(at("end").alive.sum, (BlockSum{3, 1})) << "the other process had ended";
  EXPECT_EQ(at("step:2").alive.sum, (BlockSum{1170, 3}));
  EXPECT_EQ(at("1h").alive.sum, BlockSum());
  std::ostringstream text;
  writeScreen(text, at("step:2"), {});
  EXPECT_NE(text.str().find("alive   1.14 KiB in 3 blocks at step:2 (5.0 ms after the start)"), std::string::npos)
      << text.str();
  EXPECT_NE(text.str().find("\nAlive at step:2\n"), std::string::npos) << text.str();
  EXPECT_EQ(text.str().find("Findings"), std::string::npos) << text.str();
  EXPECT_FALSE(parseState("later"));
}

TEST_F(Questions, AWindowUpToTheEndHasTheLeaks) {
  EXPECT_EQ(between("8ms", "").leaks.sum, report().leaks.sum);
  EXPECT_EQ(between("8ms", "").peak.bytes, 100u + 70 + 10 + 5 + 3);
  EXPECT_EQ(between("", "").peak.bytes, report().peak.bytes);
}

TEST_F(Questions, AProcessThatEndedInTheWindowHasLeaks) {
  const Report report = between("", "25ms");
  EXPECT_EQ(report.leaks.sum, (BlockSum{180, 3})) << "of the first process";
  EXPECT_EQ(report.alive.sum, (BlockSum{3, 1}));
  EXPECT_EQ(between("22ms", "25ms").leaks.sum.count, 0u);
}

TEST_F(Questions, StepsBoundAWindow) {
  const Report report = between("step:2", "step:3");
  EXPECT_EQ(report.peak.bytes, 1170u);
  EXPECT_EQ(report.alive.sum, (BlockSum{185, 4}));
  for (const auto &[from, to] : {std::pair("step:9", ""), std::pair("step:0", ""), std::pair("", "mark:loaded")}) {
    ReportQuestion question;
    question.window = *parseWindow(from, to);
    const auto nothing = analyzeRun(run, question);
    ASSERT_FALSE(nothing);
    EXPECT_EQ(nothing.error().status, ExitStatus::Usage);
  }
}

TEST_F(Questions, WhatOutlivesAMomentIsLeaked) {
  const Report report = between("step:1", "step:3", "step:2");
  EXPECT_EQ(report.leaks.sum, (BlockSum{70, 1})) << "block 0x20 was freed, and 0x40 came later";
  EXPECT_TRUE(report.alive.empty());
  EXPECT_EQ(report.peak.bytes, 1070u) << "of these blocks";
  EXPECT_EQ(between("", "13ms", "9ms").leaks.sum, (BlockSum{180, 3})) << "times; block 0x40 is freed before";
  EXPECT_EQ(between("step:1", "", "step:2").leaks.sum, (BlockSum{70, 1})) << "up to the end of its process";
  ReportQuestion question;
  question.window = *parseWindow("step:1", "", "step:9");
  EXPECT_EQ(analyzeRun(run, question).error().status, ExitStatus::Usage) << "there is no such step";
}

TEST_F(Questions, ResultsOfTwoProcessesAddUp) {
  ReportQuestion first, second, group;
  first.pid = 4711;
  second.pid = 4712;
  group.group_by = first.group_by = second.group_by = Dimension::Site;
  const Report all = ask(group), one = ask(first), other = ask(second);
  BlockSum leaks = one.leaks.sum;
  leaks += other.leaks.sum;
  EXPECT_EQ(leaks, all.leaks.sum);
  ASSERT_EQ(all.sections.size(), one.sections.size());
  for (size_t i = 0; i < all.sections.size(); ++i) {
    // The totals of two tables differ from the sum over the processes. process_places shows the common peak, which is
    // not the peak of either process. fluctuation shows only one process: the one with steps.
    if (all.sections[i].name == "process_places" || all.sections[i].name == "fluctuation")
      continue;
    const Section *same = nullptr;
    for (const Section &section : other.sections)
      same = section.name == all.sections[i].name ? &section : same;
    ASSERT_NE(same, nullptr) << all.sections[i].name;
    Section sum = one.sections[i];
    sum += *same;
    if (!sum.name.starts_with("peak_by_")) { // the peaks of two processes are at different times
      EXPECT_EQ(sum.totals(), all.sections[i].totals()) << sum.name;
    }
  }
  ReportQuestion nobody;
  nobody.pid = 1;
  EXPECT_EQ(analyzeRun(run, nobody).error().message, "the run has no process 1");
}

TEST_F(Questions, ThreadsAndHeapsAreSelectedByWhoAllocated) {
  ReportQuestion device;
  device.heap = abi::Heap::Device;
  EXPECT_EQ(ask(device).peak.bytes, 70u);
  ReportQuestion nobody;
  nobody.tid = 99;
  EXPECT_EQ(analyzeRun(run, nobody).error().message, "the run has no thread 99");
}

TEST_F(Questions, EveryGroupingHasTheSameTotal) {
  for (const char *name :
       {"site", "path", "function", "file", "type", "variable", "owner", "thread", "process", "device", "library"}) {
    ReportQuestion question;
    question.group_by = *parseDimension(name);
    const Report report = ask(question);
    size_t groups = 0;
    const auto expectTotal = [&](const std::string &of, uint64_t bytes) {
      for (const Section &section : report.sections)
        if (section.name == of + "_by_" + name) {
          EXPECT_EQ(std::get<uint64_t>(section.totals()[1]), bytes) << section.name;
          ++groups;
        }
    };
    expectTotal("peak", report.peak.bytes);
    expectTotal("leaks", report.leaks.sum.bytes);
    EXPECT_EQ(groups, 2u) << name;
  }
}

// Only the requested grouping may replace the lists of places. A table of an analyzer must not replace them, even if
// its name is that of the grouping.
TEST_F(Questions, ATableOfAnAnalyzerIsNoGrouping) {
  Report report = ask({});
  report.sections.push_back({"mine/rows_by_line", "My rows", {{"rows", Unit::Count, Fold::Sum}}, {{uint64_t{7}}}});
  std::ostringstream out;
  writeReportTable(out, report, {.columns = 80, .top = 10, .color = false});
  for (const char *title : {"My rows", "At the peak", "Leaked"})
    EXPECT_NE(out.str().find(title), std::string::npos) << title << " is missing in:\n" << out.str();
}

TEST_F(Questions, ARuleOfTheUserSuppressesLeaks) {
  ReportQuestion question;
  question.suppressions = *parseSuppressions("# ours\n\n  leak:net::grow*long)\r\n", "mine.supp");
  const Report report = ask(question);
  EXPECT_TRUE(report.leaks.empty());
  EXPECT_TRUE(report.findings.empty() || report.findings[0].kind != "leak");
  EXPECT_EQ(report.suppressed.sum, (BlockSum{183, 4}));
  EXPECT_EQ(report.suppressed.by_site[0].reason, "mine.supp:3: leak:net::grow*long)");
}

TEST_F(Questions, AFilterLeavesWhatMatches) {
  Report report = ask({});
  const size_t findings = report.findings.size();
  keepMatching(report, Pattern("net.cpp$"));
  EXPECT_EQ(report.findings.size(), findings);
  EXPECT_FALSE(report.peak.by_site.empty());
  keepMatching(report, Pattern("^weights$"));
  ASSERT_EQ(report.leaks.by_site.size(), 2u) << "one place, in two heaps";
  keepMatching(report, Pattern("nothing"));
  EXPECT_TRUE(report.peak.by_site.empty());
  EXPECT_TRUE(report.findings.empty());
}

TEST(Moments, AreTimesStepsAndMarks) {
  EXPECT_EQ(std::get<uint64_t>(*parseMoment("1.5s")), 1'500'000'000u);
  EXPECT_EQ(std::get<uint64_t>(*parseMoment("90")), 90'000'000'000u);
  EXPECT_EQ(std::get<uint64_t>(*parseMoment("2min")), 120'000'000'000u);
  EXPECT_EQ(std::get<StepBegin>(*parseMoment("step:7")).number, 7u);
  EXPECT_EQ(std::get<MarkNamed>(*parseMoment("mark:model loaded")).label, "model loaded");
  for (const char *wrong :
       {"", "x", "-1s", "1.5parsecs", "step:", "step:-1", "step:1x", "mark:", "nan", "1e300s", "inf"})
    EXPECT_FALSE(parseMoment(wrong)) << wrong;
  EXPECT_EQ(parseWindow("2s", "1s").error().status, ExitStatus::Usage);
  EXPECT_FALSE(parseWindow("1s", "1000ms"));
  EXPECT_TRUE(parseWindow("", ""));
  EXPECT_FALSE(parseWindow("2s", "3s", "1s"));
  EXPECT_FALSE(parseWindow("1s", "2s", "3s"));
  EXPECT_TRUE(parseWindow("1s", "3s", "2s"));
}

TEST(Rules, AreLeakSanitizers) {
  EXPECT_TRUE(Pattern("grow").matches("net::grow()"));
  EXPECT_TRUE(Pattern("^net*()$").matches("net::grow()"));
  EXPECT_FALSE(Pattern("^grow").matches("net::grow()"));
  EXPECT_TRUE(Pattern("^a*b*c$").matches("a_b_bc"));
  EXPECT_FALSE(Pattern("^a*b*c$").matches("a_b_cd"));
  EXPECT_FALSE(Pattern("ab*ab$").matches("_ab")) << "one of them twice";
  EXPECT_TRUE(Pattern("^*$").matches("x"));
  EXPECT_TRUE(Pattern("operator[]").matches("T::operator[](int)")) << "brackets are themselves";
  EXPECT_FALSE(Pattern("x").matches(""));
  EXPECT_TRUE(Pattern("a" + std::string(10'000, '*') + "b").matches("aaaaaaaaaaaaaaaaaaaaaaaaaab"));
  EXPECT_TRUE(parseSuppressions("", "f")->empty());
  EXPECT_EQ(parseSuppressions("leak:a\nfun:b\n", "f").error().message, "f:2: a rule is `leak:PATTERN`");
  EXPECT_FALSE(parseSuppressions("leak:", "f"));
  EXPECT_FALSE(parseSuppressions(std::string("leak:a\0b", 8), "f"));
}

} // namespace msleaks::analysis
