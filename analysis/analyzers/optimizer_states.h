// Finds out when an optimizer of PyTorch gets a state that another optimizer already has for the same gradients.
#pragma once

#include "analysis/live/live_set.h"

#include <compare>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

namespace msleaks::analysis::inline analyzers {

// The states and gradients of one process. A pass begins with its backward part.
class OptimizerStates {
public:
  // Why a block of a state is not needed any more.
  struct Replaced {
    uint64_t time_ns = 0; // when the new state began
    CohortId by;          // a block of the new state
  };

  void addGradient(const Block &block) {
    if (!in_backward_)
      endPass();
    in_backward_ = true;
    ++gradients_[sizeOf(block)];
    by_block_[block.id.index] = nullptr;
  }
  void addState(const Block &block, uint64_t time_ns) {
    in_backward_ = false;
    if (!open_)
      open_ = std::make_shared<State>(State{{}, gradients_, pass_, time_ns, block.cohort, std::nullopt});
    ++open_->blocks[sizeOf(block)];
    by_block_[block.id.index] = open_;
  }
  // A gradient, a block of a state, or any other block ends. Returns whether another state has replaced the block's
  // state, and when.
  std::optional<Replaced> remove(const Block &block) {
    const auto found = by_block_.find(block.id.index);
    if (found == by_block_.end())
      return std::nullopt;
    const std::shared_ptr<State> state = std::move(found->second);
    by_block_.erase(found);
    take(state ? state->blocks : gradients_, block);
    return state ? state->replaced : std::nullopt;
  }

private:
  struct Size {
    uint64_t bytes;
    abi::Heap heap;
    uint8_t device;
    auto operator<=>(const Size &) const = default;
  };
  using Counts = std::map<Size, uint64_t>; // of live blocks

  // The blocks that an optimizer allocated in one pass and that outlived the pass.
  struct State {
    Counts blocks, gradients; // gradients: as they were before the first block
    uint64_t pass;
    uint64_t time_ns;
    CohortId cohort; // of the first block
    std::optional<Replaced> replaced;
  };

  static Size sizeOf(const Block &block) { return {block.size, block.heap, block.device}; }
  static void take(Counts &counts, const Block &block) {
    if (const auto found = counts.find(sizeOf(block)); found != counts.end() && --found->second == 0)
      counts.erase(found);
  }
  static uint64_t countIn(const Counts &counts, const Size &size) {
    const auto found = counts.find(size);
    return found == counts.end() ? 0 : found->second;
  }

  // Whether the later state has as many blocks for each gradient as the old state. An optimizer that gets more
  // parameters makes a state for these only, so it has fewer.
  static bool repeats(const State &later, const State &old) {
    constexpr uint64_t kLeftOutOneIn = 10;
    uint64_t bytes = 0, repeated_bytes = 0;
    for (const auto &[size, count] : old.blocks) {
      const uint64_t gradients = countIn(old.gradients, size), later_gradients = countIn(later.gradients, size);
      bytes += count * size.bytes;
      if (gradients != 0 && count * later_gradients == countIn(later.blocks, size) * gradients)
        repeated_bytes += count * size.bytes;
    }
    return bytes != 0 && repeated_bytes >= bytes - bytes / kLeftOutOneIn;
  }

  // The optimizers of two networks make their states in consecutive passes, and are both in use. So there must be a
  // pass without a new state in between.
  void endPass() {
    std::erase_if(states_, [](const auto &state) { return state->blocks.empty(); });
    if (open_ && !open_->blocks.empty()) {
      for (const auto &old : states_)
        if (!old->replaced && quiet_pass_ > old->pass && repeats(*open_, *old))
          old->replaced = {open_->time_ns, open_->cohort};
      states_.push_back(open_);
    } else {
      quiet_pass_ = pass_;
    }
    open_.reset();
    ++pass_;
  }

  bool in_backward_ = false;
  uint64_t pass_ = 0, quiet_pass_ = 0; // quiet: the last pass without a new state
  Counts gradients_;                   // all live blocks of backward parts
  std::shared_ptr<State> open_;        // of this pass
  std::vector<std::shared_ptr<State>> states_;
  std::unordered_map<uint32_t, std::shared_ptr<State>> by_block_; // by the block's number; null: a gradient
};

} // namespace msleaks::analysis::inline analyzers
