// Tests which node of PyTorch's backward pass a block belongs to.
#include "live_set_fixture.h"

#include "random_run.h"

#include "analysis/live/saved_fields.h"

namespace msleaks::analysis {

using test::alloc;
using test::make;
using test::Where;

namespace {

constexpr uint64_t kNode = 0x1000, kOtherNode = 0x2000;
constexpr Where kLine{.site = 1}, kOtherLine{.site = 2}, kOfNode{.site = 3}, kOfOtherThread{.stream = 1, .site = 3};

class ForwardTest : public LiveSetTest {
protected:
  void SetUp() override {
    const std::string records = test::RandomRun::labels().bytes;
    labels.addDefinitions(1, test::bytesOf(records));
    live.useLabels(labels);
    apply(alloc(++now, kNode, 200, kLine));
    apply(alloc(++now, kOtherNode, 200, kOtherLine));
  }
  void evaluate(uint64_t node, const Where &where = {}, uint64_t label = test::RandomRun::kNodeLabel) {
    apply(make<abi::CounterEvent>(++now, where, label, node));
  }
  uint32_t forwardAt(uint64_t address) {
    return live.cohorts()[live.find(1, AddressSpace::Host, address)->cohort].forward.index;
  }
  uint32_t forward(const Where &where = kOfNode) {
    ++now;
    apply(alloc(now, now * 0x10000, 1, where));
    return forwardAt(now * 0x10000);
  }
  Labels labels;
  uint64_t now = 0;
};

} // namespace

TEST_F(ForwardTest, ABlockBelongsToTheNodeThatItsThreadEvaluates) {
  EXPECT_EQ(forward(), 0u);
  evaluate(kNode);
  EXPECT_EQ(forward(), 1u);
  EXPECT_EQ(forward(kOfOtherThread), 0u);
  evaluate(kOtherNode, kOfOtherThread);
  EXPECT_EQ(forward(kOfOtherThread), 2u);
  EXPECT_EQ(forward(), 1u);
  evaluate(0);
  EXPECT_EQ(forward(), 0u);
  EXPECT_EQ(forwardAt(kNode), 0u);
}

TEST_F(ForwardTest, ANodeMayLieBehindItsSharedCounts) {
  evaluate(kNode + 16);
  EXPECT_EQ(forward(), 1u);
  evaluate(kNode + 32); // inside an object, so no node
  EXPECT_EQ(forward(), 0u);
  evaluate(8);
  EXPECT_EQ(forward(), 0u);
}

TEST_F(ForwardTest, OtherCountersNameNoNode) {
  evaluate(kNode, {}, 1);
  EXPECT_EQ(forward(), 0u);
}

// A node of a second derivative is made in a backward pass. It belongs to the same line, unless modules are called
// again.
TEST_F(ForwardTest, ANodeOfASecondDerivativeBelongsToTheSameLine) {
  live.useModules([](SiteId site) { return site == SiteId{2}; });
  evaluate(kNode);
  apply(alloc(++now, 0x3000, 200, kOfNode));
  apply(alloc(++now, 0x4000, 200, kOtherLine));
  evaluate(0x3000);
  EXPECT_EQ(forward(), 1u);
  evaluate(0x4000);
  EXPECT_EQ(forward(), 2u);
}

TEST_F(ForwardTest, ARetargetedBlockKeepsItsNode) {
  evaluate(kNode);
  apply(alloc(++now, 0x3000, 200, kOfNode));
  evaluate(0);
  apply(test::retarget(++now, 0x3000, kOtherLine));
  EXPECT_EQ(forwardAt(0x3000), 1u);
}

TEST_F(ForwardTest, ACheckpointHasTheNodes) {
  const auto numbersOf = [](const std::vector<SiteId> &sites) {
    std::vector<SiteNumber> numbers;
    for (const SiteId site : sites)
      numbers.push_back({1, site.index});
    return numbers;
  };
  ByteWriter without, with;
  ASSERT_TRUE(live.save(now, numbersOf, without));
  EXPECT_EQ(without.written()[0], kOldestCheckpoint);
  evaluate(kNode);
  apply(alloc(++now, 0x3000, 200, kOfNode));
  ASSERT_TRUE(live.save(now, numbersOf, with));
  EXPECT_EQ(with.written()[0], kCheckpointVersion);
  ASSERT_TRUE(live.load(now, with.written(), [](SiteNumber number) { return SiteId{number.number}; }));
  EXPECT_EQ(forwardAt(0x3000), 1u);
  EXPECT_EQ(forward(), 1u) << "the thread still evaluates the node";
  ASSERT_TRUE(live.load(now, without.written(), [](SiteNumber number) { return SiteId{number.number}; }));
  EXPECT_EQ(forward(), 0u);
}

} // namespace msleaks::analysis
