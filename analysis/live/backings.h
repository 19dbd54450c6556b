// If the processor is an OpenCL device (PoCL), the driver takes the memory of a device's block from malloc. Then there
// are two blocks, but only one memory. The block of the host must not count.
//
// A driver's malloc is an Alloc with the flag `driver`. The driver calls malloc when it makes the device's block, and
// then the event of that block comes later. Or it calls malloc at the first use of the block. Both have the same size.
#pragma once

#include "analysis/live/live_set.h"
#include "analysis/live/recent.h"

#include <cstdint>
#include <set>
#include <unordered_map>
#include <vector>

namespace msleaks::analysis::inline live {

// The device's blocks of one process, and the host's blocks behind them. A host's block is matched by its size only. So
// all of this can be computed from the live blocks, except the latest blocks of each thread.
class Backings {
public:
  // Whether this object needs to know the block: a device's block, or a host's block behind one.
  static bool concerns(const Block &block) {
    const bool is_devices = block.heap == abi::Heap::Device || block.heap == abi::Heap::Managed;
    return is_devices ? !block.reserve : block.heap == abi::Heap::Host && block.reserve;
  }
  void comes(const Block &block) { change(block, 1); }
  void goes(const Block &block) { change(block, -1); }

  // A driver takes this block of the host. Returns true if a device's block of this size has no memory behind it yet.
  bool take(const Block &host);
  // Returns a host's block of this size whose device's block is gone; 0 = none. A driver may keep the host's block
  // until its queue has finished.
  uint64_t leftBehind(uint64_t size) const;
  // A call of this thread frees a device's block. The driver may free the memory behind this block in the same call.
  void release(const Block &device, uint32_t stream) {
    if (leftBehind(device.size) != 0)
      released_[stream].insert(device.size);
  }
  bool hasReleased() const { return !released_.empty(); }
  // Returns and removes the sizes of such blocks that the thread has freed since the last call of this function.
  std::set<uint64_t> takeReleased(uint32_t stream);
  // Returns the host's block that the thread's call took for this device's block, before its event came; 0 = none.
  uint64_t takenFor(const Block &device);

private:
  // Smaller blocks are not matched: too many other blocks have the same size.
  static constexpr uint64_t kLeastBytes = 1024;
  static constexpr size_t kMostTaken = 16;

  struct Taken {
    uint64_t address, size;
  };
  void change(const Block &block, int64_t by);

  std::unordered_map<uint64_t, int64_t> without_; // by size: number of devices' blocks, minus host's blocks behind them
  std::unordered_map<uint64_t, std::set<uint64_t>> behind_; // by size: addresses of host's blocks behind a device's
  Recent<uint32_t, std::set<uint64_t>> released_;           // by stream: sizes of freed blocks whose memory is left
  Recent<uint32_t, std::vector<Taken>> taken_;              // by stream: blocks since its last block of a device
};

} // namespace msleaks::analysis::inline live
