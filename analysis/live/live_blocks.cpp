// Births and deaths of single blocks: their numbers, their place in the tables, and who is told.
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

// The memory of a device's block that has come, where that is the host's.
void LiveSet::back(Process &process, const Block &device, uint64_t time_ns) {
  const uint64_t address = process.backings.takenFor(device);
  Block *host = address != 0 ? process.find(AddressSpace::Host, address) : nullptr;
  if (host == nullptr || host->size != device.size || host->reserve)
    return;
  setReserve(*host, true, time_ns);
  process.backings.comes(*host);
}

// A device's block is gone. The memory behind it counts for itself until the driver gives it back.
void LiveSet::unback(Process &process, const Block &device, uint64_t time_ns) {
  if (Backings::concerns(device) && device.heap != abi::Heap::Host) [[unlikely]]
    countBehind(process, device.size, time_ns);
}

// False: no memory is left behind blocks of this size.
bool LiveSet::countBehind(Process &process, uint64_t device_bytes, uint64_t time_ns) {
  const uint64_t address = process.backings.leftBehind(device_bytes);
  Block *host = address != 0 ? process.find(AddressSpace::Host, address) : nullptr;
  if (host == nullptr)
    return false;
  process.backings.goes(*host);
  setReserve(*host, false, time_ns);
  return true;
}

// The thread allocates, so the call that gave blocks of the device back is over: the memory behind them that it did not
// free counts for itself.
void LiveSet::endReleases(Process &process, const StreamEvent &event, uint64_t time_ns) {
  for (const uint64_t device_bytes : process.backings.takeReleased(event.stream))
    while (countBehind(process, device_bytes, time_ns))
      continue;
}

// A handle and an address of a byte are one number, one after the other.
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
  process.tableOf(*block).erase(block);
  --live_blocks_;
}

// A pool hands out parts of what an allocator beside it has handed out.
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
  return cohorts_.of(
      {block.site, block.process, threadApart(block.stream), block.heap, block.device, context.owner, context.phase});
}

// The context at the block's allocation, from its cohort.
Context LiveSet::contextOf(const Block &block) const {
  const Cohort &cohort = cohorts_[block.cohort];
  return {cohort.owner, cohort.phase};
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
  const bool is_new = block.cohort == CohortId{}; // not a part of one, nor one that came back
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
