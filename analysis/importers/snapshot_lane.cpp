#include "analysis/importers/snapshot_lane.h"

#include "analysis/report/question.h"

namespace msleaks::analysis::inline importers {

abi::AllocEvent SnapshotLane::allocIn(abi::Heap heap, uint64_t address, uint64_t size) const {
  auto event = in<abi::AllocEvent>(heap);
  event.address = address;
  event.size = size;
  return event;
}

// The clock of a snapshot may go back a little, but its events are in their order.
template <class Event> void SnapshotLane::plan(Event event, uint64_t time_ns, bool is_block, uint32_t site) {
  last_ns_ = std::max(last_ns_, time_ns);
  event.header.kind = Event::kKind;
  event.header.time = last_ns_;
  event.header.site = site;
  planned_.push_back({abi::AnyEvent::from(event), is_block});
}

void SnapshotLane::planSegment(uint64_t address, const Segment &segment, uint64_t time_ns, uint32_t flags) {
  segments_[address] = segment;
  auto event = allocIn(segmentHeap(), address, segment.bytes);
  event.header.flags = flags & abi::kRealloc;
  plan(event, time_ns, false, segment.site);
}

void SnapshotLane::addOlder(abi::Heap heap, uint64_t address, uint64_t size, uint32_t site) {
  auto event = allocIn(heap, address, size);
  event.header.site = site;
  older_.push_back(event);
}

void SnapshotLane::own(uint64_t address, std::string_view owner, uint64_t time_ns) {
  const auto block = blocks_.find(address);
  if (owner.empty() || block == blocks_.end() || !block->second.is_alive)
    return;
  auto event = in<abi::OwnedEvent>(block->second.heap);
  event.address = address;
  event.label = process_.paths.labelOf(owner);
  plan(event, time_ns, true);
}

void SnapshotLane::alloc(const NewBlock &block) {
  const auto heap = parseHeap(std::string(block.heap));
  const Block known{block.heap.empty() || !heap ? blockHeap() : *heap, true};
  const auto segment = segments_.find(block.address);
  has_only_segments_ = has_only_segments_ && segment != segments_.end() && segment->second.bytes == block.size;
  blocks_[block.address] = known;
  plan(allocIn(known.heap, block.address, block.size), block.time_ns, true, block.site);
  own(block.address, block.owner, block.time_ns);
}

// A block without an allocation is older than the first event.
void SnapshotLane::free(uint64_t address, uint64_t size, uint64_t time_ns) {
  const auto [block, is_new] = blocks_.try_emplace(address, Block{blockHeap(), true});
  if (is_new)
    addOlder(block->second.heap, address, size);
  if (!block->second.is_alive)
    return;
  block->second.is_alive = false;
  auto event = in<abi::FreeEvent>(block->second.heap);
  event.address = address;
  plan(event, time_ns, true);
}

template <class F> void SnapshotLane::forEachGap(uint64_t address, uint64_t end, F &&f) const {
  auto next = segments_.upper_bound(address);
  if (next != segments_.begin()) {
    const auto &[begin, segment] = *std::prev(next);
    address = std::max(address, std::min(end, begin + segment.bytes));
  }
  for (; address < end; ++next) {
    const bool is_last = next == segments_.end() || next->first >= end;
    if (const uint64_t gap_end = is_last ? end : next->first; address < gap_end)
      f(address, gap_end - address);
    if (is_last)
      return;
    address = next->first + next->second.bytes;
  }
}

void SnapshotLane::map(uint64_t address, uint64_t size, uint64_t time_ns, uint32_t site) {
  size = std::min(size, UINT64_MAX - address);
  release(address, address + size, time_ns);
  planSegment(address, {size, site}, time_ns);
}

// A range without a segment is older than the first event.
void SnapshotLane::unmap(uint64_t address, uint64_t size, uint64_t time_ns) {
  const uint64_t end = address + std::min(size, UINT64_MAX - address);
  forEachGap(address, end, [&](uint64_t at, uint64_t bytes) {
    addOlder(segmentHeap(), at, bytes);
    planSegmentFree(at, time_ns);
  });
  release(address, end, time_ns);
}

void SnapshotLane::planSegmentFree(uint64_t address, uint64_t time_ns, uint32_t flags) {
  auto event = in<abi::FreeEvent>(segmentHeap());
  event.address = address;
  event.header.flags = flags & abi::kRealloc;
  plan(event, time_ns, false);
}

// Ends the segments in the range. A part of an expandable segment may be unmapped, and parts of several mappings at
// once. So what is outside of the range stays as a segment.
void SnapshotLane::release(uint64_t address, uint64_t end, uint64_t time_ns) {
  auto next = segments_.upper_bound(address);
  if (next != segments_.begin() && std::prev(next)->first + std::prev(next)->second.bytes > address)
    --next;
  while (next != segments_.end() && next->first < end) {
    const auto [begin, segment] = *next;
    const uint64_t segment_end = begin + segment.bytes;
    next = segments_.erase(next);
    planSegmentFree(begin, time_ns, begin < address || segment_end > end ? abi::kRealloc : 0);
    if (begin < address)
      planSegment(begin, {address - begin, segment.site}, time_ns, abi::kRealloc);
    if (segment_end > end)
      planSegment(end, {segment_end - end, segment.site}, time_ns, abi::kRealloc);
  }
}

void SnapshotLane::refuse(uint64_t size, uint64_t time_ns, uint32_t site) {
  auto event = in<abi::AllocFailedEvent>(segmentHeap());
  event.size = size;
  plan(event, time_ns, false, site);
}

void SnapshotLane::mappedAtEnd(uint64_t address, uint64_t size, uint32_t site) {
  size = std::min(size, UINT64_MAX - address);
  std::vector<std::pair<uint64_t, uint64_t>> gaps;
  forEachGap(address, address + size, [&](uint64_t at, uint64_t bytes) { gaps.emplace_back(at, bytes); });
  for (const auto &[at, bytes] : gaps) {
    addOlder(segmentHeap(), at, bytes, site);
    segments_[at] = {bytes, site};
  }
}

void SnapshotLane::aliveAtEnd(uint64_t address, uint64_t size, uint32_t site) {
  if (blocks_.try_emplace(address, Block{blockHeap(), true}).second)
    addOlder(blockHeap(), address, size, site);
}

BlockSum SnapshotLane::olderBlocks() const {
  BlockSum sum;
  for (const abi::AllocEvent &event : older_)
    if (event.header.heap != segmentHeap())
      sum += {event.size, 1};
  return sum;
}

// If no block is a part of a segment, the segments themselves are the program's blocks.
void SnapshotLane::write() {
  for (const abi::AllocEvent &event : older_)
    run_.add(process_, tid_, begin_ns_ - 1, event, event.header.site);
  for (Planned &planned : planned_) {
    if (has_only_segments_ && planned.is_block && planned.event.header().kind != abi::EventKind::Owned)
      continue;
    if (has_only_segments_ && planned.is_block)
      planned.event.header().heap = segmentHeap();
    run_.add(process_, tid_, planned.event);
  }
}

} // namespace msleaks::analysis::inline importers
