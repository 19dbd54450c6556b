#include "analysis/live/backings.h"

#include <algorithm>

namespace msleaks::analysis::inline live {

void Backings::change(const Block &block, int64_t by) {
  if (block.size < kLeastBytes)
    return;
  if (block.heap == abi::Heap::Host && by > 0)
    behind_[block.size].insert(block.address);
  else if (block.heap == abi::Heap::Host)
    behind_[block.size].erase(block.address);
  const auto at = without_.try_emplace(block.size, 0).first;
  at->second += block.heap == abi::Heap::Host ? -by : by;
  if (at->second == 0)
    without_.erase(at);
}

bool Backings::take(const Block &host) {
  if (host.size < kLeastBytes)
    return false;
  if (const auto waiting = without_.find(host.size); waiting != without_.end() && waiting->second > 0)
    return true;
  std::vector<Taken> &taken = taken_[host.stream];
  if (taken.size() == kMostTaken)
    taken.erase(taken.begin());
  taken.push_back({host.address, host.size});
  return false;
}

uint64_t Backings::leftBehind(uint64_t size) const {
  const auto without = without_.find(size);
  const auto behind = behind_.find(size);
  const bool is_left = without != without_.end() && without->second < 0 && behind != behind_.end();
  return is_left && !behind->second.empty() ? *behind->second.begin() : 0;
}

std::set<uint64_t> Backings::takeReleased(uint32_t stream) {
  std::set<uint64_t> *found = released_.find(stream);
  if (!found)
    return {};
  std::set<uint64_t> sizes = std::move(*found);
  released_.erase(stream);
  return sizes;
}

uint64_t Backings::takenFor(const Block &device) {
  std::vector<Taken> *of_thread = taken_.find(device.stream);
  if (!of_thread)
    return 0;
  const std::vector<Taken> taken = std::move(*of_thread);
  taken_.erase(device.stream);
  const auto found =
      std::find_if(taken.rbegin(), taken.rend(), [&](const Taken &candidate) { return candidate.size == device.size; });
  return found != taken.rend() ? found->address : 0;
}

} // namespace msleaks::analysis::inline live
