// Tests the tree of owners, which is built from the components of the owners' names.
#include "analysis/live/owner_tree.h"

#include "../places/definition_bytes.h"

#include <gtest/gtest.h>

namespace msleaks::analysis {
namespace {

class OwnerTreeTest : public testing::Test {
protected:
  OwnerTree::NodeId of(const std::string &owner) {
    const auto records = test::Records().label(++last_number, owner);
    catalog.addDefinitions(1, test::bytesOf(records.bytes));
    Cohort cohort;
    cohort.owner = catalog.labels().find(1, last_number);
    return tree.of(cohorts.of(cohort));
  }
  std::vector<std::string> above(OwnerTree::NodeId node) const {
    std::vector<std::string> paths;
    tree.forEachUp(node, [&](OwnerTree::NodeId at) { paths.push_back(tree.pathOf(at)); });
    return paths;
  }
  Cohorts cohorts;
  Symbolizer symbolizer;
  SiteCatalog catalog{symbolizer};
  OwnerTree tree{cohorts, catalog};
  uint32_t last_number = 0;
};

using Paths = std::vector<std::string>;

TEST_F(OwnerTreeTest, ComponentsAreBelowEachOther) {
  const auto node = of("torch@model@conv1");
  EXPECT_EQ(above(node), (Paths{"torch@model@conv1", "torch@model", "torch"}));
  EXPECT_EQ(of("torch@model@conv1"), node);
  EXPECT_EQ(above(of("torch@loader")), (Paths{"torch@loader", "torch"}));
  EXPECT_EQ(tree.size(), 5u);
}

TEST_F(OwnerTreeTest, NobodyIsANodeOfItsOwn) {
  Cohort cohort;
  cohort.process = 7;
  EXPECT_EQ(tree.of(cohorts.of(cohort)), OwnerTree::NodeId{});
  EXPECT_EQ(above({}), Paths{""});
  EXPECT_EQ(of(""), OwnerTree::NodeId{});
}

TEST_F(OwnerTreeTest, NodesStandAboveWhatIsBelowThem) {
  of("b");
  of("a@x");
  of("a b");
  of("a@x@1");
  Paths paths;
  for (const auto node : tree.inOrder())
    paths.push_back(tree.pathOf(node));
  EXPECT_EQ(paths, (Paths{"a", "a@x", "a@x@1", "a b", "b", ""}));
}

TEST_F(OwnerTreeTest, IsNotDeeperThanItShouldBe) {
  const Paths paths = above(of(std::string(5000, '@')));
  EXPECT_LE(paths.size(), 16u);
  EXPECT_EQ(paths.front().size(), 5000u);
  EXPECT_EQ(above(of("@x")), Paths{"@x"});
}

} // namespace
} // namespace msleaks::analysis
