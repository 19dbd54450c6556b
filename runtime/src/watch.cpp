#include "watch.h"

#include "drivers.h"
#include "kernel_names.h"
#include "label_table.h"
#include "ring.h"
#include "system.h"
#include "tracer.h"
#include "watch_choice.h"
#include "watched_block.h"

#include "msleaks/runtime/note.h"
#include "msleaks/runtime/path.h"

#define MSL_API_RUNTIME
#include "msleaks/api.h"

extern "C" int __cxa_atexit(void (*)(void *), void *, void *);

namespace msleaks::runtime {

namespace {

constexpr uint32_t kMostBlocks = 64, kMostThreads = 256;
constexpr uint64_t kScratchBytes = 256 << 10;

// What a thread is in the middle of.
struct Pending {
  const Thread *thread; // null = nobody's
  Operation operation;
};

} // namespace

// Made with the first watch, and never unmapped. A fork's child has none: Process is wiped.
struct WatchList {
  uint32_t lock;
  // Written with the list held, read without it too:
  uint32_t count;
  bool is_closed;       // the operation after which is looked has not ended yet (abi::WatchWish)
  const Thread *holder; // of the lock
  WatchedBlock blocks[kMostBlocks];
  Pending pending[kMostThreads];
  char scratch[kScratchBytes];
};

namespace {

class ListHeld {
public:
  explicit ListHeld(WatchList &list) noexcept : locked_(list.lock), list_(list) { hold(&__msl_thread); }
  ~ListHeld() { hold(nullptr); }
  ListHeld(const ListHeld &) = delete;
  ListHeld &operator=(const ListHeld &) = delete;

private:
  void hold(const Thread *thread) noexcept { __atomic_store_n(&list_.holder, thread, __ATOMIC_RELAXED); }
  const ErrnoKept errno_kept_;
  const SignalsBlocked blocked_;
  const Locked locked_;
  WatchList &list_;
};

uint32_t countOf(const WatchList &list) noexcept { return __atomic_load_n(&list.count, __ATOMIC_RELAXED); }

void setCount(WatchList &list, uint32_t count) noexcept { __atomic_store_n(&list.count, count, __ATOMIC_RELAXED); }

bool isClosed(const WatchList &list) noexcept { return __atomic_load_n(&list.is_closed, __ATOMIC_RELAXED); }

void setClosed(WatchList &list, bool is_closed) noexcept {
  __atomic_store_n(&list.is_closed, is_closed, __ATOMIC_RELAXED);
}

// What a driver does for a look is none of the program's doing.
bool looksNow(const WatchList &list, const Thread &thread) noexcept {
  return __atomic_load_n(&list.holder, __ATOMIC_RELAXED) == &thread;
}

Pending *pendingOf(WatchList &list, const Thread *thread) noexcept {
  for (Pending &pending : list.pending)
    if (pending.thread == thread)
      return &pending;
  return nullptr;
}

uint64_t labelOfOperation(const Operation &operation) noexcept {
  switch (operation.verb) {
  case abi::Verb::Launch:
    if (const uint64_t name = labelOfKernel(operation.family, operation.kernel); name != 0)
      return name;
    return labelOf("kernel");
  case abi::Verb::Set:
    return labelOf("fill");
  default:
    return labelOf("copy");
  }
}

// A look: who has changed what it finds, and how it reads.
struct Look {
  WatchList &list;
  Thread &thread;
  const Operation *cause;  // null: the range that the thread is in, or nothing
  const Operation *reader; // null: only memory of the host is read
  uint32_t here;           // where the thread is; 0 = not known
};

void recordChange(const Look &look, const WatchedBlock &block, const Difference &difference) noexcept {
  const bool is_host = block.where == Where::Host;
  abi::ChangedEvent event{};
  event.header = {abi::EventKind::Changed, is_host ? abi::Heap::Host : abi::Heap::Device, 0, 0, look.here, 0};
  event.address = block.address;
  event.name = block.name;
  event.continuation = abi::kContinuationTag;
  event.offset = difference.begin;
  event.size = difference.end - difference.begin;
  if (look.cause != nullptr) {
    event.operation = labelOfOperation(*look.cause);
    event.header.site = look.cause->site;
  } else if (const OpenRange *range = innermostRange(look.thread); range != nullptr) {
    event.operation = range->label;
    event.header.site = range->site != 0 ? range->site : look.here;
  }
  record(look.thread, event);
}

void recordWatch(Thread &thread, const WatchedBlock &block, uint64_t bytes) noexcept {
  abi::WatchEvent event{};
  event.header = {abi::EventKind::Watch, block.where == Where::Host ? abi::Heap::Host : abi::Heap::Device, 0, 0, 0, 0};
  event.address = block.address;
  event.name = block.name;
  event.continuation = abi::kContinuationTag;
  event.size = bytes;
  event.looks = block.looks;
  record(thread, event);
}

// With the list held.
void endWatch(WatchList &list, Thread &thread, WatchedBlock &block) noexcept {
  recordWatch(thread, block, 0);
  ::syscall(SYS_munmap, block.content, block.bytes);
  block = {};
  setCount(list, countOf(list) - 1);
}

// What the blocks were before does not matter.
void open(WatchList &list) noexcept {
  setClosed(list, false);
  for (WatchedBlock &block : list.blocks)
    block.is_known = false;
}

// An operation has ended, and has been looked at if the list is open. True: it has opened the list.
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

void lookAtAll(const Look &look) noexcept {
  if (isClosed(look.list))
    return;
  Reader reader{};
  if (look.reader != nullptr)
    reader = {driverOf(look.reader->family), look.reader->family, reinterpret_cast<const void *>(look.reader->stream)};
  const Inside inside(look.thread, reader.device != nullptr ? insideOf(reader.family) : uint16_t{0});
  if (reader.device != nullptr && reader.device->wait(reader.stream) != 0)
    reader.device = nullptr; // a stream that is being captured: nothing runs yet
  for (WatchedBlock &block : look.list.blocks) {
    if (block.address == 0)
      continue;
    Difference difference;
    const bool is_read = block.look(reader, look.list.scratch, kScratchBytes, difference);
    if (!difference.empty())
      recordChange(look, block, difference);
    if (!is_read && block.where == Where::Host)
      endWatch(look.list, look.thread, block); // its memory has gone
  }
}

WatchList *listOf() noexcept { return __atomic_load_n(&__msl_process.watches, __ATOMIC_ACQUIRE); }

// The list, if there is something to look at or to wait for, and this thread is not in the middle of a look.
WatchList *listToLookAt(const Thread &thread) noexcept {
  WatchList *list = listOf();
  const bool looks = list != nullptr && (countOf(*list) != 0 || isClosed(*list)) && !looksNow(*list, thread) &&
                     thread.call.inside != kInsideRuntime && isEnabled(abi::EventKind::Changed);
  return looks ? list : nullptr;
}

WatchList *makeList() noexcept {
  const ArenaHeld held;
  if (attach() == nullptr)
    return nullptr;
  if (__msl_process.watches != nullptr)
    return __msl_process.watches;
  auto *list = static_cast<WatchList *>(mapAnonymous(sizeof(WatchList)));
  if (list != nullptr)
    setClosed(*list, session.control->watch.begin[0] != 0);
  __atomic_store_n(&__msl_process.watches, list, __ATOMIC_RELEASE);
  return list;
}

WatchedBlock *blockAt(WatchList &list, uint64_t address) noexcept {
  for (WatchedBlock &block : list.blocks)
    if (block.address == address)
      return &block;
  return nullptr;
}

// Null: no room. With the list held.
WatchedBlock *addBlock(WatchList &list, uint64_t address, uint64_t bytes) noexcept {
  WatchedBlock *free = blockAt(list, 0);
  auto *content = free != nullptr ? static_cast<char *>(mapAnonymous(bytes)) : nullptr;
  if (content == nullptr)
    return nullptr;
  *free = {};
  free->address = address;
  free->bytes = bytes;
  free->content = content;
  setCount(list, countOf(list) + 1);
  return free;
}

// With the list held.
void watch(WatchList &list, uint64_t address, uint64_t bytes, uint64_t name) noexcept {
  Thread &thread = __msl_thread;
  if (WatchedBlock *before = blockAt(list, address); before != nullptr)
    endWatch(list, thread, *before);
  WatchedBlock *block = addBlock(list, address, bytes);
  if (block == nullptr)
    return __msl_note("a block is not watched: 64 are, or there is no memory for what is in it");
  block->name = name;
  block->where = whereIs(address, bytes);
  recordWatch(thread, *block, bytes);
  Difference none;
  if (isClosed(list))
    return;
  if (block->where == Where::Host && !block->look({}, list.scratch, kScratchBytes, none))
    endWatch(list, thread, *block);
}

// What is pending has ended, whoever may have seen its end.
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

// As reach.cpp does: behind everything that was registered later.
[[gnu::constructor]] void lookLast() noexcept { __cxa_atexit(lookAtExit, nullptr, nullptr); }

} // namespace

void operationBegins(const Operation &operation) noexcept {
  Thread &thread = __msl_thread;
  WatchList *list = listToLookAt(thread);
  if (list == nullptr)
    return;
  const ListHeld held(*list);
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
  if (pendingOf(*list, &thread) != nullptr)
    lookAndForget(*list, thread, 0);
}

void lookBetween(uint32_t here) noexcept {
  Thread &thread = __msl_thread;
  WatchList *list = listToLookAt(thread);
  if (list == nullptr)
    return;
  const ListHeld held(*list);
  lookAndForget(*list, thread, here);
}

void rangeEnds(uint32_t here) noexcept {
  Thread &thread = __msl_thread;
  WatchList *list = listToLookAt(thread);
  if (list == nullptr)
    return;
  const ListHeld held(*list);
  lookAndForget(*list, thread, here);
  const OpenRange *range = innermostRange(thread);
  if (range != nullptr && hasGate() && passGate(*list, range->label))
    lookAtAll({*list, thread, nullptr, nullptr, here});
}

void blockComes(const abi::AllocEvent &event) noexcept {
  const abi::WatchWish &wish = session.control->watch;
  WatchList *list = event.size != 0 ? makeList() : nullptr;
  if (list == nullptr || looksNow(*list, __msl_thread) || (event.header.flags & abi::kRestored) != 0)
    return;
  const ListHeld held(*list);
  if (!isChosen(event.address, event.header.site))
    return;
  const uint64_t bytes = wish.bytes != 0 && wish.bytes < event.size ? wish.bytes : event.size;
  watch(*list, event.address, bytes, wish.what[0] != 0 ? labelOf(wish.what) : 0);
}

// While it is still there.
void blockGoes(const abi::FreeEvent &event) noexcept {
  Thread &thread = __msl_thread;
  WatchList *list = listToLookAt(thread);
  if (list == nullptr)
    return;
  const ListHeld held(*list);
  WatchedBlock *block = blockAt(*list, event.address);
  if (block == nullptr || event.address == 0 ||
      (block->where == Where::Handle) != (event.header.heap == abi::Heap::Device))
    return;
  lookAndForget(*list, thread, event.header.site);
  if (block->address == event.address)
    endWatch(*list, thread, *block);
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
  if (wish.kind == abi::WatchKind::Name && label != labelOf(wish.what))
    return;
  WatchList *list = makeList();
  if (list == nullptr)
    return;
  const ListHeld held(*list);
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
  lookAndForget(*list, thread, pathOfCaller(enabledWord(), callerFrame()));
  if (WatchedBlock *watched = blockAt(*list, reinterpret_cast<uint64_t>(block)); watched != nullptr && block != nullptr)
    endWatch(*list, thread, *watched);
}
