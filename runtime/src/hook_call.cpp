// Defines the functions of the runtime that hooks call around a real function (msleaks/abi/hook.h). Hooks of the heap
// do not use them. A hook records no events itself: if the call is not instrumented, the hook calls the callbacks that
// the plugin would have inserted.
#include "msleaks/abi/hook.h"

#include "label_table.h"
#include "watch.h"

#include "msleaks/runtime/errno_kept.h"
#include "msleaks/runtime/path.h"
#include "msleaks/runtime/pending.h"
#include "msleaks/runtime/record.h"
#include "msleaks/runtime/took.h"

#include <optional>

using namespace msleaks;
using namespace msleaks::runtime;

namespace {

// Whether a callback has announced this call, and the callbacks around the call record it. If no callback follows the
// call, the result is false, and `call.site` is set to the announced site.
bool isAnnounced(Thread &thread, hook::Call &call, abi::Traits row) noexcept {
  const abi::Traits left(thread.pending_traits);
  const uint64_t address = thread.pending_address;
  const bool ours = left.family() == row.family() && left.verb() == row.verb();
  if (!ours || (address != call.address && address < kUnfollowed)) {
    if (isRecorded(thread))
      thread.call.site = 0;
    return false;
  }
  if (address != kAnyBlock)
    call.site = thread.call.site;
  if (address != kAnyBlock && row.verb() != abi::Verb::Realloc)
    thread.call.site = 0;
  return address != kUnfollowed;
}

// Returns the site of a call that only the hook records. A call that allocates gets a path. While blocks are watched,
// other calls get a path too, since they may change a block.
uint32_t siteOf(uint64_t caller, abi::Traits row, const CallerFrame &own) noexcept {
  const bool takes = row.verb() == abi::Verb::Alloc || row.verb() == abi::Verb::Realloc || row.verb() == abi::Verb::Map;
  if ((!takes && !isWatching()) || (enabledWord() & abi::kPathsOfCallers) == 0)
    return callerSite(caller);
  return __msl_path_to(caller, own.return_address, own.stack_pointer, own.frame_pointer, 0);
}

constexpr uint32_t kTimed = 1u << 31; // in Call::kept, whose lowest bits are CallState::inside

constexpr uint64_t flagsOf(abi::TookKind kind) { return uint64_t{static_cast<uint8_t>(kind)} << abi::kTookKindShift; }

// Returns the bits of TookEvent::thread for a call of this verb. Returns nothing for a call that is not timed.
constexpr std::optional<uint64_t> timedAs(abi::Verb verb) {
  switch (verb) {
  case abi::Verb::Alloc:
  case abi::Verb::Realloc:
  case abi::Verb::Wrap:
  case abi::Verb::Map:
    return abi::kTookIsFirst; // the event is recorded after the real function
  case abi::Verb::Launch:
    return flagsOf(abi::TookKind::Launch);
  case abi::Verb::Copy:
    return flagsOf(abi::TookKind::Copy);
  case abi::Verb::Set:
    return flagsOf(abi::TookKind::Set);
  default:
    return {};
  }
}

// The address of a call is not used any more when the real function begins. So it keeps the time.
void beginTime(const Thread &thread, hook::Call &call) noexcept {
  if (call.traits == hook::kOwnWork || !timedAs(abi::Traits(call.traits).verb()))
    return;
  call.address = beginTook(thread);
  call.kept |= call.address != 0 ? kTimed : 0;
}

void endTime(Thread &thread, const hook::Call &call) noexcept {
  const ErrnoKept kept;
  endTook(thread, call.address, timedAs(abi::Traits(call.traits).verb()).value_or(0));
}

} // namespace

void __msl_hook_enter(hook::Call *call) noexcept {
  Thread &thread = __msl_thread;
  const abi::Traits row(call->traits);
  call->answer = hook::kPass;
  if (isStopped() || isInside(thread, row.family()))
    return;
  if (row.family() == abi::Family::Mmap && insideAllocator(thread))
    return;
  call->site = 0;
  if (row.verb() == abi::Verb::Handle) { // no callback announces calls that only open or close handles
    call->answer = hook::kRecord;
    return;
  }
  if (thread.call.site != 0 && isAnnounced(thread, *call, row)) {
    call->answer = hook::kAnnounced;
    return;
  }
  call->answer = hook::kRecord;
  if (call->site == 0)
    call->site = siteOf(call->caller, row, callerFrame());
}

uint32_t __msl_hook_device(uint32_t traits, uint32_t device) noexcept {
  const abi::Family family = abi::Traits(traits).family();
  if (!hasDevices(family))
    return 0;
  uint8_t &chosen = chosenDevice(__msl_thread, family);
  const uint32_t before = chosen;
  chosen = device < UINT8_MAX ? static_cast<uint8_t>(device) : UINT8_MAX;
  return before;
}

void __msl_hook_owner(uint32_t traits, hook::Owner *owner, uint32_t is_used_unseen) noexcept {
  Thread &thread = __msl_thread;
  if (isStopped() || thread.call.open_calls == 0)
    return;
  OpenCall &call = thread.open[thread.call.open_calls - 1];
  if (abi::Traits(call.traits).family() != abi::Traits(traits).family())
    return;
  uint32_t label = __atomic_load_n(&owner->label, __ATOMIC_RELAXED);
  if (label == 0) [[unlikely]] {
    ensureAttached(thread);
    label = static_cast<uint32_t>(labelOf(owner->text));
    __atomic_store_n(&owner->label, label, __ATOMIC_RELAXED);
  }
  call.owner = label | (is_used_unseen != 0 ? kUsedUnseen : 0u);
}

void __msl_hook_flags(uint32_t traits, uint32_t flags) noexcept {
  Thread &thread = __msl_thread;
  if (isStopped() || thread.call.open_calls == 0)
    return;
  OpenCall &call = thread.open[thread.call.open_calls - 1];
  const abi::Traits of(call.traits);
  if (of.family() == abi::Traits(traits).family())
    call.traits = abi::Traits(of.verb(), of.family(), of.heap(), static_cast<uint16_t>(of.flags() | flags)).packed();
}

void __msl_hook_reset(uint32_t traits, uint64_t caller) noexcept {
  Thread &thread = __msl_thread;
  const abi::Traits row(traits);
  if (isStopped() || isInside(thread, row.family()))
    return;
  record(thread, abi::FreeEvent{{abi::EventKind::Free, abi::Heap::Device, deviceOf(thread, row), abi::kFromHook,
                                 callerSite(caller), 0},
                                0,
                                0});
  if (isWatching()) [[unlikely]]
    deviceGoes(row.family());
}

void __msl_hook_in_graph(uint32_t traits, uint64_t caller, uint64_t address, uint64_t bytes, uint32_t what) noexcept {
  Thread &thread = __msl_thread;
  const abi::Traits row(traits);
  if (isStopped() || isInside(thread, row.family()))
    return;
  const auto happens = static_cast<hook::InGraph>(what);
  const uint16_t flags = happens == hook::InGraph::GetsMemory ? abi::kFromHook : abi::kFromHook | abi::kReserve;
  const auto kind = happens == hook::InGraph::Ends ? abi::EventKind::Free : abi::EventKind::Protect;
  const abi::EventHeader header{kind, abi::Heap::Device, deviceOf(thread, row), flags, callerSite(caller), 0};
  if (happens == hook::InGraph::Ends)
    record(thread, abi::FreeEvent{header, address, 0});
  else
    record(thread, abi::ProtectEvent{header, address, bytes});
}

void __msl_hook_begin(hook::Call *call) noexcept {
  Thread &thread = __msl_thread;
  call->kept = thread.call.inside;
  if (isEnabled(abi::EventKind::Took)) [[unlikely]]
    beginTime(thread, *call);
  std::atomic_signal_fence(std::memory_order_seq_cst);
  thread.call.inside |= call->traits == hook::kOwnWork ? kInsideRuntime : insideOf(abi::Traits(call->traits).family());
  std::atomic_signal_fence(std::memory_order_seq_cst);
}

void __msl_hook_end(hook::Call *call) noexcept {
  Thread &thread = __msl_thread;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  thread.call.inside = static_cast<uint16_t>(call->kept);
  std::atomic_signal_fence(std::memory_order_seq_cst);
  if ((call->kept & kTimed) != 0) [[unlikely]]
    endTime(thread, *call);
  // The hook's own callback has stored a site for an inner hook. Remove the site if no inner hook has used it.
  if (call->answer == hook::kRecord && isRecorded(thread) && thread.call.site == call->site)
    thread.call.site = 0;
}
