// The activations of layers. Layers are modules whose names differ in one number only, such as "Net.layers.3". If a
// training computes a layer again in the backward part (activation checkpointing), it keeps only the layer's output in
// the meantime.
#pragma once

#include "analysis/live/live_set.h"

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace msleaks::analysis::inline analyzers {

struct LayerName {
  std::string group; // "Net.layers.*"
  uint32_t number;   // 3
};

// The outermost layer that contains this module. Nothing if no component of the name is a number.
inline std::optional<LayerName> layerOf(std::string_view module) {
  for (size_t begin = 0; begin < module.size();) {
    const size_t end = std::min(module.find('.', begin), module.size());
    const std::string_view component = module.substr(begin, end - begin);
    if (!component.empty() && component.size() < 9 &&
        std::all_of(component.begin(), component.end(), [](unsigned char each) { return std::isdigit(each) != 0; }))
      return LayerName{std::string(module.substr(0, begin)) + "*",
                       static_cast<uint32_t>(std::stoul(std::string(component)))};
    begin = end + 1;
  }
  return std::nullopt;
}

// An activation that need not be alive until the backward part reaches its layer.
struct SparedBlock {
  CohortId cohort;
  uint32_t layer;
  uint64_t bytes, from_ns, to_ns;
};

// The activations of one process. Each has an order, by its allocation.
class LayerActivations {
public:
  // The backward part of this pass has freed an activation. `begin_ns`: when this backward part began. All
  // activations of a pass are told before those of the next one. Calls f(SparedBlock) for activations of earlier passes
  // of the same layer.
  template <class F> void onFree(SparedBlock block, uint64_t order, uint32_t pass, uint64_t begin_ns, F &&f) {
    Layer &layer = layers_[block.layer];
    if (layer.pass != pass) {
      finish(layer, f);
      layer.pass = pass;
      layer.reached_ns = std::max(begin_ns, last_layer_ == block.layer ? 0 : last_free_ns_);
    }
    last_layer_ = block.layer;
    last_free_ns_ = block.to_ns;
    layer.freed.emplace_back(order, block);
  }
  // Calls f(SparedBlock) for all activations of the last pass of each layer.
  template <class F> void finish(F &&f) {
    for (auto &[number, layer] : layers_)
      finish(layer, f);
  }

private:
  struct Layer {
    uint32_t pass = 0;
    uint64_t reached_ns = 0; // when the backward part reached this layer
    std::vector<std::pair<uint64_t, SparedBlock>> freed;
  };
  // The last activation is the layer's output. The next layer needs it.
  template <class F> static void finish(Layer &layer, F &&f) {
    const auto output = std::max_element(layer.freed.begin(), layer.freed.end(),
                                         [](const auto &a, const auto &b) { return a.first < b.first; });
    for (auto each = layer.freed.begin(); each != layer.freed.end(); ++each)
      if (each != output && each->second.from_ns < layer.reached_ns) {
        each->second.to_ns = layer.reached_ns;
        f(each->second);
      }
    layer.freed.clear();
  }

  std::map<uint32_t, Layer> layers_;
  uint32_t last_layer_ = UINT32_MAX;
  uint64_t last_free_ns_ = 0;
};

} // namespace msleaks::analysis::inline analyzers
