// Tests when the state of an optimizer counts as replaced by the state of a later optimizer.
#include "analysis/analyzers/optimizer_states.h"

#include <gtest/gtest.h>

namespace msleaks::analysis {
namespace {

// A training whose optimizers keep two blocks for each gradient.
class StatesOfOptimizers : public testing::Test {
protected:
  using Tensors = std::vector<Block>;

  Tensors make(const std::vector<uint64_t> &sizes) {
    Tensors tensors;
    for (const uint64_t size : sizes) {
      Block &block = tensors.emplace_back();
      block.id = {++last_number_};
      block.size = size;
      block.cohort = {1};
    }
    return tensors;
  }
  Tensors gradients(const std::vector<uint64_t> &sizes) {
    Tensors tensors = make(sizes);
    for (const Block &block : tensors)
      states_.addGradient(block);
    return tensors;
  }
  Tensors state(const std::vector<uint64_t> &sizes) {
    Tensors tensors = make(sizes);
    const Tensors second = make(sizes);
    tensors.insert(tensors.end(), second.begin(), second.end());
    for (const Block &block : tensors)
      states_.addState(block, ++now_);
    return tensors;
  }
  void forget(const Tensors &gradients) {
    for (const Block &block : gradients)
      states_.remove(block);
  }
  // A pass in which each optimizer already has its state.
  void pass(const std::vector<uint64_t> &sizes) { forget(gradients(sizes)); }
  // A pass in which an optimizer makes a state for all gradients.
  Tensors firstPass(const std::vector<uint64_t> &sizes) {
    const Tensors made = gradients(sizes), state_made = state(sizes);
    forget(made);
    step();
    return state_made;
  }
  // The optimizer needs memory for a moment, and the next forward part begins.
  void step() {
    const Tensors temporary = make({512});
    states_.addState(temporary[0], ++now_);
    states_.remove(temporary[0]);
  }
  bool isReplaced(const Tensors &tensors) {
    bool all = true;
    for (const Block &block : tensors)
      all = states_.remove(block).has_value() && all;
    return all;
  }

  OptimizerStates states_;
  uint32_t last_number_ = 0;
  uint64_t now_ = 100;
};

TEST_F(StatesOfOptimizers, AnOptimizerThatIsMadeAgainReplacesTheState) {
  const Tensors old = firstPass({4096, 8192, 4096});
  pass({4096, 8192, 4096});
  step();
  const uint64_t before_ns = now_;
  const Tensors later = firstPass({4096, 8192, 4096});
  pass({4096, 8192, 4096});
  const auto replaced = states_.remove(old[0]);
  ASSERT_TRUE(replaced);
  EXPECT_EQ(replaced->time_ns, before_ns + 1) << "when the new state begins";
  EXPECT_FALSE(isReplaced(later));
}

TEST_F(StatesOfOptimizers, MoreGradientsMayBeInTheNewState) {
  const Tensors head = firstPass({4096});
  pass({4096});
  step();
  firstPass({4096, 4096, 8192});
  pass({4096, 4096, 8192});
  EXPECT_TRUE(isReplaced(head));
}

TEST_F(StatesOfOptimizers, ALayerThatIsAddedToTheOptimizerReplacesNothing) {
  const Tensors head = firstPass({4096});
  pass({4096});
  step();
  const Tensors both = gradients({4096, 4096}), layer = state({4096});
  forget(both);
  pass({4096, 4096});
  EXPECT_FALSE(isReplaced(head));
}

TEST_F(StatesOfOptimizers, TwoNetworksHaveAStateEach) {
  const Tensors of_one = firstPass({4096}), of_other = firstPass({4096});
  pass({4096});
  pass({4096});
  EXPECT_FALSE(isReplaced(of_one));
}

TEST_F(StatesOfOptimizers, OtherBlocksMayEnd) {
  const Tensors old = firstPass({4096}), other = make({4096});
  EXPECT_FALSE(states_.remove(other[0]));
  pass({4096});
  step();
  firstPass({4096});
  pass({4096});
  EXPECT_TRUE(isReplaced(old));
}

TEST_F(StatesOfOptimizers, AStateWithoutGradientsIsNotCompared) {
  const Tensors old = state({4096});
  pass({8192});
  step();
  pass({8192});
  const Tensors later = state({4096});
  pass({8192});
  EXPECT_FALSE(isReplaced(old));
}

} // namespace
} // namespace msleaks::analysis
