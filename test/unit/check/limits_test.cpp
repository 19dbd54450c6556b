// Tests which peaks the limits of `msleaks check` allow, and which limits are invalid.
#include "analysis/compare/limits.h"

#include <gmock/gmock.h>

namespace msleaks::analysis {
namespace {

using testing::HasSubstr;

// Returns the largest allowed peak for a limit and a baseline, or 0 if the text is no valid limit.
uint64_t mostOf(std::string_view text, uint64_t baseline = 1000) {
  const auto limit = parsePeakLimit(text);
  return limit ? mostBytes(*limit, baseline) : 0;
}

} // namespace

TEST(Limits, OfThePeakAreSizesOrWhatIsAdded) {
  EXPECT_EQ(mostOf("1500"), 1500u);
  EXPECT_EQ(mostOf("4KiB"), 4096u);
  EXPECT_EQ(mostOf("+4KiB"), 5096u);
  EXPECT_EQ(mostOf("+0"), 1000u);
  EXPECT_EQ(mostOf("+2%"), 1020u);
  EXPECT_EQ(mostOf("+0%"), 1000u);
  EXPECT_EQ(mostOf("+2.55%"), 1025u) << "whole bytes, never more than was said";
  EXPECT_EQ(mostOf("+100%"), 2000u);
  EXPECT_EQ(mostOf("+29%", 100), 129u) << "not 128: no error of a double is in it";
}

TEST(Limits, DoNotOverflow) {
  EXPECT_EQ(mostOf("+1000%", uint64_t{1} << 62), UINT64_MAX);
  EXPECT_EQ(mostOf("+5", UINT64_MAX - 2), UINT64_MAX);
  EXPECT_EQ(mostOf("+2%", 100'000'000'000'000'000), 102'000'000'000'000'000u);
}

TEST(Limits, OfOtherWordsAreRefused) {
  for (const char *text : {"", "+", "%", "+%", "2%", "-2%", "+-2%", "++2%", "+2 percent", "much", "-5", "+-5", "5XB",
                           "99999999999999999999", "+nan%", "+inf%", "20000000EiB"}) {
    const auto limit = parsePeakLimit(text);
    ASSERT_FALSE(limit) << text;
    EXPECT_EQ(limit.error().status, ExitStatus::Usage) << text;
    EXPECT_THAT(limit.error().message, HasSubstr("--peak")) << text;
  }
}

TEST(Limits, ThatCompareNeedABaseline) {
  const auto errorOf = [](const Limits &limits) { return checkBaseline(limits, false); };
  EXPECT_TRUE(errorOf({}));
  EXPECT_TRUE(errorOf({.peak = AtMostBytes{5}, .leak_bytes = 0}));
  EXPECT_THAT(errorOf({.peak = MoreBytes{5}}).error().message, HasSubstr("--peak"));
  EXPECT_THAT(errorOf({.peak = MorePercent{5}}).error().message, HasSubstr("--peak"));
  EXPECT_THAT(errorOf({.new_places = true}).error().message, HasSubstr("--sites new"));
  EXPECT_EQ(errorOf({.new_places = true}).error().status, ExitStatus::Usage);
  EXPECT_TRUE(checkBaseline({.peak = MoreBytes{5}, .new_places = true}, true));
}

} // namespace msleaks::analysis
