// The callbacks that the pass inserts (callbacks.def). What they and the hooks agree on is in pending.h.
#include "drivers.h"
#include "kernel_arguments.h"
#include "kernel_names.h"
#include "open_calls.h"
#include "watch.h"
#include "watch_choice.h"
#include "watched_block.h"

#include "msleaks/runtime/pending.h"

#include <cerrno>
#include <sys/mman.h>
#include <utility>

#include "msleaks/abi/callbacks.h"
#include "msleaks/runtime/mappings.h"
#include "msleaks/runtime/page.h"
#include "msleaks/runtime/path.h"

namespace msleaks::runtime {
namespace {

using abi::Traits;
using abi::Verb;

uint64_t addressOf(const void *pointer) noexcept { return reinterpret_cast<uint64_t>(pointer); }

// A device's block is never the host's block at the same address: a cl_mem is a pointer to what the driver took from
// malloc for its own notes. A mapping is never the block of another heap: it is the supply that the block was cut from.
// What a driver has registered is memory that somebody else has handed out.
bool sameMemory(abi::Heap row, abi::Heap recorded) noexcept {
  const auto isApart = [](abi::Heap heap) { return heap == abi::Heap::Device || heap == abi::Heap::Registered; };
  return row == recorded || (!isApart(row) && recorded != abi::Heap::Mapping && recorded != abi::Heap::Registered);
}

RecordedAlloc *findRecorded(Thread &thread, uint32_t last, abi::Heap heap, uint64_t address) noexcept {
  for (uint32_t i = 1; i <= last; ++i)
    if (RecordedAlloc &alloc = thread.last[(thread.remembered - i) % kRememberedAllocs];
        alloc.address == address && sameMemory(heap, alloc.heap))
      return &alloc;
  return nullptr;
}

struct Outcome {
  uint64_t address; // 0 = failed
  uint64_t size_bytes;
  uint64_t status;
  uint16_t flags; // beyond those of the row
};

// The realloc failed: its old block is alive again.
void restore(const OpenCall &call) noexcept {
  if (call.old != 0)
    recordAlloc(Traits(call.traits).heap(), abi::kRealloc | abi::kRestored, call.site, call.old, 0);
}

// The site was left for a hook, which has taken it and says that the call failed. A driver's hook takes none, but what
// the driver itself maps meanwhile displaces it: there it is looked whether a call inside this one has said so.
bool isFailureTold(Thread &thread, const OpenCall &closed, Traits traits) noexcept {
  return closed.site == 0 || !hasDevices(traits.family()) ||
         findRecorded(thread, closed.remembered, traits.heap(), 0) != nullptr;
}

// The allocation, between the beginning and the end of its owner; and that it has uses that no hook sees.
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

// Nothing of 0 bytes fails; realloc(p, 0) gave p back.
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

// An inner call of a family that is being recorded, or an allocator's own mapping.
bool isInner(const Thread &thread, Traits row, uint64_t frame) noexcept {
  return isInside(thread, row.family()) || isSupply(thread, frame, row);
}

// The session was stopped when the call began. Whether it has started since or not, the hook behind the callback has
// recorded what there was to record.
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
  RecordedAlloc *recorded = findRecorded(thread, closed.remembered, traits.heap(), outcome.address);
  if (recorded == nullptr && wraps)
    return;
  if (recorded == nullptr) {
    const uint16_t flags =
        traits.verb() == Verb::Realloc && closed.old == 0 ? traits.flags() & ~abi::kRealloc : traits.flags();
    rememberAlloc(thread, traits.heap(), outcome.address, site);
    recordOwned(
        thread, closed,
        abi::AllocEvent{{abi::EventKind::Alloc, traits.heap(), deviceOf(thread, traits),
                         static_cast<uint16_t>(flags | outcome.flags | (Traits(closed.traits).flags() & abi::kReserve)),
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
  // Memory that a driver shares with the host was the driver's own until now.
  if (isWatching() && hasDevices(traits.family()) && choosesBlocks()) [[unlikely]]
    blockComes({retarget, outcome.address, outcome.size_bytes});
}

// Inlined into the callback, whose frame names the call. A call that began before the session was stopped is still to
// be closed.
[[gnu::always_inline]] inline void afterAlloc(uint32_t site, Traits traits, const Outcome &outcome) noexcept {
  if (isStopped() && isPlain(__msl_thread)) [[unlikely]]
    return;
  settle(callerFrame(), site, traits, outcome);
}

// The kernel says no in another way than malloc, and gives its reason.
uint64_t resultOf(Traits traits, const void *address) noexcept {
  return traits.family() == abi::Family::Mmap && address == MAP_FAILED ? 0 : addressOf(address);
}
uint64_t reasonOf(Traits traits) noexcept {
  return static_cast<uint64_t>(traits.family() == abi::Family::Mmap ? errno : ENOMEM);
}

// The block of a free, or of the first half of a realloc; 0 = none.
void giveBack(Thread &thread, uint32_t site, Traits row, uint64_t address, uint64_t size) noexcept {
  if (address != 0)
    recordFree(row.heap(), row.flags(), site, address, size);
  leavePending(thread, {site, row.packed(), address});
}

// No event: recording is off, or the call is an inner one of a family that is being recorded.
bool isLeftOut(const Thread &thread, Traits row) noexcept { return isStopped() || isInside(thread, row.family()); }

// The same before a call whose second callback has to know. True: left out.
bool leaveOut(Thread &thread, uint32_t site, Traits row, uint64_t frame) noexcept {
  if (!isStopped())
    return isInner(thread, row, frame);
  thread.skipped_site = site;
  return true;
}

// Whether the call that this callback stands behind failed, and nobody has said so: of the callback and the hook inside
// the call, the first does. `site` becomes that of the event before the call, when that was another's (launchSite).
bool mustTell(Thread &thread, uint32_t &site, Traits row, uint64_t address, int64_t status) noexcept {
  const Traits left(thread.pending_traits);
  const uint64_t named = thread.pending_address;
  const bool ours = thread.call.site != 0 && left.verb() == row.verb() && left.family() == row.family() &&
                    (named == address || named == kTold);
  if (ours) {
    site = thread.call.site;
    thread.call.site = 0; // no hook took it, and none will
  }
  if (status == 0 || (ours && named == kTold))
    return false;
  leavePending(thread, {site, row.packed(), kTold});
  return true;
}

uint32_t low(uint64_t packed) noexcept { return static_cast<uint32_t>(packed); }
uint32_t high(uint64_t packed) noexcept { return static_cast<uint32_t>(packed >> 32); }

uint16_t narrowed(uint64_t value) noexcept { return value < UINT16_MAX ? static_cast<uint16_t>(value) : UINT16_MAX; }

// A launch through a stub: the site of the call of the stub was left, and says more than the one inside it.
uint32_t launchSite(Thread &thread, uint32_t site, Traits traits) noexcept {
  const uint32_t left = thread.call.site;
  const Traits of(thread.pending_traits);
  if (left == 0 || isRecorded(thread) || of.verb() != Verb::Launch || of.family() != traits.family())
    return site;
  thread.call.site = 0;
  return left;
}

// Before the event of the operation, behind what changed until now.
[[gnu::always_inline]] inline void tellWatch(Traits row, uint32_t site, const CallerFrame &frame, const void *kernel,
                                             const void *stream) noexcept {
  if (isWatching()) [[unlikely]]
    operationBegins(
        {row.verb(), row.family(), pathOfSite(enabledWord(), site, frame), addressOf(kernel), addressOf(stream)});
}

abi::EventHeader headerOf(abi::EventKind kind, Traits traits, uint32_t site) noexcept {
  return {kind, traits.heap(), deviceOf(__msl_thread, traits), traits.flags(), site, 0};
}

bool knowsArguments(Traits row, uint64_t kernel) noexcept {
  return row.family() == abi::Family::OpenCl && isEnabled(abi::EventKind::Access) && kernel_arguments.isKnown(kernel);
}

// The launch is part of an operator whose memory has been told (hooks/atb.cpp).
bool isOfToldOperator(const Thread &thread, Traits row, const CallerFrame &frame) noexcept {
  return row.family() == abi::Family::Acl && isTold(thread, frame.stack_pointer) && isEnabled(abi::EventKind::Access);
}

// Behind the launch: what the kernel may read and write, of what `address` names.
void recordArgument(Thread &thread, abi::EventHeader header, uint64_t address, const abi::GraphArgument &row) noexcept {
  if (address == 0 || (row.uses & abi::kIsAddress) == 0 || (row.uses & (abi::kReads | abi::kWrites)) == 0)
    return;
  header.flags |= static_cast<uint16_t>(abi::kListed | ((row.uses & abi::kReads) != 0 ? abi::kRead : 0) |
                                        ((row.uses & abi::kWrites) != 0 ? abi::kWrite : 0));
  record(thread, abi::AccessEvent{header, address + static_cast<uint64_t>(row.begin),
                                  static_cast<uint64_t>(row.end - row.begin)});
}

// Whether a word is the address of a block, the analysis knows. A handle has no bytes behind it: of the buffer, what is
// used ends at the end of the row.
void recordArguments(Thread &thread, Traits row, uint32_t site, uint64_t kernel) noexcept {
  kernel_arguments.forEach(kernel, [&](uint64_t address, const abi::GraphArgument *argument) {
    const abi::EventHeader header = headerOf(abi::EventKind::Access, row, site);
    if (argument == nullptr)
      return record(thread, abi::AccessEvent{header, address, 0});
    abi::GraphArgument of_handle = *argument;
    of_handle.begin = 0;
    of_handle.end = argument->begin < argument->end && argument->begin >= 0 ? argument->end : 0;
    recordArgument(thread, header, address, of_handle);
  });
}

uint64_t wordOf(const abi::GivenArguments &given, uint32_t index, uint32_t offset) noexcept {
  uint64_t word = 0;
  const void *const at = given.each != nullptr                                  ? given.each[index]
                         : uint64_t{offset} + sizeof word <= given.packed_bytes ? given.packed + offset
                                                                                : nullptr;
  if (at != nullptr)
    __builtin_memcpy(&word, at, sizeof word);
  return word;
}

// Sizes as the callbacks take them: x | y << 32.
struct Launch {
  const void *kernel, *stream;
  uint64_t grid_xy;
  uint32_t grid_z;
  uint64_t block_xy;
  uint32_t block_z, shared_bytes;
};

void recordLaunch(const CallerFrame &frame, uint32_t site, Traits row, const Launch &launch) noexcept {
  Thread &thread = __msl_thread;
  if (isLeftOut(thread, row))
    return;
  const uint32_t launched = launchSite(thread, site, row);
  tellWatch(row, launched, frame, launch.kernel, launch.stream);
  tellKernel(thread, row, addressOf(launch.kernel));
  abi::LaunchEvent event{};
  event.header = headerOf(abi::EventKind::Launch, row, launched);
  event.kernel = addressOf(launch.kernel);
  event.stream = addressOf(launch.stream);
  event.continuation = abi::kContinuationTag;
  event.grid_x = low(launch.grid_xy);
  event.grid_y = high(launch.grid_xy);
  event.grid_z = launch.grid_z;
  event.shared_bytes = launch.shared_bytes;
  event.block_x = narrowed(low(launch.block_xy));
  event.block_y = narrowed(high(launch.block_xy));
  event.block_z = narrowed(launch.block_z);
  const bool has_arguments = knowsArguments(row, event.kernel);
  const bool is_listed = has_arguments || isOfToldOperator(thread, row, frame);
  event.header.flags |= is_listed ? uint32_t{abi::kListed} : 0u;
  record(thread, event);
  thread.launch_site = launched;
  if (has_arguments)
    recordArguments(thread, row, launched == site ? pathOfSite(enabledWord(), site, frame) : launched, event.kernel);
  leavePending(thread, {launched, row.packed(), event.kernel});
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
  const Traits row(traits);
  afterAlloc(site, row, {resultOf(row, address), size, reasonOf(row), 0});
}

void __msl_on_alloc_out(uint32_t site, uint32_t traits, const void *const *where, uint64_t size,
                        int64_t status) noexcept {
  afterAlloc(site, Traits(traits),
             {status == 0 && where != nullptr ? addressOf(*where) : 0, size, static_cast<uint64_t>(status), 0});
}

void __msl_on_alloc_status(uint32_t site, uint32_t traits, const void *address, uint64_t size,
                           const int32_t *status) noexcept {
  if (address != nullptr && Traits(traits).family() == abi::Family::OpenCl)
    noteHandle(addressOf(address));
  afterAlloc(site, Traits(traits),
             {addressOf(address), size, status != nullptr ? static_cast<uint64_t>(int64_t{*status}) : 0, 0});
}

void __msl_on_map(uint32_t site, uint32_t traits, const void *address, uint64_t size, int32_t protection,
                  int32_t flags) noexcept {
  const Traits row(traits);
  afterAlloc(site, row, {resultOf(row, address), size, reasonOf(row), mappingFlags(protection, flags)});
}

void __msl_on_free(uint32_t site, uint32_t traits, const void *address, uint64_t size) noexcept {
  Thread &thread = __msl_thread;
  const Traits row(traits);
  if (leaveOut(thread, site, row, callerStackPointer()))
    return;
  if (row.family() == abi::Family::Mmap && !munmapTakes(addressOf(address), size, pageBytes()))
    return;
  if (row.verb() == Verb::Realloc)
    openCall(thread, callerStackPointer(), site, row, addressOf(address));
  if (isWatching() && row.family() != abi::Family::Heap && row.family() != abi::Family::Mmap) [[unlikely]]
    blockGoes({headerOf(abi::EventKind::Free, row, site), addressOf(address), size});
  giveBack(thread, site, row, addressOf(address), size);
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
    return; // was not recorded
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

void __msl_on_launch(uint32_t site, uint32_t traits, const void *kernel, const void *stream, uint64_t grid_xy,
                     uint32_t grid_z, uint64_t block_xy, uint32_t block_z, uint32_t shared_bytes) noexcept {
  recordLaunch(callerFrame(), site, Traits(traits), {kernel, stream, grid_xy, grid_z, block_xy, block_z, shared_bytes});
}

void __msl_on_launch_range(uint32_t site, uint32_t traits, const void *kernel, const void *queue, uint32_t dimensions,
                           const uint64_t *global, const uint64_t *local) noexcept {
  const auto size = [dimensions](const uint64_t *sizes, uint32_t i) -> uint64_t {
    return sizes != nullptr && i < dimensions ? sizes[i] : 1;
  };
  const auto grid = [&](uint32_t i) {
    return size(global, i) < UINT32_MAX ? static_cast<uint32_t>(size(global, i)) : UINT32_MAX;
  };
  // Without local sizes the driver chooses: 0 says so.
  const auto block = [&](uint32_t i) -> uint64_t { return local != nullptr ? size(local, i) : 0; };
  recordLaunch(callerFrame(), site, Traits(traits),
               {kernel, queue, grid(0) | uint64_t{grid(1)} << 32, grid(2),
                narrowed(block(0)) | uint64_t{narrowed(block(1))} << 32, narrowed(block(2)), 0});
}

void __msl_on_copy(uint32_t site, uint32_t traits, const void *destination, const void *source, uint64_t size,
                   const void *stream, uint64_t direction) noexcept {
  Thread &thread = __msl_thread;
  const Traits row(traits);
  if (isLeftOut(thread, row))
    return;
  tellWatch(row, site, callerFrame(), nullptr, stream);
  const abi::CopyEvent event{headerOf(abi::EventKind::Copy, row, site),
                             addressOf(destination),
                             addressOf(source),
                             abi::kContinuationTag,
                             size,
                             addressOf(stream),
                             direction};
  record(thread, event);
  leavePending(thread, {site, traits, addressOf(destination)});
}

void __msl_on_set(uint32_t site, uint32_t traits, const void *destination, uint64_t value, uint64_t size,
                  const void *stream) noexcept {
  Thread &thread = __msl_thread;
  const Traits row(traits);
  if (isLeftOut(thread, row))
    return;
  tellWatch(row, site, callerFrame(), nullptr, stream);
  const abi::SetEvent event{headerOf(abi::EventKind::Set, row, site),
                            addressOf(destination),
                            size,
                            abi::kContinuationTag,
                            addressOf(stream),
                            value,
                            0};
  record(thread, event);
  leavePending(thread, {site, traits, addressOf(destination)});
}

void __msl_on_failed(uint32_t site, uint32_t traits, const void *handle, int64_t status) noexcept {
  Thread &thread = __msl_thread;
  const Traits row(traits);
  if (isLeftOut(thread, row))
    return;
  thread.launch_site = 0;
  if (isWatching()) [[unlikely]]
    operationEnds();
  if (!mustTell(thread, site, row, addressOf(handle), status))
    return;
  record(thread, abi::FailedEvent{headerOf(abi::EventKind::Failed, row, site), addressOf(handle),
                                  static_cast<uint64_t>(status)});
}

// Whatever the session does meanwhile: the kernel may be launched when it records again.
void __msl_on_argument(uint32_t, const void *kernel, uint32_t index, uint64_t size, const void *value) noexcept {
  uint64_t word = 0;
  if (value != nullptr && size == sizeof word)
    __builtin_memcpy(&word, value, sizeof word);
  kernel_arguments.set(addressOf(kernel), index, word);
}

void __msl_on_kernel(uint32_t, const void *kernel, uint32_t copied) noexcept {
  kernelBegins(addressOf(kernel));
  kernel_arguments.begin(addressOf(kernel), copied ? KernelArguments::Given::Unknown : KernelArguments::Given::None);
}

void __msl_kernel_arguments(const void *kernel, const abi::ArgumentRows *arguments) noexcept {
  kernel_arguments.describe(addressOf(kernel), *arguments);
}

// Once for each launch that was recorded, by the first kernel that is launched in the call.
void __msl_launch_arguments(uint32_t traits, const abi::ArgumentRows *arguments,
                            const abi::GivenArguments *given) noexcept {
  Thread &thread = __msl_thread;
  const uint32_t launched = std::exchange(thread.launch_site, 0);
  if (launched == 0 || isStopped() || !isEnabled(abi::EventKind::Access))
    return;
  const uint32_t site = pathOfSite(enabledWord(), launched, callerFrame());
  abi::EventHeader header = headerOf(abi::EventKind::Access, Traits(traits), site);
  const auto *row = static_cast<const char *>(arguments->rows);
  for (uint32_t index = 0; index < arguments->count; ++index, row += arguments->row_bytes) {
    const auto &argument = *reinterpret_cast<const abi::GraphArgument *>(row);
    if ((argument.uses & abi::kIsAddress) != 0)
      recordArgument(thread, header, wordOf(*given, index, argument.offset), argument);
  }
  header.flags |= arguments->uses_others ? 0 : abi::kListed;
  record(thread, abi::AccessEvent{header, 0, 0});
}

void __msl_on_access(uint32_t site, uint32_t traits, const void *address, uint32_t flags) noexcept {
  Thread &thread = __msl_thread;
  const Traits row(traits);
  if (isLeftOut(thread, row))
    return;
  if (address != nullptr)
    tellWatch(row, site, callerFrame(), nullptr, nullptr);
  if ((enabledWord() & abi::enabledBit(abi::EventKind::Access)) == 0)
    return;
  abi::EventHeader header = headerOf(abi::EventKind::Access, row, site);
  header.flags |= flags;
  record(thread, abi::AccessEvent{header, addressOf(address), 0});
}

// Behind the call, since a call that is refused changes nothing.
void __msl_on_protect(uint32_t site, uint32_t traits, const void *address, uint64_t size, int32_t protection,
                      int64_t status) noexcept {
  Thread &thread = __msl_thread;
  const Traits row(traits);
  const uint64_t frame = callerStackPointer();
  if (isStopped() && isPlain(thread))
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
