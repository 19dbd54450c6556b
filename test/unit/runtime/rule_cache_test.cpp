// Tests the cache of unwind rules for walks: which rules it finds, and how long it stores them.
#include "unwind/rule_cache.h"

#include <gtest/gtest.h>

#include <memory>

namespace msleaks::test {
namespace {

using namespace runtime::unwind;

constexpr uint64_t kFirst = 0x7f00'0000'1234, kDistance = 0x1'0057;

Rule ruleOf(unsigned number) {
  return {.kind = RuleKind::Plain, .offset = 8 * static_cast<int32_t>(number), .return_slot = -8};
}

class Rules : public ::testing::Test {
protected:
  unsigned countFound(unsigned addresses) const {
    unsigned found = 0;
    for (unsigned i = 0; i < addresses; ++i) {
      Rule rule;
      found += rules->find(kFirst + i * kDistance, rule) && rule == ruleOf(i);
    }
    return found;
  }
  void put(unsigned addresses) {
    for (unsigned i = 0; i < addresses; ++i)
      rules->put(kFirst + i * kDistance, ruleOf(i));
  }
  const std::unique_ptr<RuleCache> rules = std::make_unique<RuleCache>();
};

// The cache must find the rules of all 2,000 addresses. If each address had only one possible place in the cache, about
// thirty pairs of addresses would collide.
TEST_F(Rules, AddressesThatMeetDoNotDisplaceEachOther) {
  put(2000);
  EXPECT_EQ(countFound(2000), 2000u);
}

TEST_F(Rules, MoreThanItHoldsDisplacesTheOldest) {
  constexpr unsigned kMany = 3 * RuleCache::kEntries;
  put(kMany);
  const unsigned found = countFound(kMany);
  EXPECT_GT(found, RuleCache::kEntries / 2);
  EXPECT_LE(found, RuleCache::kEntries);
  Rule newest;
  ASSERT_TRUE(rules->find(kFirst + (kMany - 1) * kDistance, newest));
  EXPECT_EQ(newest, ruleOf(kMany - 1));
}

TEST_F(Rules, DieWhenCodeMayBeUnloaded) {
  put(100);
  rules->beginUnload();
  EXPECT_EQ(countFound(100), 0u);
  put(100);
  rules->endUnload();
  EXPECT_EQ(countFound(100), 0u);
  put(100);
  EXPECT_EQ(countFound(100), 100u);
}

} // namespace
} // namespace msleaks::test
