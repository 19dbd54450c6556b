#include "watch.h"

#include "label_table.h"
#include "ring.h"
#include "tracer.h"
#include "watch_choice.h"
#include "watch_look.h"

#include "msleaks/runtime/path.h"

#define MSL_API_RUNTIME
#include "msleaks/api.h"

extern "C" int __cxa_atexit(void (*)(void *), void *, void *);

namespace msleaks::runtime {

constinit std::atomic<uint64_t> last_step{0};

namespace {

// Opens the list: from now on, blocks are compared. Changes before this moment do not matter.
void open(WatchList &list) noexcept {
  setClosed(list, false);
  for (WatchedBlock &block : list.blocks)
    block.is_known = false;
}

// Opens the list if the operation with this label is WatchWish::begin, and closes it if it is WatchWish::end. Call this
// after the operation has ended and the blocks have been compared. Returns true if this call has opened the list.
bool passGate(WatchList &list, uint64_t label) noexcept {
  const abi::WatchWish &wish = session.control->watch;
  if (label == 0)
    return false;
  if (!isClosed(list) && wish.end[0] != 0 && label == labelOf(wish.end))
    setClosed(list, true);
  else if (isClosed(list) && label == labelOf(wish.begin))
    open(list);
  else
    return false;
  return !isClosed(list);
}

bool hasGate() noexcept { return session.control->watch.begin[0] != 0 || session.control->watch.end[0] != 0; }

// Compares all blocks, and removes the thread's current operation from the list. The operation has ended by now, even
// if no callback has reported its end.
void lookAndForget(WatchList &list, Thread &thread, uint32_t here) noexcept {
  Pending *pending = pendingOf(list, &thread);
  if (pending == nullptr)
    return lookAtAll({list, thread, nullptr, nullptr, here});
  const Look look{list, thread, &pending->operation, &pending->operation, here};
  lookAtAll(look);
  if (hasGate() && passGate(list, labelOfOperation(pending->operation)))
    lookAtAll(look);
  pending->thread = nullptr;
}

void lookAtExit(void *) noexcept { lookBetween(0); }

// Registers the exit handler. As in reach.cpp, it runs after all handlers that were registered later.
[[gnu::constructor]] void lookLast() noexcept { __cxa_atexit(lookAtExit, nullptr, nullptr); }

} // namespace

void operationBegins(const Operation &operation) noexcept {
  Thread &thread = __msl_thread;
  WatchList *list = listToLookAt(thread);
  if (list == nullptr)
    return;
  const ListHeld held(*list);
  if (!held)
    return;
  Pending *pending = pendingOf(*list, &thread);
  lookAtAll({*list, thread, pending != nullptr ? &pending->operation : nullptr, &operation, operation.site});
  if (pending == nullptr)
    pending = pendingOf(*list, nullptr);
  if (pending != nullptr)
    *pending = {&thread, operation};
}

void operationEnds() noexcept {
  Thread &thread = __msl_thread;
  WatchList *list = listToLookAt(thread);
  if (list == nullptr)
    return;
  const ListHeld held(*list);
  if (held && pendingOf(*list, &thread) != nullptr)
    lookAndForget(*list, thread, 0);
}

void lookBetween(uint32_t here) noexcept {
  Thread &thread = __msl_thread;
  WatchList *list = listToLookAt(thread);
  if (list == nullptr)
    return;
  if (const ListHeld held{*list})
    lookAndForget(*list, thread, here);
}

void rangeEnds(uint32_t here) noexcept {
  Thread &thread = __msl_thread;
  WatchList *list = listToLookAt(thread);
  if (list == nullptr)
    return;
  const ListHeld held(*list);
  if (!held)
    return;
  lookAndForget(*list, thread, here);
  const OpenRange *range = innermostRange(thread);
  if (range != nullptr && hasGate() && passGate(*list, range->label))
    lookAtAll({*list, thread, nullptr, nullptr, here});
}

namespace {

// Whether a driver allocates this host memory for itself, inside a call of the program. Such memory is not watched,
// since it is not the program's block, and the driver often writes to it.
bool isDriversOwn(const Thread &thread, abi::Heap heap) noexcept {
  constexpr uint16_t kDrivers = familyBit(abi::Family::Cuda) | familyBit(abi::Family::Hip) |
                                familyBit(abi::Family::Acl) | familyBit(abi::Family::OpenCl);
  return (heap == abi::Heap::Host || heap == abi::Heap::Mapping) && (thread.call.inside & kDrivers) != 0;
}

} // namespace

// Locks the list only for a chosen block. Another thread that compares blocks holds the lock while it waits for the
// driver. During this wait, the driver's threads allocate and free blocks, and must not wait for the lock.
void blockComes(const abi::AllocEvent &event) noexcept {
  const abi::WatchWish &wish = session.control->watch;
  WatchList *list = event.size != 0 ? makeList() : nullptr;
  if (list == nullptr || looksNow(*list, __msl_thread) || (event.header.flags & abi::kRestored) != 0)
    return;
  if (isDriversOwn(__msl_thread, event.header.heap) || !isChosen(list->sites, event.address, event.header.site))
    return;
  const uint64_t bytes = wish.bytes != 0 && wish.bytes < event.size ? wish.bytes : event.size;
  if (const ListHeld held{*list})
    watchFromBirth(*list, event.address, bytes, wish.what[0] != 0 ? labelOf(wish.what) : 0);
}

// Compares the blocks before a watched block is freed, and ends its watch. Locks the list only for a watched block.
void blockGoes(const abi::FreeEvent &event) noexcept {
  Thread &thread = __msl_thread;
  WatchList *list = listToLookAt(thread);
  if (list == nullptr || event.address == 0 || !isWatched(*list, event.address))
    return;
  const ListHeld held(*list);
  WatchedBlock *block = held ? blockAt(*list, event.address) : nullptr;
  const bool is_device = event.header.heap != abi::Heap::Host && event.header.heap != abi::Heap::Mapping;
  if (block == nullptr || (block->where != Where::Host && !is_device))
    return;
  lookAndForget(*list, thread, event.header.site);
  if (block->address == event.address)
    endWatch(*list, thread, *block);
}

// Nobody can read the blocks any more. Which of them were on the device is not known.
void deviceGoes(abi::Family family) noexcept {
  Thread &thread = __msl_thread;
  WatchList *list = listToLookAt(thread);
  if (list == nullptr)
    return;
  if (const ListHeld held(*list); held)
    for (WatchedBlock &block : list->blocks)
      if (block.address != 0 && block.where == Where::Device && block.family == family)
        endWatch(*list, thread, block);
}

} // namespace msleaks::runtime

using namespace msleaks;
using namespace msleaks::runtime;

void __msl_watch(const void *block, size_t bytes, const char *name) noexcept {
  if (hasTracer()) [[unlikely]]
    return tellTracer(abi::GuardCall::Watch, reinterpret_cast<uint64_t>(block), bytes,
                      reinterpret_cast<uint64_t>(name));
  Thread &thread = __msl_thread;
  if (thread.call.inside == kInsideRuntime || block == nullptr || bytes == 0 || !isEnabled(abi::EventKind::Changed))
    return;
  ensureAttached(thread);
  if (!isEnabled(abi::EventKind::Changed))
    return;
  const uint64_t label = labelOf(name);
  const abi::WatchWish &wish = session.control->watch;
  if (wish.kind == abi::WatchKind::Output || (wish.kind == abi::WatchKind::Name && label != labelOf(wish.what)))
    return;
  WatchList *list = makeList();
  if (list == nullptr)
    return noteUnwatched();
  const ListHeld held(*list);
  if (!held)
    return;
  noteWaits(*list);
  watch(*list, reinterpret_cast<uint64_t>(block), wish.bytes != 0 && wish.bytes < bytes ? wish.bytes : bytes, label);
}

void __msl_unwatch(const void *block) noexcept {
  if (hasTracer()) [[unlikely]]
    return tellTracer(abi::GuardCall::Unwatch, reinterpret_cast<uint64_t>(block));
  Thread &thread = __msl_thread;
  WatchList *list = listToLookAt(thread);
  if (list == nullptr)
    return;
  const ListHeld held(*list);
  if (!held)
    return;
  lookAndForget(*list, thread, pathOfCaller(enabledWord(), callerFrame()));
  if (WatchedBlock *watched = blockAt(*list, reinterpret_cast<uint64_t>(block)); watched != nullptr && block != nullptr)
    endWatch(*list, thread, *watched);
}
