// Which blocks launches, copies and fills use, and what was touched of others.
#include "analysis/live/live_process.h"

namespace msleaks::analysis::inline live {

// The block that is used. The address is its handle, or that of one of its bytes; a block with a handle is found by the
// handle only. Null: there is none; an argument of a launch may be a plain number.
const Block *LiveSet::use(uint64_t address, uint8_t device, const Use &use) {
  Process &process = processOf(use.process);
  if (!process.ranges.isEmpty())
    if (const Block *first = useRanges(process, address, use))
      return first;
  const Block *block = process.find(AddressSpace::Accelerator, address, device);
  if (!block)
    block = process.holding(AddressSpace::Accelerator, address, device);
  if (!block || !hasUses(block->heap))
    return nullptr;
  for (BlockObserver *observer : observers_)
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

// The host's block that is copied, all of it but for a tenth at most; null: there is none.
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

// One end may be host memory. If both are, the copy is the program's own, and says nothing of a device.
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

// The collector may have taken a block for alive that was freed, or handed out again.
void LiveSet::onPages(const StreamEvent &event, const abi::PagesEvent &pages) {
  const Block *block = find(event.process, spaceOf(pages.header.heap), pages.address);
  if (!block || block->reserve || block->time_ns != pages.allocated_ns || block->size != pages.size)
    return;
  for (BlockObserver *observer : observers_)
    observer->onPages(*block, {pages.header.time, pages.touched, pages.at_exit != 0});
}

} // namespace msleaks::analysis::inline live
