// All paths of a session as one tree: a node is a call, its parent the call around it. Processes that took the same
// path share its nodes.
#pragma once

#include "msleaks/analysis/site.h"

#include <cstdint>
#include <vector>
#include <xxhash.h>

namespace msleaks::analysis {

class PathIndex {
public:
  static constexpr uint32_t kBegin = 0;   // nothing led to the call: its thread began with it
  static constexpr uint32_t kUnknown = 1; // what led to it is not known

  struct Node {
    uint32_t parent;
    SiteId frame;
  };

  // The node of that call within `parent`.
  uint32_t add(uint32_t parent, SiteId frame) {
    if (nodes_.size() * 2 >= slots_.size())
      grow();
    uint32_t &slot = slotOf(parent, frame);
    if (slot == kEmpty) {
      slot = static_cast<uint32_t>(nodes_.size());
      nodes_.push_back({parent, frame});
    }
    return slot;
  }
  // A parent's number is smaller than its child's.
  const Node &operator[](uint32_t number) const { return nodes_[number]; }
  size_t size() const { return nodes_.size(); } // numbers are below it
  static bool isCall(uint32_t number) { return number > kUnknown; }

private:
  static constexpr uint32_t kEmpty = 0;
  static_assert(kEmpty == kBegin); // which is no call, so no slot has its number

  // The one that has its number, or the empty one for it.
  uint32_t &slotOf(uint32_t parent, SiteId frame) {
    const uint32_t key[] = {parent, frame.index};
    size_t at = XXH3_64bits(key, sizeof key) % slots_.size();
    while (slots_[at] != kEmpty && (nodes_[slots_[at]].parent != parent || nodes_[slots_[at]].frame != frame))
      at = (at + 1) % slots_.size();
    return slots_[at];
  }
  void grow() {
    slots_.assign(slots_.size() * 2, kEmpty);
    for (uint32_t number = kUnknown + 1; number < nodes_.size(); ++number)
      slotOf(nodes_[number].parent, nodes_[number].frame) = number;
  }

  std::vector<Node> nodes_{{kBegin, {}}, {kUnknown, {}}};
  // Numbers by parent and frame, at least half of them empty. A program like PyTorch has a million: in a map of the
  // standard library they take as long as all else that a report reads.
  std::vector<uint32_t> slots_ = std::vector<uint32_t>(1024, kEmpty);
};

} // namespace msleaks::analysis
