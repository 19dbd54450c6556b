#include "analysis/reach/heap_looks.h"

#include "analysis/base/machine.h"
#include "msleaks/abi/sampled_block.h"

#include <algorithm>
#include <bit>
#include <iterator>

namespace msleaks::analysis::inline reach {
namespace {

constexpr uint64_t kPauseOfHeapNs = 100'000'000, kPauseOfHeapCost = 50;
// So the number of looks grows with the logarithm of the process' age.
constexpr uint64_t kHeapPausesOfAge = 20;
constexpr uint64_t kLeastResidentBytes = 4 << 20;

} // namespace

uint64_t HeapLooks::residentIn(const HeapPart &part) const {
  uint64_t bytes = 0;
  for (const ProcessMemory::Run &run : memory_->touched(part.begin, part.end))
    bytes += run.end - run.begin;
  return bytes;
}

const std::vector<abi::Slot> &HeapLooks::look(uint64_t now_ns, bool at_exit) {
  const uint64_t cpu_ns = readClockNs(CLOCK_THREAD_CPUTIME_ID);
  events_.clear();
  if (!memory_)
    memory_.emplace(pid_);
  if (first_ns_ == 0)
    first_ns_ = now_ns;
  std::vector<abi::PagesEvent> found;
  uint64_t resident_bytes = 0;
  const std::vector<MappedRange> maps = memory_->tellsTouched() ? memory_->maps() : std::vector<MappedRange>();
  const std::vector<HeapPart> parts = heapPartsOf(*memory_, maps);
  for (const HeapPart &part : parts) {
    abi::PagesEvent event{};
    event.header.heap = abi::Heap::Host;
    event.address = part.begin;
    event.size = part.end - part.begin;
    event.allocated_ns = parts.size() - found.size() - 1;
    event.touched = residentIn(part);
    event.at_exit = abi::kPagesOfHeap | (part.is_main ? 0 : abi::kPagesOfArena) | (at_exit ? abi::kPagesLast : 0) |
                    static_cast<uint64_t>(std::countr_zero(memory_->pageBytes())) << abi::kPageShiftBit;
    resident_bytes += event.touched;
    found.push_back(event);
  }
  const bool is_large = resident_bytes >= kLeastResidentBytes;
  if (is_large) {
    const ImageData::Sums images = images_.look(*memory_, maps);
    abi::PagesEvent event{};
    event.address = images.begin;
    event.size = images.bytes;
    event.touched = images.changed_bytes;
    event.at_exit = abi::kPagesOfImages | (at_exit ? abi::kPagesLast : 0);
    if (images.bytes != 0)
      found.push_back(event);
  }
  const uint64_t end_ns = std::max(readMonotonicNs(), now_ns);
  for (abi::PagesEvent &event : found) {
    if (!is_large && !was_large_)
      break;
    event.header = {abi::EventKind::Pages, abi::Heap::Host, 0, 0, 0, end_ns};
    event.continuation = abi::kContinuationTag;
    const abi::AnyEvent any = abi::AnyEvent::from(event);
    events_.insert(events_.end(), std::begin(any.slots), std::end(any.slots));
  }
  was_large_ = is_large;
  const uint64_t cost_ns = readClockNs(CLOCK_THREAD_CPUTIME_ID) - cpu_ns;
  next_ns_ =
      at_exit
          ? UINT64_MAX
          : end_ns + std::max({kPauseOfHeapNs, cost_ns * kPauseOfHeapCost, (end_ns - first_ns_) / kHeapPausesOfAge});
  return events_;
}

} // namespace msleaks::analysis::inline reach
