// Records the handles (abi/handles.def) that calls open and close. Only hooks call the functions of this file.
#include "arena.h"
#include "system.h"

#include "msleaks/abi/callbacks.h"
#include "msleaks/abi/handles.h"
#include "msleaks/runtime/path.h"
#include "msleaks/runtime/record.h"

using namespace msleaks;
using namespace msleaks::runtime;

namespace {

using abi::HandleKind;
using abi::Traits;

// Whether the handle is counted. Descriptors 0 to 2 are the standard streams, which the program need not close.
bool isCounted(uint32_t kind, uint64_t handle) noexcept {
  constexpr uint64_t kStandardStreams = 3;
  return static_cast<HandleKind>(kind) != HandleKind::Descriptor || handle >= kStandardStreams;
}

// Whether the handle is a descriptor in a vfork's child. The child shares its parent's memory and rings, but has its
// own descriptors.
bool isBorrowed(uint32_t kind, const Arena *arena) noexcept {
  return static_cast<HandleKind>(kind) == HandleKind::Descriptor && arena != nullptr &&
         arena->header->pid != processId();
}

// Returns the site number of the path to a call that has opened a handle. The path is computed only after a successful
// call, since many programs try to open files that do not exist.
uint32_t pathOf(uint32_t site, uint64_t caller, const CallerFrame &hook) noexcept {
  const uint32_t left = (site & (abi::kCallerSite | abi::kPathSite)) == 0 ? site : 0;
  const uint32_t enabled = enabledWord();
  if (left != 0 ? hasPath(enabled, left) : (enabled & abi::kPathsOfCallers) != 0)
    return __msl_path_to(caller, hook.return_address, hook.stack_pointer, hook.frame_pointer, left);
  return left != 0 ? left : callerSite(caller);
}

} // namespace

void __msl_on_opened(uint32_t site, uint32_t traits, uint64_t caller, uint32_t kind, uint64_t handle) noexcept {
  const Traits row(traits);
  if (!isEnabled(abi::EventKind::Opened) || !isCounted(kind, handle) || isBorrowed(kind, __msl_process.arena))
    return;
  const uint32_t where = (row.flags() & abi::kRestored) != 0 ? callerSite(caller) : pathOf(site, caller, callerFrame());
  Thread &thread = __msl_thread;
  const uint32_t device = hasDevices(row.family()) ? chosenDevice(thread, row.family()) : 0;
  record(thread, abi::OpenedEvent{{abi::EventKind::Opened, row.heap(), device, row.flags(), where, 0}, handle, kind});
}

// Records that a handle was closed. A process without an arena has recorded no handle. So its closes are not recorded,
// for example those of a fork's child that closes inherited descriptors and calls exec.
void __msl_on_closed(uint32_t, uint32_t traits, uint64_t caller, uint32_t kind, uint64_t handle) noexcept {
  const Traits row(traits);
  const Arena *arena = __msl_process.arena;
  if (arena == nullptr || !isEnabled(abi::EventKind::Closed) || !isCounted(kind, handle) || isBorrowed(kind, arena))
    return;
  record(__msl_thread,
         abi::ClosedEvent{{abi::EventKind::Closed, row.heap(), 0, row.flags(), callerSite(caller), 0}, handle, kind});
}
