// The compilations of functions that a program has given to torch.compile. A thread compiles while it allocates below
// PyTorch's compiler.
#pragma once

#include "analysis/live/cohort_sums.h"
#include "analysis/live/live_set.h"

#include <cstdint>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

namespace msleaks::analysis::inline analyzers {

struct Compilation {
  uint32_t process = 0;
  uint64_t begin_ns = 0, end_ns = 0;
  std::map<CohortId, uint64_t> bytes; // of all its blocks
  std::map<CohortId, BlockSum> kept;  // of the blocks that were alive at the next compilation or at the end
};

class Compilations {
public:
  // Whether the thread allocated the block below the compiler. Another block of the thread ends its compilation.
  void onAlloc(const Block &block, bool by_compiler, uint64_t time_ns) {
    if (!by_compiler) {
      if (!running_.empty())
        running_.erase({block.process, block.stream});
      return;
    }
    const auto [running, begins] =
        running_.try_emplace({block.process, block.stream}, static_cast<uint32_t>(all_.size()));
    if (begins) {
      all_.push_back({.process = block.process, .begin_ns = time_ns, .end_ns = time_ns, .bytes = {}, .kept = {}});
      latest_[block.process] = running->second;
    }
    Compilation &compilation = all_[running->second];
    compilation.end_ns = time_ns;
    compilation.bytes[block.cohort] += block.size;
    by_block_[block.id.index] = running->second;
  }
  void onFree(const Block &block, bool process_ends) {
    const auto found = by_block_.find(block.id.index);
    if (found == by_block_.end())
      return;
    if (process_ends || latest_.at(block.process) != found->second)
      all_[found->second].kept[block.cohort] += {block.size, 1};
    by_block_.erase(found);
  }
  // In the order of their begins.
  const std::vector<Compilation> &all() const { return all_; }

private:
  std::vector<Compilation> all_;
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> running_; // the number in all_, by process and thread
  std::unordered_map<uint32_t, uint32_t> latest_;             // by process
  std::unordered_map<uint32_t, uint32_t> by_block_;           // by number of the live block
};

} // namespace msleaks::analysis::inline analyzers
