// A cohort contains the blocks that agree in everything by which a report may group. One number stands for a cohort. So
// analyzers keep vectors by cohort, and each grouping is a sum over cohorts.
//
// A server may start a thread for each request. So only the first threads of a process have cohorts of their own. All
// later threads share cohorts, so the memory does not grow with threads that have ended.
#pragma once

#include "analysis/places/labels.h"
#include "analysis/places/site.h"
#include "msleaks/abi/events.h"

#include <compare>
#include <cstdint>
#include <vector>

namespace msleaks::analysis::inline live {

// 0 = none. The numbers are dense, because analyzers keep vectors by cohort.
struct CohortId {
  uint32_t index = 0;
  constexpr auto operator<=>(const CohortId &) const = default;
};

// In each process, threads are numbered from 0, in the order of their first events.
inline constexpr uint32_t kThreadsApart = 512;
inline constexpr uint32_t kOtherThreads = UINT32_MAX - 1;
constexpr uint32_t threadApart(uint32_t stream) { return stream < kThreadsApart ? stream : kOtherThreads; }

struct Cohort {
  SiteId site;
  uint32_t process = 0;
  uint32_t stream = 0; // threadApart() of the thread that allocated
  abi::Heap heap = abi::Heap::Host;
  uint8_t device = 0;
  LabelId owner, phase; // of the thread, at the allocation
  // The path that allocated the node of PyTorch's backward pass for which the block was allocated. Not known if there
  // is no such node.
  SiteId forward = {};
  bool operator==(const Cohort &) const = default;
};

class Cohorts {
public:
  // Returns the number of this cohort, and adds the cohort if it is new.
  CohortId of(const Cohort &wanted) {
    if (cohorts_.size() * 2 >= slots_.size())
      grow();
    uint32_t &slot = slotOf(wanted);
    if (slot == 0) {
      slot = static_cast<uint32_t>(cohorts_.size());
      cohorts_.push_back(wanted);
    }
    return {slot};
  }
  const Cohort &operator[](CohortId cohort) const { return cohorts_[cohort.index]; }
  size_t size() const { return cohorts_.size(); } // CohortId::index is smaller

private:
  static constexpr size_t kFirstSlots = 1024;

  static uint64_t hashOf(const Cohort &cohort) {
    const uint64_t place = uint64_t{cohort.site.index} << 32 | cohort.stream;
    const uint64_t rest =
        uint64_t{cohort.process} << 32 | uint64_t{static_cast<uint8_t>(cohort.heap)} << 8 | cohort.device;
    const uint64_t labels = uint64_t{cohort.owner.index} << 32 | cohort.phase.index;
    const uint64_t mixed = (place ^ rest * 0x9e37'79b9'7f4a'7c15u ^ labels * 0xc2b2'ae3d'27d4'eb4fu ^
                            cohort.forward.index * 0xd6e8'feb8'6659'fd93u) *
                           0xff51'afd7'ed55'8ccdu;
    return mixed ^ mixed >> 32;
  }
  uint32_t &slotOf(const Cohort &wanted) {
    size_t at = hashOf(wanted) & (slots_.size() - 1);
    while (slots_[at] != 0 && cohorts_[slots_[at]] != wanted)
      at = (at + 1) & (slots_.size() - 1);
    return slots_[at];
  }
  void grow() {
    slots_.assign(slots_.empty() ? kFirstSlots : slots_.size() * 4, 0);
    for (uint32_t index = 1; index < cohorts_.size(); ++index)
      slotOf(cohorts_[index]) = index;
  }

  std::vector<Cohort> cohorts_ = std::vector<Cohort>(1); // [0] means none
  std::vector<uint32_t> slots_;                          // numbers of cohorts; at least half of the slots are 0
};

} // namespace msleaks::analysis::inline live
