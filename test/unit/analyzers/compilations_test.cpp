// Tests which blocks belong to one compilation, and which of them it keeps.
#include "analysis/analyzers/compilations.h"

#include <gtest/gtest.h>

namespace msleaks::analysis {
namespace {

class CompilationsTest : public testing::Test {
protected:
  static Block blockOf(uint32_t number, uint32_t thread = 1) {
    Block block;
    block.id = {number};
    block.size = number;
    block.process = 1;
    block.stream = thread;
    block.cohort = {1};
    return block;
  }
  void compile(uint32_t number, uint64_t time_ns, uint32_t thread = 1) {
    compilations.onAlloc(blockOf(number, thread), true, time_ns);
  }
  void run(uint32_t thread = 1) { compilations.onAlloc(blockOf(1000, thread), false, 0); }
  const Compilation &at(size_t index) { return compilations.all().at(index); }
  BlockSum keptBy(size_t index) {
    const auto &kept = at(index).kept;
    return kept.empty() ? BlockSum{} : kept.at({1});
  }

  Compilations compilations;
};

TEST_F(CompilationsTest, AnotherBlockOfTheThreadEndsACompilation) {
  run();
  compile(1, 10);
  compile(2, 20);
  run(2);
  compile(4, 30);
  run();
  compile(8, 50);
  ASSERT_EQ(compilations.all().size(), 2u);
  EXPECT_EQ(at(0).begin_ns, 10u);
  EXPECT_EQ(at(0).end_ns, 30u);
  EXPECT_EQ(at(0).bytes.at({1}), 7u);
  EXPECT_EQ(at(1).begin_ns, 50u);
}

TEST_F(CompilationsTest, ThreadsCompileForThemselves) {
  compile(1, 10, 1);
  compile(2, 20, 2);
  compile(4, 30, 1);
  ASSERT_EQ(compilations.all().size(), 2u);
  EXPECT_EQ(at(0).end_ns, 30u);
  EXPECT_EQ(at(1).end_ns, 20u);
}

TEST_F(CompilationsTest, KeepsTheBlocksThatAreAliveAtTheNextOne) {
  compile(1, 10);
  compile(2, 20);
  compile(4, 30);
  compilations.onFree(blockOf(1), false);
  run();
  compilations.onFree(blockOf(2), false); // garbage, collected before the next compilation
  compilations.onFree(blockOf(1000), false);
  compile(8, 50);
  compile(16, 60);
  compilations.onFree(blockOf(4), false);
  compilations.onFree(blockOf(8), false);
  compilations.onFree(blockOf(16), true);
  EXPECT_EQ(keptBy(0), (BlockSum{4, 1}));
  EXPECT_EQ(keptBy(1), (BlockSum{16, 1}));
}

} // namespace
} // namespace msleaks::analysis
