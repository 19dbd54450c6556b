#include "analysis/counts/comparison.h"

#include "profile_fixture.h"

#include <nlohmann/json.hpp>
#include <sstream>

namespace msleaks::analysis::profiles {
namespace {

using json = nlohmann::json;

std::vector<ProfiledLine> linesOf(const std::vector<std::string> &texts) {
  std::vector<ProfiledLine> lines;
  for (const std::string &text : texts)
    lines.push_back({{}, lines.size(), text});
  return lines;
}

// Returns the aligned lines as text, for example "a=a b|c d|". In this example, the first line has an equal partner,
// the second line has a different partner, and the last line has none.
std::string drawn(const std::vector<std::string> &first, const std::vector<std::string> &second) {
  const auto a = linesOf(first), b = linesOf(second);
  std::string text;
  for (const AlignedLines &pair : aligned(a, b))
    text += (text.empty() ? "" : " ") + (pair.first ? pair.first->text : "") +
            (pair.first && pair.second && pair.first->text == pair.second->text ? "=" : "|") +
            (pair.second ? pair.second->text : "");
  return text;
}

} // namespace

TEST(Alignment, TheLongestCommonPart) {
  EXPECT_EQ(drawn({}, {}), "");
  EXPECT_EQ(drawn({"a"}, {}), "a|");
  EXPECT_EQ(drawn({"a", "b", "c"}, {"a", "b", "c"}), "a=a b=b c=c");
  EXPECT_EQ(drawn({"a", "b", "c"}, {"a", "c"}), "a=a b| c=c");
  EXPECT_EQ(drawn({"a", "c"}, {"x", "a", "b", "c"}), "|x a=a |b c=c");
  EXPECT_EQ(drawn({"a", "old", "c"}, {"a", "new", "c", "d"}), "a=a old|new c=c |d");
  EXPECT_EQ(drawn({"a", "b"}, {"c", "d"}), "a|c b|d");
}

TEST(Alignment, ALinkMovesAddresses) {
  EXPECT_EQ(withoutAddresses("\tcall   1139 <mix>"), "\tcall    <mix>");
  EXPECT_EQ(withoutAddresses("\tlea 0xe9b(%rip),%rax  # 2004 <x+0x4>"), "\tlea 0xe9b(%rip),%rax  #  <x+0x4>");
  EXPECT_EQ(withoutAddresses("\tjmp 0x1139 <mix>"), "\tjmp  <mix>");
  EXPECT_EQ(withoutAddresses("\tadd r0, r0"), "\tadd r0, r0");
  const auto a = linesOf({"x", "call 10 <f>"}), b = linesOf({"call 20 <f>"});
  const auto lines = aligned(a, b);
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_TRUE(lines[1].first && lines[1].second);
}

TEST(Alignment, FunctionsThatHaveLittleInCommonEndToo) {
  std::vector<std::string> first, second;
  for (int i = 0; i < 20'000; ++i) {
    first.push_back("a" + std::to_string(i));
    second.push_back("b" + std::to_string(i));
  }
  const auto a = linesOf(first), b = linesOf(second);
  EXPECT_EQ(aligned(a, b).size(), 20'000u);
}

TEST(Comparison, HottestFunctionsFirst) {
  const Profile first = goldenProfile();
  Profile second = goldenProfile();
  second.functions.erase("empty");
  second.functions["new"] = {{{"cycles", 80}}, {}};
  const auto comparison = compareProfiles(first, second, {});
  ASSERT_TRUE(comparison);
  EXPECT_EQ(comparison->counter, "cycles");
  ASSERT_EQ(comparison->functions.size(), 4u);
  EXPECT_EQ(comparison->functions[0].name, "new");
  EXPECT_EQ(comparison->functions[0].first, nullptr);
  EXPECT_EQ(comparison->functions[1].name, "main");
  EXPECT_EQ(comparison->functions[3].second, nullptr);
}

TEST(Comparison, WhatNeitherHasIsAUsageError) {
  const Profile profile = goldenProfile();
  for (const ComparisonChoice &choice : {ComparisonChoice{"no such", "", {}}, ComparisonChoice{"", "no such", {}}}) {
    const auto comparison = compareProfiles(profile, profile, choice);
    ASSERT_FALSE(comparison);
    EXPECT_EQ(comparison.error().status, ExitStatus::Usage);
    EXPECT_NE(comparison.error().message.find("'no such'"), std::string::npos);
  }
}

TEST(Comparison, AsJson) {
  const Profile first = goldenProfile();
  Profile second = goldenProfile();
  second.counters.erase("branch-misses");
  second.functions["main"].lines.erase(second.functions["main"].lines.begin());
  std::ostringstream out;
  writeComparisonJson(out, *compareProfiles(first, second, {"", "main", {}}));
  const json object = json::parse(out.str());
  EXPECT_EQ(object["counter"], "cycles");
  EXPECT_EQ(object["counters"][0], (json{{"name", "branch-misses"}, {"a", 3'000'000'000'000}, {"b", nullptr}}));
  const json main = object["functions"][0];
  EXPECT_EQ(main["a"]["length"], 2);
  EXPECT_EQ(main["lines"][0]["b"], nullptr);
  EXPECT_EQ(main["lines"][1]["a"], json::parse(R"([{"branch-misses": 0.0, "cycles": 50.0}, 4100, "\tret"])"));
  EXPECT_EQ(main["lines"][1]["a"], main["lines"][1]["b"]);
}

TEST(Comparison, AsText) {
  const Profile first = goldenProfile();
  Profile second = goldenProfile();
  second.counters["cycles"] = 24690;
  second.functions["main"].counters["cycles"] = 60;
  second.functions["main"].lines[1].text = "\tjmp";
  std::ostringstream out;
  writeComparisonText(out, *compareProfiles(first, second, {}), 80);
  const std::string text = out.str();
  EXPECT_NE(text.find("cycles                                  12345                24690   +100.0 %\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("    45.00     60.00  main\n"), std::string::npos) << text;
  EXPECT_NE(text.find("  50.00 add r0, r0, r1                 |   50.00 add r0, r0, r1\n"), std::string::npos) << text;
  EXPECT_NE(text.find("| "), std::string::npos) << text;
  EXPECT_NE(text.find("50.00 ret"), std::string::npos) << text;
  EXPECT_NE(text.find("50.00 jmp"), std::string::npos) << text;
}

} // namespace msleaks::analysis::profiles
