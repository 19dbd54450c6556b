// Physical memory of a device, which programs use by addresses that show it. Each range that shows a block is one of
// its owners, and so is its handle. The driver frees the memory when all owners are gone.
#include "analysis/live/live_process.h"

#include <algorithm>

namespace msleaks::analysis::inline live {

void LiveSet::onMapped(const StreamEvent &event, const abi::MappedEvent &mapped) {
  Process &process = processOf(event.process);
  const abi::EventHeader &header = mapped.header;
  if (header.flags & abi::kRestored)
    return showAgain(process, event.stream, header.time);
  if (header.flags & abi::kDriver)
    return bind(process, mapped);
  hide(process, event.stream, mapped);
  Block *block = process.find(AddressSpace::Accelerator, mapped.block, header.device);
  if (const DeviceRange *part = block ? nullptr : process.ranges.handle(mapped.block)) // an image of a part of a buffer
    block = process.blockOf(*part);
  if (mapped.block == 0 || mapped.address == 0 || mapped.size == 0)
    return;
  if (!block && process.multicasts.has(mapped.block))
    process.ranges.add({mapped.address, mapped.size, mapped.block, mapped.offset, 0});
  if (!block)
    return;
  process.ranges.add({mapped.address, mapped.size, block->address, mapped.offset, block->device});
  addOwner(*block);
  if (block->heap == abi::Heap::Imported)
    growImported(*block, endOf(mapped.offset, mapped.size), header.time);
}

// The size of another process' memory is not known before it is mapped.
void LiveSet::growImported(Block &block, uint64_t bytes, uint64_t time_ns) {
  if (bytes <= block.size)
    return;
  announceFree(block, FreeCause::Remainder, time_ns);
  block.size = bytes;
  announceAlloc(block, AllocCause::Remainder, time_ns);
}

// Binds a block to a part of a multicast object, or ends this.
void LiveSet::bind(Process &process, const abi::MappedEvent &bound) {
  const uint8_t device = bound.header.device;
  if (bound.block == 0)
    return process.multicasts.unbind(bound.address, device, bound.offset);
  const Block *block = process.find(AddressSpace::Accelerator, bound.block, device);
  if (!block)
    block = process.holding(AddressSpace::Accelerator, bound.block, device);
  if (block)
    process.multicasts.bind(bound.address, {block->address, bound.offset, bound.size, block->device});
}

void LiveSet::hide(Process &process, uint32_t stream, const abi::MappedEvent &mapped) {
  process.hidden.erase(stream);
  std::vector<HiddenRange> hidden;
  uint64_t begin = mapped.address;
  if (const DeviceRange *before = mapped.block != 0 ? process.ranges.at(begin) : nullptr)
    begin = before->address; // its unmapping was not seen
  for (const DeviceRange &range : process.ranges.take(begin, endOf(mapped.address, mapped.size))) {
    Block *block = process.blockOf(range);
    if (!block)
      continue;
    hidden.push_back({range, block->refs == 1, *block});
    dropOwner(process, block, mapped.header.time);
  }
  if (mapped.block == 0 && !hidden.empty())
    process.hidden[stream] = std::move(hidden);
}

// The thread's last unmapping was refused, so its ranges come back.
void LiveSet::showAgain(Process &process, uint32_t stream, uint64_t time_ns) {
  std::vector<HiddenRange> *found = process.hidden.find(stream);
  if (!found)
    return;
  std::vector<HiddenRange> hidden = std::move(*found);
  process.hidden.erase(stream);
  std::reverse(hidden.begin(), hidden.end()); // the range that ended a block comes back first
  for (const HiddenRange &gone : hidden) {
    Block *block = process.blockOf(gone.range);
    if (gone.was_last == (block != nullptr) || process.ranges.overlaps(gone.range))
      continue; // another thread has got the handle, or the addresses
    if (block)
      addOwner(*block);
    else
      insert(process, gone.block, AllocCause::Restored, time_ns);
    process.ranges.add(gone.range);
  }
}

void LiveSet::dropOwner(Process &process, Block *block, uint64_t time_ns) {
  if (block->refs > 1) {
    block->refs = (block->refs - 1) & kMostOwners;
    return;
  }
  const Block gone = *block;
  erase(process, block);
  announceFree(gone, FreeCause::Freed, time_ns);
  unback(process, gone, time_ns);
}

// A new block gets the handle of this block. If this block's handle was freed, the block moves to the first address
// that shows it. Otherwise the block was freed unseen.
void LiveSet::moveToRange(Process &process, Block *block, uint64_t time_ns) {
  if (!block)
    return;
  const Block before = *block;
  uint64_t first = 0;
  process.ranges.forEach([&](const DeviceRange &range) {
    if (range.shows(before) && first == 0)
      first = range.address;
  });
  if (!process.isShownOnly(before) || process.tableOf(before).find(first))
    return process.ranges.forget(before);
  process.ranges.move(before, first);
  process.multicasts.move(before, first);
  erase(process, block);
  announceFree(before, FreeCause::Remainder, time_ns);
  Block moved = before;
  moved.address = first;
  insert(process, moved, AllocCause::Remainder, time_ns);
}

// Announces the use of all blocks that are bound to a part of a multicast object. Returns the first one, or null.
const Block *LiveSet::useBound(Process &process, const DeviceRange &range, uint64_t begin, uint64_t end,
                               const Use &use) {
  const Block *first = nullptr;
  process.multicasts.forEach(range.block, begin - range.address + range.offset, end - range.address + range.offset,
                             [&](const Multicasts::Bound &bound) {
                               const Block *block =
                                   process.table(AddressSpace::Accelerator, bound.device).find(bound.block);
                               if (!block)
                                 return;
                               for (BlockObserver *observer : observersOf(*block))
                                 observer->onUse(*block, use);
                               first = first ? first : block;
                             });
  return first;
}

// A copy or a fill may use several ranges. Returns null if there is no range at `address`.
const Block *LiveSet::useRanges(Process &process, uint64_t address, const Use &use) {
  const uint64_t end = endOf(address, std::max<uint64_t>(use.bytes, 1));
  const Block *first = nullptr;
  const DeviceRange *range = process.ranges.at(address);
  for (uint64_t at = address; range && at < end; range = process.ranges.at(at)) {
    const uint64_t stop = std::min(end, range->end());
    if (const Block *block = process.blockOf(*range)) {
      Use of_range = use;
      if (use.bytes != 0 && !range->isHandle())
        of_range.bytes = stop - at;
      for (BlockObserver *observer : observersOf(*block))
        observer->onUse(*block, of_range);
      first = first ? first : block;
    } else if (!process.multicasts.isEmpty()) {
      Use of_range = use;
      of_range.bytes = use.bytes != 0 ? stop - at : 0;
      const Block *bound = useBound(process, *range, at, stop, of_range);
      first = first ? first : bound;
    }
    if (range->isHandle())
      break; // the bytes after a handle's number do not belong to it
    at = stop;
  }
  return first;
}

} // namespace msleaks::analysis::inline live
