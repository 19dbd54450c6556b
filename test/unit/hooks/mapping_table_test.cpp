// Tests the table of guarded mappings with a few entries.
#include "host/mapping_table.h"

#include <gtest/gtest.h>

namespace {

using msleaks::hooks::MappingTable;

class MappingTableTest : public testing::Test {
protected:
  bool add(uint64_t begin, uint64_t end) {
    auto *entry = table.claim();
    if (entry != nullptr)
      table.put(*entry, {begin, end});
    return entry != nullptr;
  }

  MappingTable<2> table;
};

TEST_F(MappingTableTest, AMappingThatEndsMakesRoom) {
  EXPECT_TRUE(add(100, 200));
  EXPECT_TRUE(add(300, 400));
  EXPECT_FALSE(add(500, 600));
  EXPECT_EQ(table.take(399).begin, 300u);
  EXPECT_TRUE(table.take(399).empty());
  EXPECT_TRUE(add(500, 600));
  EXPECT_EQ(table.at(100).end, 200u);
  EXPECT_EQ(table.at(599).begin, 500u);
}

TEST_F(MappingTableTest, AnAddressBesideAllMappingsIsInNone) {
  EXPECT_TRUE(table.at(0).empty());
  EXPECT_TRUE(add(100, 200));
  EXPECT_TRUE(table.at(99).empty());
  EXPECT_TRUE(table.at(200).empty());
  EXPECT_TRUE(table.take(200).empty());
  EXPECT_EQ(table.at(100).begin, 100u);
}

TEST_F(MappingTableTest, AnEntryThatIsGivenUpIsFree) {
  auto *first = table.claim(), *second = table.claim();
  ASSERT_TRUE(first != nullptr && second != nullptr);
  EXPECT_EQ(table.claim(), nullptr);
  EXPECT_TRUE(table.at(0).empty()); // a claimed entry contains no mapping yet
  table.giveUp(*first);
  EXPECT_EQ(table.claim(), first);
}

} // namespace
