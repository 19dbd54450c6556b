// Tests which hints are dropped because another finding is about the same memory, and how many findings are compared.
#include "analysis/findings/twins.h"

#include <algorithm>
#include <gtest/gtest.h>

namespace msleaks::analysis {
namespace {

Finding hintAt(uint32_t line) {
  Finding finding;
  finding.kind = "unused";
  finding.site.file = "net.cpp";
  finding.site.line = line;
  finding.bytes = 100;
  finding.confidence = Confidence::Hint;
  return finding;
}

Finding leakAt(uint32_t line) {
  Finding finding = hintAt(line);
  finding.kind = "leak";
  finding.confidence = Confidence::Likely;
  return finding;
}

std::vector<Finding *> listOf(std::vector<Finding> &findings) {
  std::vector<Finding *> list;
  for (Finding &finding : findings)
    list.push_back(&finding);
  return list;
}

} // namespace

TEST(Twins, AHintGivesWayToASurerFindingOfItsPlace) {
  std::vector<Finding> findings{hintAt(6), leakAt(6), hintAt(7), leakAt(8)};
  EXPECT_EQ(twinsIn(listOf(findings)), (std::vector<bool>{true, false, false, false}));
}

TEST(Twins, AHintAboutOtherBlocksStays) {
  std::vector<Finding> findings{hintAt(6), leakAt(6)};
  findings[1].bytes = 49; // less than half of the hint's bytes
  EXPECT_EQ(twinsIn(listOf(findings)), (std::vector<bool>{false, false}));
  findings[1].bytes = 100;
  findings[0].callers = "main", findings[1].callers = "load";
  EXPECT_EQ(twinsIn(listOf(findings)), (std::vector<bool>{false, false}));
}

TEST(Twins, ACopyOfAnotherHostBlockStays) {
  std::vector<Finding> findings{hintAt(6), leakAt(6)};
  findings[0].kind = "copy";
  EXPECT_EQ(twinsIn(listOf(findings)), (std::vector<bool>{true, false}));
  findings[0].evidence = {{"copied_from", std::string("net.cpp:4")}};
  EXPECT_EQ(twinsIn(listOf(findings)), (std::vector<bool>{false, false}));
}

// A run may have more places than the report has findings. Comparing all pairs would take minutes.
TEST(Twins, OnlyFindingsOfOnePlaceAreCompared) {
  constexpr uint32_t kPlaces = 1000;
  std::vector<Finding> findings;
  for (uint32_t line = 1; line <= kPlaces; ++line) {
    findings.push_back(hintAt(line));
    findings.push_back(leakAt(line));
  }
  size_t comparisons = 0;
  const auto twins = twinsIn(listOf(findings), [&](const Finding &hint, const Finding &finding) {
    ++comparisons;
    return givesWay(hint, finding);
  });
  EXPECT_EQ(comparisons, kPlaces);
  EXPECT_EQ(std::count(twins.begin(), twins.end(), true), kPlaces);
}

} // namespace msleaks::analysis
