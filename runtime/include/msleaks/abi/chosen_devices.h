// The devices that `msleaks-run --device` chooses. They are in the control page's file, before the chosen steps
// (chosen_steps.h). A runtime that does not know them records the blocks of all devices.
#pragma once

#include "msleaks/abi/chosen_steps.h"

#include <atomic>
#include <cstdint>

namespace msleaks::abi {

struct ChosenDevices {
  static constexpr uint32_t kMostDevices = 32;
  std::atomic<uint32_t> events; // ControlPage::enabled, as it would be if the host were chosen
  uint32_t accelerators;        // bit N: the blocks of device N are recorded
  bool is_restricted;           // false: the blocks of all devices are recorded
  bool host;                    // the blocks of the host are recorded
  uint16_t reserved[3];

  bool contains(uint32_t device) const { return device < kMostDevices && (accelerators >> device & 1) != 0; }
};
inline constexpr uint64_t kChosenDevicesOffset = kChosenStepsOffset - sizeof(ChosenDevices);
static_assert(sizeof(ControlPage) <= kChosenDevicesOffset && kChosenDevicesOffset % alignof(ChosenDevices) == 0);

inline ChosenDevices &chosenDevicesOf(ControlPage &page) {
  return *reinterpret_cast<ChosenDevices *>(reinterpret_cast<char *>(&page) + kChosenDevicesOffset);
}
inline const ChosenDevices &chosenDevicesOf(const ControlPage &page) {
  return *reinterpret_cast<const ChosenDevices *>(reinterpret_cast<const char *>(&page) + kChosenDevicesOffset);
}

// The heaps whose blocks are recorded by ControlPage::enabled alone. The blocks of other heaps come from drivers.
constexpr bool isOfHostOnly(Heap heap) { return heap == Heap::Host || heap == Heap::Mapping || heap == Heap::Python; }

// Whether an event says that a block begins, ends or has another site.
constexpr bool isOfBlock(EventKind kind) {
  return kind == EventKind::Alloc || kind == EventKind::AllocFailed || kind == EventKind::Free ||
         kind == EventKind::Retarget;
}

} // namespace msleaks::abi
