#include "analysis/collect/page_access.h"

#include "analysis/base/clock.h"

#include <algorithm>
#include <span>

namespace msleaks::analysis {
namespace {

constexpr uint64_t kLeastPauseNs = 10'000'000, kPauseOfCost = 50;
constexpr size_t kMostBlocks = 100'000;
// No process has more address space. An event that says more is damaged.
constexpr uint64_t kAddressSpaceBytes = uint64_t{1} << 57;

bool isInAddressSpace(uint64_t address, uint64_t size) {
  return address < kAddressSpaceBytes && size <= kAddressSpaceBytes - address;
}

// The end of a range that a process told. A range that wraps ends with the address space.
uint64_t endOf(uint64_t address, uint64_t size) { return isInAddressSpace(address, size) ? address + size : UINT64_MAX; }

} // namespace

void PageAccess::onEvent(const abi::Slot &slot) {
  const abi::EventHeader &header = slot.header;
  if (header.heap != abi::Heap::Host && header.heap != abi::Heap::Mapping)
    return;
  if (header.kind == abi::EventKind::Alloc && (header.flags & (abi::kReserve | abi::kFile)) == 0) {
    const auto alloc = abi::AnyEvent{{slot, {}}}.as<abi::AllocEvent>();
    add(header.heap, alloc.address, alloc.size, header.time);
  } else if (header.kind == abi::EventKind::Free) {
    const auto free = abi::AnyEvent{{slot, {}}}.as<abi::FreeEvent>();
    remove(header.heap, free.address, free.size, header.time);
  }
}

// Events of different threads are not in the order of their times: a later block may be there already.
void PageAccess::add(abi::Heap heap, uint64_t address, uint64_t size, uint64_t time_ns) {
  Blocks &blocks = of(heap);
  if (size < least_bytes_ || !isInAddressSpace(address, size)) {
    if (const auto found = blocks.find(address); found != blocks.end() && found->second.time_ns < time_ns)
      blocks.erase(found);
    return;
  }
  if (blocks_[0].size() + blocks_[1].size() >= kMostBlocks) {
    ++left_out_;
    return;
  }
  Block &block = blocks[address];
  if (block.time_ns <= time_ns)
    block = {size, time_ns};
}

void PageAccess::remove(abi::Heap heap, uint64_t address, uint64_t size, uint64_t time_ns) {
  Blocks &blocks = of(heap);
  auto at = blocks.lower_bound(address);
  if (size > 0 && at != blocks.begin()) { // munmap may cut the one before
    const auto before = std::prev(at);
    if (before->first + before->second.size > address)
      at = before;
  }
  const uint64_t end = endOf(address, std::max<uint64_t>(size, 1));
  while (at != blocks.end() && at->first < end)
    at = at->second.time_ns < time_ns ? blocks.erase(at) : std::next(at);
}

// Within a page that the block does not own all of. A page that is absent is not read: that would map it.
uint64_t PageAccess::touchedAtEnd(uint64_t begin, uint64_t end) const {
  const uint64_t page = begin / memory_.pageBytes() * memory_.pageBytes();
  std::vector<std::byte> bytes(end - begin);
  if (bytes.empty() || memory_.touched(page, page + memory_.pageBytes()).empty() || !memory_.read(begin, bytes))
    return 0;
  const bool zero = std::all_of(bytes.begin(), bytes.end(), [](std::byte byte) { return byte == std::byte{}; });
  return zero ? 0 : bytes.size();
}

uint64_t PageAccess::touchedBytes(uint64_t address, const Block &block) const {
  const uint64_t page = memory_.pageBytes(), end = address + block.size;
  const uint64_t first = std::min((address + page - 1) / page * page, end), last = std::max(end / page * page, first);
  uint64_t touched = touchedAtEnd(address, first) + touchedAtEnd(last, end);
  for (const ProcessMemory::Run &run : memory_.touched(first, last))
    touched += run.end - run.begin;
  return touched;
}

// What was touched stays so, though its pages may be given back.
void PageAccess::lookAt(abi::Heap heap, uint64_t address, Block &block) {
  if (block.known && block.touched_bytes == block.size)
    return;
  const uint64_t touched_bytes = std::max(block.touched_bytes, touchedBytes(address, block));
  if (block.known && touched_bytes == block.touched_bytes)
    return;
  block.known = true;
  block.touched_bytes = touched_bytes;
  abi::PagesEvent event{};
  event.header.heap = heap;
  event.address = address;
  event.size = block.size;
  event.allocated_ns = block.time_ns;
  event.touched = touched_bytes;
  found_.push_back(event);
}

const std::vector<abi::Slot> &PageAccess::look(uint64_t now_ns, bool at_exit) {
  const uint64_t cpu_ns = readClockNs(CLOCK_THREAD_CPUTIME_ID);
  events_.clear();
  found_.clear();
  for (const abi::Heap heap : {abi::Heap::Host, abi::Heap::Mapping})
    for (auto &[address, block] : of(heap))
      lookAt(heap, address, block);
  const uint64_t end_ns = std::max(readMonotonicNs(), now_ns);
  next_ns_ = end_ns + std::max(kLeastPauseNs, (readClockNs(CLOCK_THREAD_CPUTIME_ID) - cpu_ns) * kPauseOfCost);
  if (at_exit)
    next_ns_ = UINT64_MAX;
  if (blocks_[0].empty() && blocks_[1].empty())
    return events_;
  abi::PagesEvent all{};
  all.allocated_ns = now_ns;
  all.at_exit = at_exit;
  found_.push_back(all);
  for (abi::PagesEvent &event : found_) {
    event.header = {abi::EventKind::Pages, event.header.heap, 0, 0, 0, end_ns};
    event.continuation = abi::kContinuationTag;
    const abi::AnyEvent any = abi::AnyEvent::from(event);
    events_.insert(events_.end(), std::begin(any.slots), std::end(any.slots));
  }
  return events_;
}

} // namespace msleaks::analysis
