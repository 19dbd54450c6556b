// Multicast objects: a driver lets several devices share addresses. A physical block of each device is bound to an
// object. A use of an address that shows the object uses all bound blocks.
#pragma once

#include "analysis/live/live_set.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <vector>

namespace msleaks::analysis::inline live {

class Multicasts {
public:
  // A block, and the part of the object to which it is bound.
  struct Bound {
    uint64_t block = 0; // address of the block in the table of its device
    uint64_t offset = 0, size = 0;
    uint8_t device = 0;
    bool is(const Block &of) const { return block == of.address && device == of.device; }
  };

  bool isEmpty() const { return objects_.empty(); }
  bool has(uint64_t object) const { return objects_.contains(object); }
  void bind(uint64_t object, const Bound &bound) { objects_[object].push_back(bound); }
  void unbind(uint64_t object, uint8_t device, uint64_t offset) {
    if (const auto found = objects_.find(object); found != objects_.end())
      std::erase_if(found->second, [=](const Bound &at) { return at.device == device && at.offset == offset; });
  }
  // The block has ended.
  void forget(const Block &block) {
    for (auto &[object, bound] : objects_)
      std::erase_if(bound, [&](const Bound &at) { return at.is(block); });
  }
  // From now on, the block is at another address.
  void move(const Block &block, uint64_t address) {
    for (auto &[object, bound] : objects_)
      for (Bound &at : bound)
        if (at.is(block))
          at.block = address;
  }
  // Calls f(bound) for each block that is bound to a part of [begin, end).
  template <class F> void forEach(uint64_t object, uint64_t begin, uint64_t end, F &&f) const {
    if (const auto found = objects_.find(object); found != objects_.end())
      for (const Bound &at : found->second)
        if (at.offset < end && begin - std::min(begin, at.offset) < at.size)
          f(at);
  }

private:
  std::map<uint64_t, std::vector<Bound>> objects_; // by handle
};

} // namespace msleaks::analysis::inline live
