// Defines the callbacks around calls that allocate, free, retain or protect memory (callbacks.def). pending.h describes
// the protocol between these callbacks and the hooks.
#include "callbacks.h"

#include "drivers.h"
#include "kernel_names.h"
#include "open_calls.h"
#include "watch.h"
#include "watch_choice.h"
#include "watched_block.h"

#include <cerrno>
#include <sys/mman.h>
#include <utility>

#include "msleaks/runtime/mappings.h"
#include "msleaks/runtime/page.h"

namespace msleaks::runtime {
namespace {

using abi::Traits;
using abi::Verb;

// Whether a recorded block may be the block of a callback. `row` has the heap of the callback's block. Both blocks have
// the same address, but may still be different blocks. For example, a handle of a device's block (cl_mem) is also the
// address of a host block. A mapping may begin with a block of the heap.
bool sameMemory(Traits row, abi::Heap recorded) noexcept {
  const abi::Heap heap = row.heap();
  const bool is_apart = heap == abi::Heap::Device || heap == abi::Heap::Registered || heap == abi::Heap::Imported ||
                        (row.flags() & abi::kDriver) != 0;
  return heap == recorded || (!is_apart && recorded != abi::Heap::Mapping && recorded != abi::Heap::Registered);
}

RecordedAlloc *findRecorded(Thread &thread, uint32_t last, Traits row, uint64_t address) noexcept {
  for (uint32_t i = 1; i <= last; ++i)
    if (RecordedAlloc &alloc = thread.last[(thread.remembered - i) % kRememberedAllocs];
        alloc.address == address && sameMemory(row, alloc.heap))
      return &alloc;
  return nullptr;
}

struct Outcome {
  uint64_t address; // 0 = failed
  uint64_t size_bytes;
  uint64_t status;
  uint16_t flags; // in addition to the flags of the row
};

// Records that the old block of a failed realloc is alive again.
void restore(const OpenCall &call) noexcept {
  if (call.old != 0)
    recordAlloc(Traits(call.traits).heap(), abi::kRealloc | abi::kRestored, call.site, call.old, 0);
}

// Whether the failure of a call is recorded already. The call's site is no longer pending. Usually a hook has used the
// site and records the failure. A driver's hook uses no site, but a mapping inside the driver may have replaced the
// site. So for a driver's call, this function checks whether a call inside it has recorded the failure.
bool isFailureTold(Thread &thread, const OpenCall &closed, Traits traits) noexcept {
  return closed.site == 0 || !hasDevices(traits.family()) ||
         findRecorded(thread, closed.remembered, traits, 0) != nullptr;
}

// Records the allocation. If it has an owner, records OwnerPush before it and OwnerPop after it. If the block has uses
// that no hook sees, also records an Access.
template <class Event>
[[gnu::always_inline]] inline void recordOwned(Thread &thread, const OpenCall &closed, const Event &event) noexcept {
  constexpr auto headerOf = [](abi::EventKind kind) { return abi::EventHeader{kind, abi::Heap::Host, 0, 0, 0, 0}; };
  const abi::OwnerPushEvent push{headerOf(abi::EventKind::OwnerPush), closed.owner & ~kUsedUnseen, 0};
  const abi::OwnerPopEvent pop{headerOf(abi::EventKind::OwnerPop), 0, 0};
  if (closed.owner == 0)
    return record(thread, event);
  if ((closed.owner & kUsedUnseen) == 0 || Event::kKind != abi::EventKind::Alloc)
    return recordTogether(thread, push, event, pop);
  abi::EventHeader header = event.header;
  header.kind = abi::EventKind::Access;
  header.heap = abi::Heap::Device;
  recordTogether(thread, push, event, abi::AccessEvent{header, 0, 0}, pop);
}

// Records a failed allocation. A request of 0 bytes is not recorded: realloc(p, 0) returns null after it has freed p.
void afterFailure(const OpenCall &closed, bool untaken, uint32_t site, Traits traits, const Outcome &outcome) noexcept {
  Thread &thread = __msl_thread;
  if (outcome.size_bytes == 0)
    return;
  restore(closed);
  if (traits.verb() == Verb::Wrap || (!untaken && isFailureTold(thread, closed, traits)))
    return;
  recordOwned(thread, closed,
              abi::AllocFailedEvent{{abi::EventKind::AllocFailed, traits.heap(), deviceOf(thread, traits),
                                     static_cast<uint16_t>(traits.flags() & ~abi::kRealloc), site, 0},
                                    outcome.size_bytes,
                                    outcome.status});
  if (!hasDevices(traits.family()))
    return;
  rememberAlloc(thread, traits.heap(), 0, site);
  deviceRefused(traits);
}

// Whether this call is inside another call of its family, or is a mapping that an allocator makes for its blocks.
bool isInner(const Thread &thread, Traits row, uint64_t frame) noexcept {
  return isInside(thread, row.family()) || isSupply(thread, frame, row);
}

// Whether the session was stopped when the call began. If the session has started again since then, the hook inside the
// call has recorded the call.
bool wasSkipped(Thread &thread, uint32_t site, const OpenCall &closed) noexcept {
  return closed.site == 0 && std::exchange(thread.skipped_site, 0) == site;
}

void settle(const CallerFrame &frame, uint32_t site, Traits traits, const Outcome &outcome) noexcept {
  Thread &thread = __msl_thread;
  if (isInner(thread, traits, frame.stack_pointer))
    return;
  const OpenCall closed = closeCall(thread, frame.stack_pointer, site);
  if (wasSkipped(thread, site, closed))
    return;
  const bool untaken = thread.call.site == site;
  if (untaken)
    thread.call.site = 0;
  const bool wraps = traits.verb() == Verb::Wrap;
  if (outcome.address == 0)
    return afterFailure(closed, untaken, site, traits, outcome);
  RecordedAlloc *recorded = findRecorded(thread, closed.remembered, traits, outcome.address);
  if (recorded == nullptr && wraps)
    return;
  if (recorded == nullptr) {
    const uint16_t flags =
        traits.verb() == Verb::Realloc && closed.old == 0 ? traits.flags() & ~abi::kRealloc : traits.flags();
    rememberAlloc(thread, traits.heap(), outcome.address, site);
    recordOwned(thread, closed,
                abi::AllocEvent{{abi::EventKind::Alloc, traits.heap(), deviceOf(thread, traits),
                                 static_cast<uint16_t>(flags | outcome.flags |
                                                       (Traits(closed.traits).flags() & (abi::kReserve | abi::kFile))),
                                 pathOfSite(enabledWord(), site, frame), 0},
                                outcome.address,
                                outcome.size_bytes});
    if (hasDevices(traits.family()))
      deviceAllocated(traits, outcome.size_bytes);
    return;
  }
  if (recorded->site == site)
    return;
  recorded->site = site;
  const abi::EventHeader retarget{
      abi::EventKind::Retarget, traits.heap(), 0, 0, pathOfSite(enabledWord(), site, frame), 0};
  record(thread, abi::RetargetEvent{retarget, outcome.address, outcome.size_bytes});
  // Memory that a driver shares with the host was recorded as the driver's own block until now. So only now can it be
  // chosen for a watch.
  if (isWatching() && hasDevices(traits.family()) && choosesBlocks()) [[unlikely]]
    blockComes({retarget, outcome.address, outcome.size_bytes});
}

// Whether the callback after a call has nothing to do: the session is stopped, and no call is open. A call that began
// before the session was stopped must still be closed.
bool isIdle() noexcept { return isStopped() && isPlain(__msl_thread); }

// mmap reports a failure by MAP_FAILED, and the reason by errno. A failed malloc returns null, and its reason is always
// ENOMEM.
uint64_t resultOf(Traits traits, const void *address) noexcept {
  return traits.family() == abi::Family::Mmap && address == MAP_FAILED ? 0 : addressOf(address);
}
uint64_t reasonOf(Traits traits) noexcept {
  return static_cast<uint64_t>(traits.family() == abi::Family::Mmap ? errno : ENOMEM);
}

// Whether a call is not recorded. If the session is stopped, stores the call's site for the callback after the call.
bool leaveOut(Thread &thread, uint32_t site, Traits row, uint64_t frame) noexcept {
  if (!isStopped())
    return isInner(thread, row, frame);
  thread.skipped_site = site;
  return true;
}

} // namespace
} // namespace msleaks::runtime

using namespace msleaks;
using namespace msleaks::runtime;

void __msl_before(uint32_t site, uint32_t traits) noexcept {
  Thread &thread = __msl_thread;
  const uint64_t frame = callerStackPointer();
  if (leaveOut(thread, site, Traits(traits), frame))
    return;
  openCall(thread, frame, site, Traits(traits), 0);
  leavePending(thread, {site, traits, kAnyBlock});
}

void __msl_announce(uint32_t site, uint32_t traits) noexcept {
  Thread &thread = __msl_thread;
  if (!isLeftOut(thread, Traits(traits)))
    leavePending(thread, {site, traits, kUnfollowed});
}

void __msl_cancel(uint32_t site) noexcept {
  Thread &thread = __msl_thread;
  if (thread.call.inside == kInsideRuntime)
    return;
  restore(closeCall(thread, callerStackPointer(), site));
  if (thread.call.site == site)
    thread.call.site = 0;
}

void __msl_on_alloc(uint32_t site, uint32_t traits, const void *address, uint64_t size) noexcept {
  if (isIdle())
    return;
  const Traits row(traits);
  settle(callerFrame(), site, row, {resultOf(row, address), size, reasonOf(row), 0});
}

void __msl_on_alloc_out(uint32_t site, uint32_t traits, const void *const *where, uint64_t size,
                        int64_t status) noexcept {
  if (isIdle())
    return;
  settle(callerFrame(), site, Traits(traits),
         {status == 0 && where != nullptr ? addressOf(*where) : 0, size, static_cast<uint64_t>(status), 0});
}

void __msl_on_alloc_status(uint32_t site, uint32_t traits, const void *address, uint64_t size,
                           const int32_t *status) noexcept {
  if (address != nullptr && Traits(traits).family() == abi::Family::OpenCl)
    noteHandle(addressOf(address));
  if (!isIdle())
    settle(callerFrame(), site, Traits(traits),
           {addressOf(address), size, status != nullptr ? static_cast<uint64_t>(int64_t{*status}) : 0, 0});
}

void __msl_on_map(uint32_t site, uint32_t traits, const void *address, uint64_t size, int32_t protection,
                  int32_t flags) noexcept {
  if (isIdle())
    return;
  const Traits row(traits);
  settle(callerFrame(), site, row, {resultOf(row, address), size, reasonOf(row), mappingFlags(protection, flags)});
}

void __msl_on_free(uint32_t site, uint32_t traits, const void *address, uint64_t size) noexcept {
  Thread &thread = __msl_thread;
  const Traits row(traits);
  const uint64_t frame = callerStackPointer();
  if (leaveOut(thread, site, row, frame))
    return;
  if (row.family() == abi::Family::Mmap && !munmapTakes(addressOf(address), size, pageBytes()))
    return;
  if (row.verb() == Verb::Realloc)
    openCall(thread, frame, site, row, addressOf(address));
  if (isWatching() && row.family() != abi::Family::Heap && row.family() != abi::Family::Mmap) [[unlikely]]
    blockGoes({headerOf(abi::EventKind::Free, row, site), addressOf(address), size});
  if (address != nullptr)
    recordFree(row.heap(), row.flags(), site, addressOf(address), size);
  leavePending(thread, {site, traits, addressOf(address)});
}

void __msl_on_inner_free(uint32_t site, uint32_t traits, const void *address, uint64_t size) noexcept {
  const Thread &thread = __msl_thread;
  const Traits left(thread.pending_traits);
  const bool recorded = thread.call.site != 0 && left.verb() == Verb::Free &&
                        left.family() == Traits(traits).family() && thread.pending_address == addressOf(address);
  if (!recorded)
    __msl_on_free(site, traits, address, size);
}

void __msl_on_freed(uint32_t site, uint32_t traits, const void *address, uint64_t size, int64_t status) noexcept {
  Thread &thread = __msl_thread;
  const Traits row(traits);
  if (isStopped() || isInner(thread, row, callerStackPointer()))
    return;
  if (row.family() == abi::Family::Mmap && !munmapTakes(addressOf(address), size, pageBytes()))
    return; // the kernel refused this call, and no Free was recorded
  if (!mustTell(thread, site, row, addressOf(address), status) || address == nullptr)
    return;
  abi::EventHeader header = headerOf(abi::EventKind::Alloc, row, site);
  header.flags |= abi::kRestored;
  record(thread, abi::AllocEvent{header, addressOf(address), size});
}

void __msl_on_remap(uint32_t site, uint32_t traits, const void *address, uint64_t old_size, uint64_t size,
                    int32_t flags) noexcept {
  Thread &thread = __msl_thread;
  const Traits row(traits);
  if (leaveOut(thread, site, row, callerStackPointer()))
    return;
  const bool takes = mremapTakes(addressOf(address), old_size, size, flags, pageBytes());
  openCall(thread, callerStackPointer(), site, row, takes ? addressOf(address) : 0);
  if (takes)
    recordFree(row.heap(), row.flags(), site, addressOf(address), old_size);
  leavePending(thread, {site, traits, addressOf(address)});
}

void __msl_on_retain(uint32_t site, uint32_t traits, const void *address) noexcept {
  Thread &thread = __msl_thread;
  const Traits row(traits);
  if (isLeftOut(thread, row))
    return;
  record(thread, abi::RetainEvent{headerOf(abi::EventKind::Retain, row, site), addressOf(address), 0});
  leavePending(thread, {site, traits, addressOf(address)});
}

// Records mprotect after the call, since a refused call changes nothing.
void __msl_on_protect(uint32_t site, uint32_t traits, const void *address, uint64_t size, int32_t protection,
                      int64_t status) noexcept {
  Thread &thread = __msl_thread;
  const Traits row(traits);
  const uint64_t frame = callerStackPointer();
  if (isIdle())
    return;
  if (isInner(thread, row, frame) || wasSkipped(thread, site, closeCall(thread, frame, site)))
    return;
  if (thread.call.site == site)
    thread.call.site = 0;
  if (status != 0 || size == 0)
    return;
  abi::EventHeader header = headerOf(abi::EventKind::Protect, row, site);
  header.flags |= protection == PROT_NONE ? uint32_t{abi::kReserve} : 0u;
  record(thread, abi::ProtectEvent{header, addressOf(address), size});
}
