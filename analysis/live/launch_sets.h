// Finds the launch that uses the most memory. The program needs at least this much memory, whatever its order.
#pragma once

#include "analysis/live/live_set.h"
#include "analysis/live/recent.h"
#include "analysis/trace/event_source.h"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace msleaks::analysis::inline live {

class LaunchSets {
public:
  struct Largest {
    uint64_t bytes = 0;
    SiteId site; // site of the launch
  };

  // A launch of this thread. The blocks that it uses follow.
  void onLaunch(uint32_t process, uint32_t stream) { open_[keyOfThread(process, stream)] = {}; }
  // A block counts only once, even if it is several arguments.
  void onUse(const Block &block, const Use &use) {
    const uint64_t key = keyOfThread(use.process, use.stream);
    Launch *found = open_.find(key);
    if (!found)
      return;
    if (!use.is_launch) // a copy, fill or map: the launch has no more blocks
      return open_.erase(key);
    Launch &launch = *found;
    if (std::find(launch.blocks.begin(), launch.blocks.end(), block.id) != launch.blocks.end())
      return;
    launch.blocks.push_back(block.id);
    launch.bytes += block.bytes();
    if (launch.bytes > largest_.bytes)
      largest_ = {launch.bytes, use.site};
  }
  const Largest &largest() const { return largest_; }

private:
  struct Launch {
    uint64_t bytes = 0;
    std::vector<BlockId> blocks; // few, because they are arguments of a kernel
  };
  Recent<uint64_t, Launch> open_; // by process and thread
  Largest largest_;
};

} // namespace msleaks::analysis::inline live
