// The parts of one segment that a pool has allocated: their state now, and their state at the highest point of some
// sum.
#pragma once

#include "analysis/live/cohorts.h"

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace msleaks::analysis::inline live {

class PartMap {
public:
  struct Part {
    uint64_t bytes = 0;
    CohortId cohort;
  };
  using Parts = std::map<uint64_t, Part>; // by address

  // `peak` is the number of peaks so far, each higher than the one before.
  void add(uint64_t address, const Part &part, uint64_t peak) {
    note(address, peak);
    used_bytes_ += part.bytes - (parts_.contains(address) ? parts_.at(address).bytes : 0);
    parts_[address] = part;
  }
  void remove(uint64_t address, uint64_t peak) {
    const auto found = parts_.find(address);
    if (found == parts_.end())
      return;
    note(address, peak);
    used_bytes_ -= found->second.bytes;
    parts_.erase(found);
  }
  // The part belongs to another cohort, and has done so from its birth.
  void retarget(uint64_t address, CohortId cohort) {
    for (Parts *parts : {&parts_, then_ ? &*then_ : nullptr})
      if (parts && parts->contains(address))
        parts->at(address).cohort = cohort;
  }
  uint64_t usedBytes() const { return used_bytes_; }
  const Parts &now() const { return parts_; }
  Parts atPeak(uint64_t peak) const {
    if (peak != peak_)
      return parts_;
    return then_ ? *then_ : undone();
  }

private:
  struct Before {
    uint64_t address;
    std::optional<Part> part; // none: these bytes were free
  };

  // Call it before a change. Stores changes until they are more than the parts. Then it copies the parts once instead.
  void note(uint64_t address, uint64_t peak) {
    if (peak != peak_) {
      peak_ = peak;
      before_.clear();
      then_.reset();
    }
    if (then_)
      return;
    const auto found = parts_.find(address);
    before_.push_back({address, found == parts_.end() ? std::nullopt : std::optional(found->second)});
    if (before_.size() <= parts_.size() + kLeastChanges)
      return;
    then_ = undone();
    std::vector<Before>().swap(before_);
  }
  Parts undone() const {
    Parts parts = parts_;
    for (auto change = before_.rbegin(); change != before_.rend(); ++change)
      if (change->part)
        parts[change->address] = *change->part;
      else
        parts.erase(change->address);
    return parts;
  }

  static constexpr size_t kLeastChanges = 16;

  Parts parts_;
  uint64_t used_bytes_ = 0;
  uint64_t peak_ = 0;
  std::vector<Before> before_; // the old parts, for the changes since that peak
  std::optional<Parts> then_;
};

// The longest stretch of a segment without parts of the pool. The segment has `bytes`, from `begin` on.
uint64_t largestHole(const PartMap::Parts &, uint64_t begin, uint64_t bytes);

} // namespace msleaks::analysis::inline live
