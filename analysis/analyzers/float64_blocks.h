// The blocks of PyTorch's tensors in float64. An event announces the size of each before its allocation.
#pragma once

#include "analysis/base/tables.h"
#include "analysis/live/cohort_sums.h"
#include "analysis/live/live_set.h"
#include "analysis/live/recent.h"
#include "analysis/trace/event_source.h"
#include "msleaks/abi/torch_float64.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace msleaks::analysis::inline analyzers {

// The blocks that a cohort has had in the whole run.
struct Float64Sum {
  BlockSum float64, all;
  uint64_t first_ns = UINT64_MAX; // of the first block of float64

  // The parts of these bytes and blocks of the cohort that are float64. They are exact for a cohort with one type.
  uint64_t bytesIn(uint64_t bytes) const { return partOf(bytes, float64.bytes, all.bytes); }
  uint64_t blocksIn(uint64_t blocks) const { return partOf(blocks, float64.count, all.count); }

private:
  static uint64_t partOf(uint64_t of, uint64_t part, uint64_t all) {
    const double share = all == 0 ? 0 : static_cast<double>(part) / static_cast<double>(all);
    return part == all && all != 0 ? of : static_cast<uint64_t>(std::llround(static_cast<double>(of) * share));
  }
};

class Float64Blocks {
public:
  void announce(uint32_t process, uint32_t stream, uint64_t bytes) { announced_[keyOfThread(process, stream)] = bytes; }

  void onAlloc(const Block &block, uint64_t time_ns) {
    Float64Sum &sum = elementAt(sums_, block.cohort.index);
    sum.all += {block.bytes(), 1};
    if (!takesAnnounced(block))
      return;
    elementAt(is_float64_, block.id.index) = 1;
    sum.float64 += {block.bytes(), 1};
    sum.first_ns = std::min(sum.first_ns, time_ns);
    has_blocks_ = true;
  }
  void onFree(const Block &block) {
    if (block.id.index < is_float64_.size())
      is_float64_[block.id.index] = 0;
  }
  void onRetarget(const Block &block, const Block &before) {
    elementAt(sums_, std::max(block.cohort.index, before.cohort.index));
    Float64Sum &from = sums_[before.cohort.index], &to = sums_[block.cohort.index];
    move(block, from.all, to.all);
    if (valueAt(is_float64_, block.id.index) == 0)
      return;
    move(block, from.float64, to.float64);
    to.first_ns = std::min(to.first_ns, block.time_ns);
  }

  bool empty() const { return !has_blocks_; }
  const Float64Sum &of(CohortId cohort) const {
    static constexpr Float64Sum kNone;
    return cohort.index < sums_.size() ? sums_[cohort.index] : kNone;
  }

private:
  static void move(const Block &block, BlockSum &from, BlockSum &to) {
    from.bytes -= block.bytes();
    --from.count;
    to += {block.bytes(), 1};
  }
  // A pool may give a part that is larger, as long as the rest is too small for another one.
  static bool isAnnounced(const Block &block, uint64_t bytes) {
    constexpr uint64_t kMostRestBytes = 1 << 20;
    return block.heap == abi::Heap::Pool ? block.size >= bytes && block.size - bytes <= kMostRestBytes
                                         : block.size == bytes;
  }
  // Another large block means that the announced tensor got no memory: it was refused, or is a tensor without memory.
  bool takesAnnounced(const Block &block) {
    if (announced_.empty() || block.size < abi::kLeastFloat64Bytes)
      return false;
    const uint64_t key = keyOfThread(block.process, block.stream);
    const uint64_t *bytes = announced_.find(key);
    if (!bytes)
      return false;
    const bool is_announced = isAnnounced(block, *bytes);
    announced_.erase(key);
    return is_announced;
  }

  Recent<uint64_t, uint64_t> announced_; // bytes, by keyOfThread()
  std::vector<Float64Sum> sums_;         // by cohort
  std::vector<uint8_t> is_float64_;      // by number of the live block
  bool has_blocks_ = false;
};

} // namespace msleaks::analysis::inline analyzers
