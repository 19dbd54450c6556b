#include "analysis/live/live_set.h"

#include "analysis/live/live_process.h"
#include "msleaks/abi/python_sample.h"
#include "msleaks/abi/torch_node.h"

#include <algorithm>
#include <bit>

namespace msleaks::analysis::inline live {
namespace {

constexpr uint64_t kLargestPageBytes = 1 << 20;

// Only the C heap cannot refuse a free.
bool mayBeRefused(const abi::EventHeader &freed) {
  return (freed.flags & abi::kRealloc) != 0 || spaceOf(freed.heap) != AddressSpace::Host;
}

// The free belongs to the call that also freed the block before.
bool isListed(const abi::EventHeader &freed) { return (freed.flags & abi::kListed) != 0; }

// Makes the Free event of an early free, with the time of its block's allocation.
abi::FreeEvent freeOf(const SkewWindow::Entry &early, const abi::EventHeader &alloc) {
  abi::FreeEvent freed{};
  freed.header.kind = abi::EventKind::Free;
  freed.header.heap = alloc.heap;
  if (early.what == SkewWindow::What::ReallocFree)
    freed.header.flags = abi::kRealloc;
  freed.header.time = alloc.time;
  freed.address = early.address;
  freed.size = early.bytes;
  return freed;
}

} // namespace

LiveSetCounts &LiveSetCounts::operator+=(const LiveSetCounts &other) {
  allocs += other.allocs;
  frees += other.frees;
  failed_allocs += other.failed_allocs;
  unmatched_frees += other.unmatched_frees;
  frees_before_start += other.frees_before_start;
  freed_unseen += other.freed_unseen;
  unmatched_retargets += other.unmatched_retargets;
  implicit_frees += other.implicit_frees;
  late_frees += other.late_frees;
  early_frees += other.early_frees;
  unknown_heaps += other.unknown_heaps;
  return *this;
}

LiveSet::LiveSet(std::vector<BlockObserver *> observers)
    : observers_(std::move(observers)), shared_(std::make_unique<SharedObjects>()) {
  for (size_t heap = 0; heap < observers_of_.size(); ++heap)
    std::copy_if(observers_.begin(), observers_.end(), std::back_inserter(observers_of_[heap]),
                 [heap](const BlockObserver *observer) { return observer->wants(static_cast<abi::Heap>(heap)); });
}
LiveSet::~LiveSet() = default;

void LiveSet::setPageBytes(uint32_t process, uint64_t page_bytes) {
  if (std::has_single_bit(page_bytes) && page_bytes > kUsualPageBytes && page_bytes <= kLargestPageBytes)
    page_bytes_[process] = page_bytes;
}

std::unique_ptr<LiveSet::Process> LiveSet::makeProcess(uint32_t number) const {
  auto process = std::make_unique<Process>();
  process->number = number;
  if (const auto known = page_bytes_.find(number); known != page_bytes_.end())
    process->page_bytes = known->second;
  return process;
}

LiveSet::Process &LiveSet::processOf(uint32_t number) {
  if (last_process_ && last_number_ == number)
    return *last_process_;
  auto &process = processes_[number];
  if (!process)
    process = makeProcess(number);
  last_process_ = process.get();
  last_number_ = number;
  return *process;
}

void LiveSet::apply(const StreamEvent &event, SiteId site) {
  if (event.event.header().heap >= abi::Heap::Count) {
    ++counts_.unknown_heaps;
    return;
  }
  switch (event.event.header().kind) {
  case abi::EventKind::Alloc:
    return onAlloc(event, event.event.as<abi::AllocEvent>(), site);
  case abi::EventKind::Free:
    return onFree(event, event.event.as<abi::FreeEvent>());
  case abi::EventKind::AllocFailed:
    ++counts_.failed_allocs;
    return;
  case abi::EventKind::Retarget:
    return onRetarget(event, event.event.as<abi::RetargetEvent>(), site);
  case abi::EventKind::Owned:
    return onOwned(event, event.event.as<abi::OwnedEvent>());
  case abi::EventKind::Counter:
    return onCounter(event, event.event.as<abi::CounterEvent>());
  case abi::EventKind::Epoch:
    return pauses_.apply(event.event.as<abi::EpochEvent>());
  case abi::EventKind::Retain:
    return onRetain(event, event.event.as<abi::RetainEvent>());
  case abi::EventKind::Protect:
    return onProtect(event, event.event.as<abi::ProtectEvent>());
  case abi::EventKind::Mapped:
    return onMapped(event, event.event.as<abi::MappedEvent>());
  case abi::EventKind::Shared:
    return onShared(event, event.event.as<abi::SharedEvent>());
  case abi::EventKind::Launch:
    return use_sources_.addLaunch(event.process, (event.event.header().flags & abi::kListed) != 0);
  case abi::EventKind::Access:
    return onAccess(event, event.event.as<abi::AccessEvent>(), site);
  case abi::EventKind::Copy:
    return onCopy(event, event.event.as<abi::CopyEvent>(), site);
  case abi::EventKind::Set:
    return onSet(event, event.event.as<abi::SetEvent>(), site);
  case abi::EventKind::Pages:
    return onPages(event, event.event.as<abi::PagesEvent>());
  case abi::EventKind::Step:
    return timeline_.addStep({event.event.header().time, event.event.as<abi::StepEvent>().number, event.process});
  case abi::EventKind::Mark:
    return timeline_.addMark({event.event.header().time,
                              contexts_.labelOf(event.process, event.event.as<abi::MarkEvent>().label), event.process});
  default:
    return contexts_.apply(event);
  }
}

// The table that apply() will read for the event, if the last event was one of the same process.
const BlockTable *LiveSet::tableOfSoon(const StreamEvent &event) const {
  const AddressSpace space = spaceOf(event.event.slots[0].header.heap);
  const bool is_known = last_process_ && last_number_ == event.process && space != AddressSpace::Mapping;
  return is_known ? &last_process_->tables[static_cast<size_t>(space)] : nullptr;
}

// The first word is the address, in each event that names a block.
void LiveSet::prefetch(const StreamEvent &event) const {
  if (const BlockTable *table = tableOfSoon(event))
    table->prefetchSlot(event.event.slots[0].payload[0]);
}

void LiveSet::prefetchBlock(const StreamEvent &event) const {
  if (const BlockTable *table = tableOfSoon(event))
    table->prefetchBlock(event.event.slots[0].payload[0]);
}

void LiveSet::onAlloc(const StreamEvent &event, const abi::AllocEvent &alloc, SiteId site) {
  Process &process = processOf(event.process);
  const abi::EventHeader &header = alloc.header;
  if (header.flags & abi::kRestored)
    return restore(process, event);
  ++counts_.allocs;
  if (process.backings.hasReleased()) [[unlikely]]
    endReleases(process, event, header.time);
  const Mapping old = header.flags & abi::kRealloc ? takeParked(process, event) : Mapping{};
  if (alloc.address == 0 || (spaceOf(header.heap) == AddressSpace::Mapping && alloc.address > kLastMapping))
    return;
  if (header.heap == abi::Heap::Imported) [[unlikely]]
    if (Block *open = importedAgain(process, alloc))
      return addOwner(*open);

  Block block;
  block.address = alloc.address;
  block.size = alloc.size;
  block.time_ns = header.time;
  block.site = site;
  block.stream = event.stream;
  block.process = event.process;
  block.zeroed = (header.flags & abi::kZeroed) != 0;
  block.reserve = (header.flags & abi::kReserve) != 0 || old.block.reserve; // a moved mapping stays as it was
  block.file = (header.flags & abi::kFile) != 0 || old.block.file;
  block.handle = spaceOf(header.heap) == AddressSpace::Accelerator && (header.flags & abi::kDriver) != 0;
  block.heap = header.heap;
  block.device = header.device;
  if (old.block.heap == abi::Heap::Python && block.size <= abi::kMostSampledBytes) {
    block.heap = old.block.heap; // larger blocks are all recorded, so they stand only for themselves
    block.device = old.block.device;
  }
  const AllocCause cause = header.flags & abi::kRealloc ? AllocCause::Reallocated : AllocCause::Allocated;
  if (spaceOf(header.heap) == AddressSpace::Mapping) {
    Mapping mapping{block, old.object, old.offset};
    if (!process.shown.empty())
      takeShown(process, event, mapping);
    insertMapping(process, mapping, cause, header.time);
  } else {
    if (header.heap == abi::Heap::Device) [[unlikely]]
      use_sources_.addBlock(event.process, (header.flags & abi::kListed) != 0);
    if (header.heap == abi::Heap::Host && (header.flags & abi::kDriver) != 0) [[unlikely]]
      block.reserve = process.backings.take(block);
    insert(process, block, cause, header.time);
    if ((header.heap == abi::Heap::Device || header.heap == abi::Heap::Managed) && !block.reserve) [[unlikely]]
      back(process, block, header.time);
  }
  if (!process.early.empty())
    applyEarly(process, event);
}

// The realloc succeeded. Returns and forgets the block that its Free removed.
LiveSet::Mapping LiveSet::takeParked(Process &process, const StreamEvent &event) {
  const Parked *parked = process.parked.find(Process::parkingOf(event));
  if (!parked)
    return {};
  const Mapping first = parked->first;
  process.parked.erase(Process::parkingOf(event));
  return first;
}

// A free or a retain is recorded before the real call, an allocation after it. Only small errors of clocks can put a
// free by another thread before the allocation. That free was counted as unmatched, and takes effect now. Retains come
// first: otherwise, the early free of a third thread would end the block.
//
// A free of an unknown block looks the same if another thread gets its address within that time. Then the new block is
// ended wrongly. This is rare: the real free and the new allocation must both happen within that time. It costs little:
// the block is missed, but never reported as a leak, and its own free counts as unmatched.
void LiveSet::applyEarly(Process &process, const StreamEvent &event) {
  const abi::EventHeader &header = event.event.header();
  const AddressSpace space = spaceOf(header.heap);
  const uint64_t address = event.event.slots[0].payload[0];
  const SkewWindow::Wanted wanted{space, address, event.stream, header.time};
  while (process.early.takeRetain(wanted)) {
    counts_.unmatched_retargets -= counts_.unmatched_retargets != 0;
    addOwner(*process.find(space, address));
  }
  while (process.find(space, address)) {
    const auto early = process.early.takeFree(wanted);
    if (!early)
      return;
    uint64_t &unknown = pauses_.any() ? counts_.frees_before_start : counts_.unmatched_frees;
    unknown -= unknown != 0; // the first pause may have begun in between
    ++counts_.early_frees;
    const abi::FreeEvent freed = freeOf(*early, header);
    freeNow(process, {event.process, early->stream, abi::AnyEvent::from(freed)}, freed);
  }
}

void LiveSet::noteReplaced(Process &process, const Block &old, uint32_t by_stream, uint64_t time_ns) {
  if (pauses_.mayHaveBeenFreed(old.time_ns)) {
    ++counts_.freed_unseen;
    return;
  }
  ++counts_.implicit_frees;
  process.replaced.add({old.address, time_ns, 0, spaceOf(old.heap), by_stream, SkewWindow::What::Free});
}

void LiveSet::noteUnmatched(Process &process, const StreamEvent &event, const abi::FreeEvent &freed) {
  ++(pauses_.any() ? counts_.frees_before_start : counts_.unmatched_frees);
  const abi::EventHeader &header = freed.header;
  process.early.add({freed.address, header.time, freed.size, spaceOf(header.heap), event.stream,
                     header.flags & abi::kRealloc ? SkewWindow::What::ReallocFree : SkewWindow::What::Free});
  if (mayBeRefused(header) && !isListed(header)) // it cannot bring back the block that this thread freed before
    process.parked.erase(Process::parkingOf(event));
}

void LiveSet::onFree(const StreamEvent &event, const abi::FreeEvent &freed) {
  Process &process = processOf(event.process);
  if (freed.address == 0 && freed.header.heap == abi::Heap::Device)
    return endDevice(process, freed.header.device, freed.header.time);
  ++counts_.frees;
  // Another thread got the address a moment ago, by its clock. So this is the free of the block before.
  if (!process.replaced.empty() &&
      process.replaced.takeFree({spaceOf(freed.header.heap), freed.address, event.stream, freed.header.time})) {
    ++counts_.late_frees;
    return;
  }
  freeNow(process, event, freed);
}

void LiveSet::freeNow(Process &process, const StreamEvent &event, const abi::FreeEvent &freed) {
  if (spaceOf(freed.header.heap) != AddressSpace::Mapping)
    return freeWhole(process, event, freed);
  abi::FreeEvent pages = freed;
  if (const Block *whole = process.find(AddressSpace::Mapping, freed.address); whole && pages.size == 0)
    pages.size = std::max<uint64_t>(whole->size, 1);
  if (pages.size == 0)
    return noteUnmatched(process, event, freed);
  unmap(process, event, pages);
}

// A user's wrapper names the heap Pool, but the block is in the allocator's table. Returns this block, or null.
Block *LiveSet::findWrapped(Process &process, uint64_t address) {
  for (const AddressSpace space : {AddressSpace::Host, AddressSpace::Mapping, AddressSpace::Accelerator})
    if (Block *block = process.find(space, address))
      return block;
  return nullptr;
}

void LiveSet::freeWhole(Process &process, const StreamEvent &event, const abi::FreeEvent &freed) {
  const AddressSpace space = spaceOf(freed.header.heap);
  Block *found = process.find(space, freed.address, freed.header.device);
  if (found && process.isShownOnly(*found)) [[unlikely]]
    return noteUnmatched(process, event, freed);
  const bool may_be_shown = !found && space == AddressSpace::Accelerator;
  if (DeviceRange *shown = may_be_shown ? process.ranges.handle(freed.address) : nullptr) { // a part of a buffer
    if (shown->owners-- == 1)
      hide(process, event.stream, {freed.header, freed.address, shown->size, 0, 0, 0, 0});
    return;
  }
  if (!found && process.forgetEnded(freed))
    return process.parked.erase(Process::parkingOf(event));
  if (!found) {
    // This may be the free of a wrapper. Then the allocator's own free follows and ends the block. There was no
    // Retarget if code without the plugin called the wrapper that made the block. If the processor is the device,
    // shared memory comes from malloc.
    const bool is_wrapper = space == AddressSpace::Pool || freed.header.heap == abi::Heap::Managed;
    if (!is_wrapper || !findWrapped(process, freed.address))
      noteUnmatched(process, event, freed);
    return;
  }
  if (isInGraph(*found)) [[unlikely]]
    return freeInGraph(process, *found, freed);
  const bool realloc = freed.header.flags & abi::kRealloc;
  const bool may_be_refused = mayBeRefused(freed.header);
  if (found->refs > 1) {
    found->refs = (found->refs - 1) & kMostOwners;
    if (may_be_refused)
      process.parked[Process::parkingOf(event)] = {freed.address, true, {*found}, {}};
    return;
  }
  const Block block = *found;
  erase(process, found);
  if (space == AddressSpace::Host) {
    process.freed_address = block.address;
    process.freed_by = event.stream;
  }
  if (may_be_refused)
    park(process, event, block);
  announceFree(block, realloc ? FreeCause::Reallocated : FreeCause::Freed, freed.header.time);
  if (Backings::concerns(block) && block.heap != abi::Heap::Host) [[unlikely]]
    process.backings.release(block, event.stream);
}

// Stores the block that the thread's free removed last. If one call frees a list of blocks, adds one more block.
void LiveSet::park(Process &process, const StreamEvent &event, const Block &block) {
  Parked &parked = process.parked[Process::parkingOf(event)];
  if (parked.address != 0 && isListed(event.event.header()))
    parked.more.push_back({block});
  else
    parked = {block.address, false, {block}, {}};
}

// A realloc or a free was refused: the blocks of its Free are alive again. For a list, there is one event for each
// block, beginning with the last block.
void LiveSet::restore(Process &process, const StreamEvent &event) {
  Parked *parked = process.parked.find(Process::parkingOf(event));
  const uint64_t address = event.event.as<abi::AllocEvent>().address;
  if (parked && !parked->more.empty() && spaceOf(parked->first.block.heap) != AddressSpace::Mapping) {
    const Block last = parked->more.back().block;
    if (last.address != address)
      return;
    parked->more.pop_back();
    return insert(process, last, AllocCause::Restored, event.event.header().time);
  }
  if (!parked || (address != 0 && parked->address != address))
    return; // the old block is unknown, and its free was counted as unmatched
  const Parked back = std::move(*parked);
  process.parked.erase(Process::parkingOf(event));
  const uint64_t time_ns = event.event.header().time;
  if (back.was_owner) {
    if (Block *block = process.find(spaceOf(back.first.block.heap), back.address))
      addOwner(*block);
    return;
  }
  if (spaceOf(back.first.block.heap) != AddressSpace::Mapping)
    return insert(process, back.first.block, AllocCause::Restored, time_ns);
  insertMapping(process, back.first, AllocCause::Restored, time_ns);
  for (const Mapping &mapping : back.more)
    insertMapping(process, mapping, AllocCause::Restored, time_ns);
}

void LiveSet::onRetarget(const StreamEvent &event, const abi::RetargetEvent &retarget, SiteId site) {
  Process &process = processOf(event.process);
  Block *block = process.find(spaceOf(retarget.header.heap), retarget.address, retarget.header.device);
  if (!block) // the wrapper may know less about the heap than the allocator
    block = findWrapped(process, retarget.address);
  if (!block) {
    ++counts_.unmatched_retargets;
    return;
  }
  change(*block, site, contextOf(*block), retarget.header.time);
}

// Gives the block another place and context, which it has had since its birth.
void LiveSet::change(Block &block, SiteId site, const Context &context, uint64_t time_ns) {
  const Block before = block;
  block.site = site;
  block.cohort = cohortOf(block, context);
  for (BlockObserver *observer : observersOf(block))
    observer->onRetarget(block, before, time_ns);
}

void LiveSet::onOwned(const StreamEvent &event, const abi::OwnedEvent &owned) {
  Block *block = processOf(event.process).containing(owned.address);
  if (!block) {
    ++counts_.unmatched_retargets;
    return;
  }
  Context context = contextOf(*block);
  context.owner = contexts_.labelOf(event.process, owned.label);
  change(*block, block->site, context, owned.header.time);
}

// The thread begins or ends the evaluation of a node.
void LiveSet::onCounter(const StreamEvent &event, const abi::CounterEvent &counter) {
  if (contexts_.textOf(contexts_.labelOf(event.process, counter.label)) != abi::kTorchNodeLabel)
    return;
  has_forwards_ = true;
  contexts_.evaluate(event.process, event.stream, forwardOf(processOf(event.process), counter.value));
}

// Returns the path that allocated a node. A node may be made while another one is evaluated, for a second derivative.
// Then its own path shows only the backward pass, unless the evaluation calls modules again.
SiteId LiveSet::forwardOf(Process &process, uint64_t node) const {
  constexpr uint64_t kSharedCounts = 16; // std::make_shared puts a node behind its counts
  const Block *block = process.find(AddressSpace::Host, node);
  if (block == nullptr && node > kSharedCounts)
    block = process.find(AddressSpace::Host, node - kSharedCounts);
  if (block == nullptr)
    return {};
  const SiteId outer = cohorts_[block->cohort].forward;
  return outer.known() && !(calls_module_ && calls_module_(block->site)) ? outer : block->site;
}

void LiveSet::onRetain(const StreamEvent &event, const abi::RetainEvent &retain) {
  Process &process = processOf(event.process);
  const abi::EventHeader &header = retain.header;
  if (Block *block = process.find(spaceOf(header.heap), retain.address, header.device))
    return addOwner(*block);
  if (DeviceRange *shown = process.ranges.handle(retain.address)) {
    ++shown->owners;
    return;
  }
  ++counts_.unmatched_retargets;
  process.early.add({retain.address, header.time, 0, spaceOf(header.heap), event.stream, SkewWindow::What::Retain});
}

void LiveSet::endProcess(uint32_t number, FreeCause cause, uint64_t time_ns) {
  const auto found = processes_.find(number);
  if (found == processes_.end())
    return;
  const std::unique_ptr<Process> process = std::move(found->second);
  processes_.erase(found);
  last_process_ = nullptr;
  const auto die = [&](const Block &block) {
    --live_blocks_;
    announceFree(block, cause, time_ns);
  };
  contexts_.endProcess(number);
  for (const BlockTable &table : process->tables)
    table.forEach(die);
  for (const auto &[device, table] : process->devices)
    table.forEach(die);
  endMappings(*process, cause, time_ns);
}

const Block *LiveSet::find(uint32_t process, AddressSpace space, uint64_t address) const {
  const auto found = processes_.find(process);
  return found == processes_.end() ? nullptr : found->second->find(space, address);
}

const Block *LiveSet::holding(uint32_t process, AddressSpace space, uint64_t address, uint8_t device) {
  const auto found = processes_.find(process);
  return found == processes_.end() ? nullptr : found->second->holding(space, address, device);
}

void LiveSet::forEach(const std::function<void(const Block &)> &f) const {
  for (const uint32_t process : processes())
    forEachOf(process, f);
}

void LiveSet::forEachOf(uint32_t number, const std::function<void(const Block &)> &f) const {
  const auto found = processes_.find(number);
  if (found == processes_.end())
    return;
  const Process &process = *found->second;
  for (const BlockTable &table : process.tables)
    table.forEach(f);
  for (const auto &[device, table] : process.devices)
    table.forEach(f);
  for (const auto &[address, mapping] : process.mappings)
    f(mapping.block);
}

std::vector<uint32_t> LiveSet::processes() const {
  std::vector<uint32_t> numbers;
  for (const auto &[number, process] : processes_)
    numbers.push_back(number);
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

} // namespace msleaks::analysis::inline live
