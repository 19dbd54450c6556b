// Births and deaths of single blocks: gives them numbers, puts them into the tables, and calls the observers.
#include "analysis/live/live_process.h"

#include <utility>

namespace msleaks::analysis::inline live {

void LiveSet::insert(Process &process, const Block &block, AllocCause cause, uint64_t time_ns) {
  BlockTable &table = process.tableOf(block);
  if (!process.ranges.isEmpty() && spaceOf(block.heap) == AddressSpace::Accelerator) [[unlikely]]
    moveToRange(process, table.find(block.address), time_ns);
  Block *place = table.find(block.address);
  if (place) {
    const Block gone = std::exchange(*place, block);
    --live_blocks_;
    if (gone.handle != block.handle) [[unlikely]]
      indexAgain(process, gone, block);
    if (Backings::concerns(gone)) [[unlikely]]
      process.backings.goes(gone);
    announceFree(gone, FreeCause::Replaced, time_ns);
    unback(process, gone, time_ns);
    noteReplaced(process, gone, block.stream, time_ns);
  } else {
    place = table.insert(block);
    if (AddressIndex *index = process.indexOf(block)) [[unlikely]]
      index->insert(block.address);
  }
  ++live_blocks_;
  if (Backings::concerns(block)) [[unlikely]]
    process.backings.comes(block);
  announceAlloc(*place, cause, time_ns);
  if (block.heap == abi::Heap::Pool) [[unlikely]]
    announcePart(process, *place, time_ns);
}

// If a driver took this device's block from the host's heap: marks the host's block, so that it no longer counts.
void LiveSet::back(Process &process, const Block &device, uint64_t time_ns) {
  const uint64_t address = process.backings.takenFor(device);
  Block *host = address != 0 ? process.find(AddressSpace::Host, address) : nullptr;
  if (host == nullptr || host->size != device.size || host->reserve)
    return;
  setReserve(*host, true, time_ns);
  process.backings.comes(*host);
}

// A device's block is gone. The host's block behind it counts as memory until the driver frees it.
void LiveSet::unback(Process &process, const Block &device, uint64_t time_ns) {
  if (Backings::concerns(device) && device.heap != abi::Heap::Host) [[unlikely]]
    countBehind(process, device.size, time_ns);
}

// Returns false if no host's block is left behind device's blocks of this size.
bool LiveSet::countBehind(Process &process, uint64_t device_bytes, uint64_t time_ns) {
  const uint64_t address = process.backings.leftBehind(device_bytes);
  Block *host = address != 0 ? process.find(AddressSpace::Host, address) : nullptr;
  if (host == nullptr)
    return false;
  process.backings.goes(*host);
  setReserve(*host, false, time_ns);
  return true;
}

// The thread allocates, so its call that freed devices' blocks has ended. If that call did not free the memory behind
// these blocks, the memory counts from now on.
void LiveSet::endReleases(Process &process, const StreamEvent &event, uint64_t time_ns) {
  for (const uint64_t device_bytes : process.backings.takeReleased(event.stream))
    while (countBehind(process, device_bytes, time_ns))
      continue;
}

// The same number was first a handle, and is now an address of a byte, or the other way round. Updates the index.
void LiveSet::indexAgain(Process &process, const Block &gone, const Block &block) {
  if (AddressIndex *index = process.indexOf(gone))
    index->erase(gone.address);
  if (AddressIndex *index = process.indexOf(block))
    index->insert(block.address);
}

void LiveSet::erase(Process &process, Block *block) {
  if (AddressIndex *index = process.indexOf(*block)) [[unlikely]]
    index->erase(block->address);
  if (Backings::concerns(*block)) [[unlikely]]
    process.backings.goes(*block);
  if (!process.ranges.isEmpty() && spaceOf(block->heap) == AddressSpace::Accelerator) [[unlikely]]
    process.ranges.forget(*block);
  if (!process.multicasts.isEmpty()) [[unlikely]]
    process.multicasts.forget(*block);
  process.tableOf(*block).erase(block);
  --live_blocks_;
}

// A pool's part lies in a block that another allocator has allocated.
const Block *LiveSet::wholeOf(Process &process, const Block &part) {
  for (const AddressSpace space : {AddressSpace::Accelerator, AddressSpace::Host, AddressSpace::Mapping})
    if (const Block *whole = process.holding(space, part.address, part.device))
      return whole;
  return nullptr;
}

const Block *LiveSet::wholeOf(const Block &part) { return wholeOf(processOf(part.process), part); }

const Block *LiveSet::noteParent(Process &process, const Block &part) {
  const Block *whole = wholeOf(process, part);
  elementAt(parents_, part.id.index) = whole ? whole->id : BlockId{};
  return whole;
}

CohortId LiveSet::cohortOf(const Block &block, const Context &context) {
  return cohorts_.of({block.site, block.process, threadApart(block.stream), block.heap, block.device, context.owner,
                      context.phase, context.forward});
}

// The context of the block's allocation, which its cohort contains.
Context LiveSet::contextOf(const Block &block) const {
  const Cohort &cohort = cohorts_[block.cohort];
  return {cohort.owner, cohort.phase, cohort.forward};
}

BlockId LiveSet::takeId() {
  if (free_ids_.empty())
    return {++last_id_};
  const BlockId id = free_ids_.back();
  free_ids_.pop_back();
  return id;
}

void LiveSet::announceAlloc(Block &block, AllocCause cause, uint64_t time_ns) {
  block.id = takeId();
  const bool is_new = block.cohort == CohortId{}; // false for a part of a block, or a block that came back
  block.cohort = cohortOf(block, is_new ? contexts_.of(block.process, block.stream) : contextOf(block));
  for (BlockObserver *observer : observersOf(block))
    observer->onAlloc(block, cause, time_ns);
}

void LiveSet::announcePart(Process &process, const Block &part, uint64_t time_ns) {
  if (const Block *whole = noteParent(process, part))
    for (BlockObserver *observer : observers_)
      observer->onPart(part, *whole, time_ns);
}

void LiveSet::announceFree(const Block &block, FreeCause cause, uint64_t time_ns) {
  for (BlockObserver *observer : observersOf(block))
    observer->onFree(block, cause, time_ns);
  free_ids_.push_back(block.id);
}

} // namespace msleaks::analysis::inline live
