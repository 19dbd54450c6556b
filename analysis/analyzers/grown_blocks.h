// Finds live blocks that grew from smaller ones: by a realloc, or in a growing container. The container allocates a
// larger block, moves its content, and frees the smaller block.
#pragma once

#include "analysis/live/live_set.h"

#include <cstdint>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

namespace msleaks::analysis::inline analyzers {

// A block from which a realloc made a larger block. The larger block contains its pages.
struct FormerBlock {
  CohortId cohort;
  uint64_t size = 0, from_ns = 0, to_ns = 0;
};

class GrownBlocks {
public:
  // Smaller blocks are ignored.
  static constexpr uint64_t kLeastBytes = 64 << 10;

  void onAlloc(const Block &block, AllocCause cause) {
    if (block.size < kLeastBytes)
      return;
    State state;
    if (cause == AllocCause::Reallocated) {
      GivenBack &given_back = given_back_[block.process];
      state.is_grown = block.size > given_back.bytes;
      if (!given_back.formers.empty())
        formers_[block.id.index] = std::exchange(given_back.formers, {});
    }
    state.address = block.address;
    state.size = block.size;
    states_[block.id.index] = state;
    by_address_[{block.process, block.address}] = block.id.index;
    newest_[block.cohort.index] = block.id.index;
  }
  // The program has copied the start of a block to the start of another block.
  void onCopy(uint32_t process, uint64_t destination, uint64_t source) {
    const auto to = by_address_.find({process, destination}), from = by_address_.find({process, source});
    if (to != by_address_.end() && from != by_address_.end())
      states_[from->second].copied_to = to->second;
  }
  // Returns the blocks from which reallocs made this block, the oldest first. If a realloc frees this block, and
  // `is_followed` is set, returns none: then the new block keeps the list.
  std::vector<FormerBlock> onFree(const Block &block, FreeCause cause, uint64_t time_ns, bool is_followed) {
    if (cause == FreeCause::Reallocated)
      given_back_[block.process] = {block.size, {}};
    if (block.size < kLeastBytes || !states_.contains(block.id.index))
      return {};
    std::vector<FormerBlock> formers = takeFormers(block);
    if (cause == FreeCause::Reallocated && is_followed) {
      if (formers.size() == kMostFormers)
        formers.erase(formers.begin());
      formers.push_back({block.cohort, block.size, block.time_ns, time_ns});
      given_back_[block.process].formers = std::exchange(formers, {});
    }
    endState(block, cause);
    return formers;
  }
  // Whether the block's content is still alive in a smaller block: then the program has freed the rest.
  bool isShrunk(const Block &block) const {
    const State *state = stateOf(block.id.index), *copy = state ? stateOf(state->copied_to) : nullptr;
    return copy && copy->size < state->size;
  }
  bool isGrown(const Block &block) const {
    const State *state = stateOf(block.id.index);
    return state && state->is_grown;
  }

private:
  static constexpr size_t kMostFormers = 32;
  struct State {
    uint64_t address = 0, size = 0;
    uint32_t copied_to = 0; // number of a block; 0 = none
    bool is_grown = false;
  };
  const State *stateOf(uint32_t block) const {
    const auto found = states_.find(block);
    return found == states_.end() ? nullptr : &found->second;
  }
  // The block that the last realloc of a process has freed, and the former blocks that belong to it.
  struct GivenBack {
    uint64_t bytes = 0;
    std::vector<FormerBlock> formers;
  };
  std::vector<FormerBlock> takeFormers(const Block &block) {
    const auto found = formers_.find(block.id.index);
    if (found == formers_.end())
      return {};
    std::vector<FormerBlock> formers = std::move(found->second);
    formers_.erase(found);
    return formers;
  }
  void endState(const Block &block, FreeCause cause) {
    const State state = states_.extract(block.id.index).mapped();
    by_address_.erase({block.process, block.address});
    if (cause != FreeCause::Freed)
      return;
    growInto(state.copied_to, state);
    const auto newest = newest_.find(block.cohort.index);
    if (newest != newest_.end())
      growInto(newest->second, state);
  }
  void growInto(uint32_t larger, const State &smaller) {
    const auto state = states_.find(larger);
    if (state != states_.end() && state->second.size > smaller.size)
      state->second.is_grown = true;
  }

  std::unordered_map<uint32_t, State> states_; // of live blocks, by number
  std::map<std::pair<uint32_t, uint64_t>, uint32_t> by_address_;
  std::unordered_map<uint32_t, uint32_t> newest_;                  // by cohort: number of the last large block
  std::unordered_map<uint32_t, std::vector<FormerBlock>> formers_; // by number of the grown block
  std::unordered_map<uint32_t, GivenBack> given_back_;             // by process
};

} // namespace msleaks::analysis::inline analyzers
