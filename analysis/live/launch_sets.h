// How much memory the launch is given that is given most: no order of allocations makes do with less.
#pragma once

#include "analysis/live/live_set.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace msleaks::analysis::inline live {

class LaunchSets {
public:
  struct Largest {
    uint64_t bytes = 0;
    SiteId site; // of the launch
  };

  // A launch of this thread; what it is given follows it.
  void onLaunch(uint32_t process, uint32_t stream) { open_[{process, stream}] = {}; }
  // A block counts once, however many arguments it is.
  void onUse(const Block &block, const Use &use) {
    const auto found = open_.find({use.process, use.stream});
    if (found == open_.end())
      return;
    if (!use.is_launch) { // a copy, a fill or a map: the launch's list is over
      open_.erase(found);
      return;
    }
    Launch &launch = found->second;
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
    std::vector<BlockId> blocks; // few: a kernel's arguments
  };
  std::map<std::pair<uint32_t, uint32_t>, Launch> open_; // by process and thread
  Largest largest_;
};

} // namespace msleaks::analysis::inline live
