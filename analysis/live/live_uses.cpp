// Finds the blocks that launches, copies and fills use, and the pages that were touched in other blocks.
#include "analysis/live/live_process.h"
#include "msleaks/abi/sampled_block.h"

namespace msleaks::analysis::inline live {

// Returns the block that is used, or null. `address` is its handle or the address of one of its bytes. A block with a
// handle is found only by its handle. An argument of a launch may be no block, but a number.
const Block *LiveSet::use(uint64_t address, uint8_t device, const Use &use) {
  Process &process = processOf(use.process);
  if (!process.ranges.isEmpty())
    if (const Block *first = useRanges(process, address, use))
      return first;
  const Block *block = process.find(AddressSpace::Accelerator, address, device);
  if (!block)
    block = process.holding(AddressSpace::Accelerator, address, device);
  if (!block || (!hasUses(block->heap) && block->heap != abi::Heap::Imported))
    return nullptr;
  for (BlockObserver *observer : observersOf(*block))
    observer->onUse(*block, use);
  return block;
}

void LiveSet::onAccess(const StreamEvent &event, const abi::AccessEvent &access, SiteId site) {
  const abi::EventHeader &header = access.header;
  const bool is_argument = (header.flags & abi::kListed) != 0;
  if (access.address == 0)
    return is_argument ? use_sources_.listLast(event.process) : use_sources_.addUnknown(event.process);
  const bool reads = (header.flags & abi::kRead) != 0, writes = (header.flags & abi::kWrite) != 0;
  use(access.address, header.device,
      {header.time, site, event.process, event.stream, reads, writes, is_argument || (!reads && !writes)});
}

// Returns the host's block of which at least nine tenths are copied, or null.
const Block *LiveSet::copiedBlock(const abi::CopyEvent &copy, uint32_t process) const {
  constexpr uint64_t kLeftOutOneIn = 10;
  const Block *block = find(process, AddressSpace::Host, copy.source);
  if (!block)
    block = find(process, AddressSpace::Mapping, copy.source);
  if (!block)
    block = find(process, AddressSpace::Accelerator, copy.source);
  const bool is_host = block && (spaceOf(block->heap) != AddressSpace::Accelerator || block->heap == abi::Heap::Pinned);
  return is_host && copy.size >= block->size - block->size / kLeftOutOneIn ? block : nullptr;
}

// One end of the copy may be host memory. If both ends are, the copy concerns no device.
void LiveSet::onCopy(const StreamEvent &event, const abi::CopyEvent &copy, SiteId site) {
  const abi::EventHeader &header = copy.header;
  if (header.heap == abi::Heap::Host)
    return;
  use(copy.source, header.device, {header.time, site, event.process, event.stream, true, false, false, copy.size});
  const Block *destination = use(copy.destination, header.device,
                                 {header.time, site, event.process, event.stream, false, true, false, copy.size});
  const Block *source = destination ? copiedBlock(copy, event.process) : nullptr;
  if (source)
    for (BlockObserver *observer : observers_)
      observer->onCopyToDevice(*source, *destination, {header.time, site});
}

void LiveSet::onSet(const StreamEvent &event, const abi::SetEvent &set, SiteId site) {
  use(set.destination, set.header.device,
      {set.header.time, site, event.process, event.stream, false, true, false, set.size});
}

// The block may have been freed, or its address allocated again, since the collector looked at its list.
void LiveSet::onPages(const StreamEvent &event, const abi::PagesEvent &pages) {
  const Block *block = find(event.process, spaceOf(pages.header.heap), pages.address);
  if (!block || block->reserve || block->time_ns != pages.allocated_ns || block->size != pages.size)
    return;
  for (BlockObserver *observer : observers_)
    observer->onPages(*block, {pages.header.time, pages.touched, (pages.at_exit & abi::kPagesLast) != 0,
                               (pages.at_exit & abi::kPagesOfSample) != 0});
}

} // namespace msleaks::analysis::inline live
