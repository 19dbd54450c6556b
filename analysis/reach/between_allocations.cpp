#include "analysis/reach/between_allocations.h"

#include "analysis/places/place.h"
#include "msleaks/abi/session.h"
#include "msleaks/abi/symbol.h"

#include <algorithm>

namespace msleaks::analysis::inline reach {
namespace {

constexpr uint16_t kHeapOrMappings =
    1u << static_cast<unsigned>(abi::Family::Heap) | 1u << static_cast<unsigned>(abi::Family::Mmap);

} // namespace

BetweenAllocations::BetweenAllocations(const ProcessMemory &memory, const OwnStorage &own)
    : memory_(&memory), own_(own) {
  for (MappedRange &range : memory.maps())
    if (range.executable && isOurLibrary(range.path))
      code_.push_back(std::move(range));
}

// A thread that has not recorded anything has zeros in this storage. If the registers or the storage of a thread cannot
// be read, the answer is false.
bool BetweenAllocations::operator()(const ThreadState &thread) const {
  if (own_.bytes == 0 || thread.thread_pointer == 0)
    return false;
  const uint64_t at = own_.of(thread.thread_pointer);
  uint64_t record = 0;
  abi::CallState call{};
  if (!memory_->read(at, record) || !memory_->read(at + own_.call_state, call))
    return false;
  const bool records = record >> 32 != 0, is_inside = (call.inside & kHeapOrMappings) != 0;
  const bool is_ours = std::any_of(code_.begin(), code_.end(), [&](const MappedRange &range) {
    return thread.instruction >= range.begin && thread.instruction < range.end;
  });
  return !records && !is_inside && call.open_calls == 0 && !is_ours;
}

} // namespace msleaks::analysis::inline reach
