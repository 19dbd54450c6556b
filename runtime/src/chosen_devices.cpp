#include "session.h"

#include "msleaks/abi/chosen_devices.h"
#include "msleaks/runtime/record.h"

namespace msleaks::runtime {
namespace {

// Whether the blocks of this heap are recorded at this device. Page-locked memory is the host's.
bool isChosen(const abi::ChosenDevices &chosen, abi::EventKind kind, abi::Heap heap, uint32_t device) noexcept {
  if (heap == abi::Heap::Pinned || heap == abi::Heap::Registered)
    return chosen.host;
  const bool has_device = kind != abi::EventKind::Free && kind != abi::EventKind::Retarget && heap != abi::Heap::Pool;
  return has_device ? chosen.contains(device) : chosen.accelerators != 0;
}

} // namespace
} // namespace msleaks::runtime

using namespace msleaks;
using namespace msleaks::runtime;

bool __msl_is_selected(uint64_t first_word) noexcept {
  const auto kind = static_cast<abi::EventKind>(first_word & 0xff);
  const auto heap = static_cast<abi::Heap>(first_word >> abi::kHeapShift & 0xf);
  const abi::ControlPage *page = __atomic_load_n(&session.control, __ATOMIC_ACQUIRE);
  if (!abi::isOfBlock(kind) || abi::isOfHostOnly(heap) || page == nullptr || !chosenDevicesOf(*page).is_restricted)
    return isEnabled(kind);
  // Outside of the chosen steps, the process has another word, which is the same for all devices.
  const abi::ChosenDevices &chosen = chosenDevicesOf(*page);
  const std::atomic<uint32_t> *word = __atomic_load_n(&__msl_enabled, __ATOMIC_RELAXED);
  const uint32_t events = (word == &page->enabled ? &chosen.events : word)->load(std::memory_order_relaxed);
  return (events & abi::enabledBit(kind)) != 0 &&
         isChosen(chosen, kind, heap, static_cast<uint32_t>(first_word >> abi::kDeviceShift & 0xff));
}
