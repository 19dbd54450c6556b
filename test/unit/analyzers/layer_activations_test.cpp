#include "analysis/analyzers/layer_activations.h"

#include <gtest/gtest.h>

namespace msleaks::analysis {
namespace {

TEST(LayerOf, IsTheOutermostNumber) {
  const auto layer = layerOf("Net.layers.3.experts.12.up");
  ASSERT_TRUE(layer);
  EXPECT_EQ(layer->group, "Net.layers.*");
  EXPECT_EQ(layer->number, 3u);
  EXPECT_EQ(layerOf("Sequential.10")->number, 10u);
  EXPECT_FALSE(layerOf("Net.conv1.weight")); // a part of a word is no number
  EXPECT_FALSE(layerOf(""));
  EXPECT_FALSE(layerOf("Net.123456789012"));
}

class LayerActivationsTest : public testing::Test {
protected:
  auto keep() {
    return [this](const SparedBlock &block) { spared.push_back({block.from_ns, block.to_ns}); };
  }
  // The activation that was allocated at `from_ns`, and freed at `to_ns` in a backward part.
  void free(uint32_t layer, uint64_t from_ns, uint64_t to_ns, uint32_t pass = 1, uint64_t begin_ns = 100) {
    activations.onFree({{}, layer, 8, from_ns, to_ns}, from_ns, pass, begin_ns, keep());
  }
  std::vector<std::pair<uint64_t, uint64_t>> finished() {
    activations.finish(keep());
    std::sort(spared.begin(), spared.end());
    return std::exchange(spared, {});
  }
  using Times = std::vector<std::pair<uint64_t, uint64_t>>;

  LayerActivations activations;
  std::vector<std::pair<uint64_t, uint64_t>> spared;
};

// Layer 1 allocates at 10, 11 and 12, layer 2 at 20, 21 and 22. The backward part reaches layer 2 first.
TEST_F(LayerActivationsTest, AreSparedUntilTheBackwardPartReachesTheirLayer) {
  for (const uint64_t from : {22, 20, 21})
    free(2, from, 110 + from);
  for (const uint64_t from : {12, 11, 10})
    free(1, from, 150);
  EXPECT_EQ(finished(), (Times{{10, 131}, {11, 131}, {20, 100}, {21, 100}}));
}

TEST_F(LayerActivationsTest, KeepTheOutputOfEachLayer) {
  free(1, 10, 120);
  EXPECT_EQ(finished(), Times{});
}

TEST_F(LayerActivationsTest, OfEachPassAreApart) {
  free(1, 10, 120);
  free(1, 11, 121);
  free(1, 210, 320, 2, 300);
  EXPECT_EQ(spared, (Times{{10, 100}}));
  free(1, 211, 321, 2, 300);
  EXPECT_EQ(finished(), (Times{{10, 100}, {210, 300}}));
}

} // namespace
} // namespace msleaks::analysis
