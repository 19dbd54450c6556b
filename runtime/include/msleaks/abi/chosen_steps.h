// The steps that `msleaks-run --steps` chooses. They are in the last bytes of the control page's file (session.h). A
// runtime that does not know them records all steps.
#pragma once

#include "msleaks/abi/session.h"

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace msleaks::abi {

struct ChosenSteps {
  static constexpr uint32_t kMost = 5;
  uint64_t numbers[kMost];
  uint32_t count; // 0 = all steps are recorded
  // ControlPage::enabled for a process that is in none of these steps: before the first of them, and after it
  std::atomic<uint32_t> before, outside;
  uint32_t reserved;

  bool contains(uint64_t number) const { return std::find(numbers, numbers + count, number) != numbers + count; }
};
inline constexpr uint64_t kChosenStepsOffset = kHeaderBytes - sizeof(ChosenSteps);
static_assert(sizeof(ControlPage) <= kChosenStepsOffset && kChosenStepsOffset % alignof(ChosenSteps) == 0);

inline ChosenSteps &chosenStepsOf(ControlPage &page) {
  return *reinterpret_cast<ChosenSteps *>(reinterpret_cast<char *>(&page) + kChosenStepsOffset);
}
inline const ChosenSteps &chosenStepsOf(const ControlPage &page) {
  return *reinterpret_cast<const ChosenSteps *>(reinterpret_cast<const char *>(&page) + kChosenStepsOffset);
}

// Outside of the chosen steps, no block begins. All other events are recorded. So the report knows when the blocks of
// the chosen steps are used and freed.
constexpr uint32_t outsideOf(uint32_t enabled) {
  return enabled & ~(enabledBit(EventKind::Alloc) | enabledBit(EventKind::AllocFailed) |
                     enabledBit(EventKind::Retarget) | enabledBit(EventKind::Shared));
}

// While no block is recorded, not even the end of one.
constexpr uint32_t withoutBlocks(uint32_t enabled) { return outsideOf(enabled) & ~enabledBit(EventKind::Free); }

} // namespace msleaks::abi
