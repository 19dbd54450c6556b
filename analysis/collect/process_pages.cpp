// The blocks of a process whose pages or content the collector reads: when it looks at them, and what it stores in the
// trace.
#include "analysis/base/machine.h"
#include "analysis/collect/process_collector.h"
#include "analysis/reach/proc_stat.h"

#include <algorithm>
#include <array>
#include <exception>
#include <fmt/format.h>

namespace msleaks::analysis::inline collect {
namespace {

// The collector looks at a block only after it has drained the block's Alloc event. So it searches the rings early for
// large blocks, and for so many small blocks that some are in the sample.
constexpr uint64_t kLeastSearchPauseNs = 10'000'000, kSearchesOfAge = 400;
constexpr uint64_t kSlotsOfSearch = 256;
constexpr uint64_t kSmallBytesOfDrain = 1 << 20;

} // namespace

void ProcessCollector::watchPages(uint32_t pid, uint64_t least_bytes) {
  pages_.emplace(pid, least_bytes, arena_.largeBlocks());
}

Result<void> ProcessCollector::lookAtPages(TraceWriter &writer, uint64_t now_ns) {
  if (heap_looks_ && heap_looks_->isDue(now_ns))
    MSL_TRY(lookAtHeap(now_ns, false, writer));
  return pages_ && pages_->isDue(now_ns) && seesPages() ? storeLook(now_ns, false, writer) : Result<void>();
}

bool ProcessCollector::seesPages() {
  if (pages_->works())
    return true;
  const auto stat = readProcStat(pages_->pid()); // works() is also false for a process that has ended: no note then
  if (stat && !stat->hasEnded())
    note("it is not known how much of its large blocks was touched: the kernel does not show it (/proc/PID/pagemap)");
  pages_.reset();
  return false;
}

// If a look fails, the looks at this process end. The recording of all processes goes on.
Result<void> ProcessCollector::storeLook(uint64_t now_ns, bool at_exit, TraceWriter &writer) {
  const std::vector<abi::Slot> *slots = nullptr;
  try {
    slots = &pages_->look(now_ns, at_exit);
  } catch (const std::exception &error) {
    note(fmt::format("the pages of its large blocks could not be read any further: {}", error.what()));
    pages_.reset();
    return {};
  }
  return storePages(*slots, writer);
}

// Without the dropped events, blocks are not known that use the heap.
Result<void> ProcessCollector::lookAtHeap(uint64_t now_ns, bool at_exit, TraceWriter &writer) {
  if (totals().dropped != 0) {
    heap_looks_.reset();
    return {};
  }
  return storePages(heap_looks_->look(now_ns, at_exit), writer);
}

Result<void> ProcessCollector::lookAtPagesAtExit(CollectOutput &output) {
  if (heap_looks_)
    MSL_TRY(lookAtHeap(readMonotonicNs(), true, output.writer));
  if (!pages_)
    return {};
  MSL_TRY(drain(output, Urgency::Everything, readMonotonicNs()));
  return pages_->hasBlocks() && seesPages() ? storeLook(readMonotonicNs(), true, output.writer) : Result<void>();
}

Result<void> ProcessCollector::storePages(const std::vector<abi::Slot> &slots, TraceWriter &writer) {
  if (slots.empty())
    return {};
  Stream &stream = streams_[abi::kCollectorStream];
  stream.thread_name = "msleaks";
  const uint64_t events = slots.size() / abi::PagesEvent::kSlots;
  MSL_TRY(writer.events({process_, abi::kCollectorStream, stream.until_position, slots}));
  stream.until_position += slots.size();
  stream.stored += events;
  stream.account.produced = stream.stored;
  stream.accounted = false;
  stored_ += events;
  return {};
}

// Searches the pending events from time to time, and less often as the process gets older.
bool ProcessCollector::bringsBlocks(Ring &ring, uint64_t head, uint64_t now_ns) const {
  if (!pages_ || now_ns < ring.next_search_ns)
    return false;
  ring.next_search_ns = now_ns + std::max(kLeastSearchPauseNs, (now_ns - facts().attach_ns) / kSearchesOfAge);
  if (ring.searched_until <= ring.reader.position()) {
    ring.searched_until = ring.reader.position();
    ring.small_bytes = 0;
  }
  std::array<abi::Slot, kSlotsOfSearch> slots;
  while (ring.searched_until < head) {
    const auto found = std::span(slots).first(std::min(head - ring.searched_until, kSlotsOfSearch));
    ring.reader.copy(ring.searched_until, found);
    ring.searched_until += found.size();
    for (const abi::Slot &slot : found) {
      ring.small_bytes += pages_->sampledBytes(slot);
      if (pages_->begins(slot) || ring.small_bytes >= kSmallBytesOfDrain)
        return true;
    }
  }
  return false;
}

} // namespace msleaks::analysis::inline collect
