// Which blocks launches, copies and fills use, and what was touched of others.
#include "live_process.h"

namespace msleaks::analysis {

// A handle, or the address of a byte in the block. A launch's argument may be neither: a number looks like both.
void LiveSet::use(uint64_t address, uint8_t device, const Use &use) {
  Process &process = processOf(use.process);
  const Block *block = process.find(AddressSpace::Accelerator, address, device);
  if (!block)
    block = process.holding(AddressSpace::Accelerator, address, device);
  if (!block || !hasUses(block->heap))
    return;
  for (BlockObserver *observer : observers_)
    observer->onUse(*block, use);
}

void LiveSet::onAccess(const StreamEvent &event, const abi::AccessEvent &access, SiteId site) {
  const abi::EventHeader &header = access.header;
  if (access.address == 0)
    return use_sources_.addUnknown(event.process);
  const bool reads = (header.flags & abi::kRead) != 0, writes = (header.flags & abi::kWrite) != 0;
  use(access.address, header.device, {header.time, site, event.process, event.stream, reads, writes});
}

// One end may be host memory.
void LiveSet::onCopy(const StreamEvent &event, const abi::CopyEvent &copy, SiteId site) {
  const abi::EventHeader &header = copy.header;
  use(copy.source, header.device, {header.time, site, event.process, event.stream, true, false, copy.size});
  use(copy.destination, header.device, {header.time, site, event.process, event.stream, false, true, copy.size});
}

void LiveSet::onSet(const StreamEvent &event, const abi::SetEvent &set, SiteId site) {
  use(set.destination, set.header.device, {set.header.time, site, event.process, event.stream, false, true, set.size});
}

// The collector may have taken a block for alive that was freed, or handed out again.
void LiveSet::onPages(const StreamEvent &event, const abi::PagesEvent &pages) {
  const Block *block = find(event.process, spaceOf(pages.header.heap), pages.address);
  if (!block || block->time_ns != pages.allocated_ns || block->size != pages.size)
    return;
  for (BlockObserver *observer : observers_)
    observer->onPages(*block, {pages.header.time, pages.touched});
}

} // namespace msleaks::analysis
