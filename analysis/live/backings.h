// Where a device is the processor, its driver takes a device's block from malloc (PoCL): one memory, and two blocks.
// The host's counts nothing then.
//
// A driver takes it in one of its calls, which the event of the host's block says (flag driver): the one that makes the
// device's block, whose event comes behind it, or the first one that uses it. It is as large as that.
#pragma once

#include "analysis/live/live_set.h"
#include "analysis/live/recent.h"

#include <cstdint>
#include <set>
#include <unordered_map>
#include <vector>

namespace msleaks::analysis::inline live {

// The device's blocks of one process, and the memory behind them. Blocks are told apart by their sizes only, so the
// live blocks tell all of it, except what threads took last.
class Backings {
public:
  // Whether it has to know of such a block: one of a device, or one that stands behind one.
  static bool concerns(const Block &block) {
    const bool is_devices = block.heap == abi::Heap::Device || block.heap == abi::Heap::Managed;
    return is_devices ? !block.reserve : block.heap == abi::Heap::Host && block.reserve;
  }
  void comes(const Block &block) { change(block, 1); }
  void goes(const Block &block) { change(block, -1); }

  // A driver takes this block of the host. True: one of the device has none yet, so it stands behind that.
  bool take(const Block &host);
  // A block of the host of this size that stands behind a device's block which is gone; 0 = none. A driver may keep it
  // until its queue has done what was given to it.
  uint64_t leftBehind(uint64_t size) const;
  // A call of this thread gives a block of the device back. The driver may free the memory behind it in the same call.
  void release(const Block &device, uint32_t stream) {
    if (leftBehind(device.size) != 0)
      released_[stream].insert(device.size);
  }
  bool hasReleased() const { return !released_.empty(); }
  // The sizes of such blocks that the thread has given back since the last call of this function.
  std::set<uint64_t> takeReleased(uint32_t stream);
  // The block that the thread's call has taken for this one of the device, before that came; 0 = none.
  uint64_t takenFor(const Block &device);

private:
  // Smaller ones may be as large as anything.
  static constexpr uint64_t kLeastBytes = 1024;
  static constexpr size_t kMostTaken = 16;

  struct Taken {
    uint64_t address, size;
  };
  void change(const Block &block, int64_t by);

  std::unordered_map<uint64_t, int64_t> without_;           // by size: blocks of devices, less those behind them
  std::unordered_map<uint64_t, std::set<uint64_t>> behind_; // by size: addresses of those behind them
  Recent<uint32_t, std::set<uint64_t>> released_;           // by stream: sizes of blocks with memory left behind
  Recent<uint32_t, std::vector<Taken>> taken_;              // by stream: since its last block of a device
};

} // namespace msleaks::analysis::inline live
