#include "watch_list.h"

#include "ring.h"
#include "session.h"
#include "watch_look.h"

#include "msleaks/runtime/note.h"
#include "msleaks/runtime/record.h"

namespace msleaks::runtime {
namespace {

constexpr uint64_t kNsPerMs = 1'000'000;
constexpr uint64_t kShortNs = 50 * kNsPerMs; // the longest wait for the lock after a thread has waited in vain

// Returns the longest time to wait for the lock. Another thread may hold it for a long time while it copies a large
// block.
uint64_t patienceNs(const WatchList &list) noexcept {
  const uint64_t timeout_ns = session.control->flags.block_timeout_ms * kNsPerMs;
  return __atomic_load_n(&list.is_given_up, __ATOMIC_RELAXED) ? kShortNs : 10 * timeout_ns;
}

void recordWatch(Thread &thread, const WatchedBlock &block, uint64_t bytes) noexcept {
  const abi::Heap heap = block.where == Where::Host ? abi::Heap::Host : abi::Heap::Device;
  abi::WatchEvent event{};
  event.header = {abi::EventKind::Watch, heap, 0, 0, 0, 0};
  event.address = block.address;
  event.name = block.name;
  event.continuation = abi::kContinuationTag;
  event.size = bytes;
  event.looks = block.looks;
  event.from_birth = block.from_birth ? 1 : 0;
  record(thread, event);
}

void tellAddress(WatchList &list, const WatchedBlock &block) noexcept {
  __atomic_store_n(&list.addresses[&block - list.blocks], block.address, __ATOMIC_RELAXED);
}

// Adds a block to the list. Returns null if there is no room. Call with the lock held.
WatchedBlock *addBlock(WatchList &list, uint64_t address, uint64_t bytes) noexcept {
  WatchedBlock *free = blockAt(list, 0);
  auto *content = free != nullptr ? static_cast<char *>(mapAnonymous(bytes)) : nullptr;
  if (content == nullptr)
    return nullptr;
  *free = {};
  free->address = address;
  free->bytes = bytes;
  free->content = content;
  tellAddress(list, *free);
  setCount(list, countOf(list) + 1);
  return free;
}

} // namespace

ListHeld::ListHeld(WatchList &list) noexcept : list_(list), locked_(list.lock, patienceNs(list)) {
  if (locked_)
    hold(&__msl_thread);
  else if (!__atomic_exchange_n(&list.is_given_up, true, __ATOMIC_RELAXED))
    __msl_note(
        "a watch left out a look: the previous look still waits for the driver. A change may be reported for a later "
        "operation");
}

ListHeld::~ListHeld() {
  if (locked_)
    hold(nullptr);
}

Pending *pendingOf(WatchList &list, const Thread *thread) noexcept {
  for (Pending &pending : list.pending)
    if (pending.thread == thread)
      return &pending;
  return nullptr;
}

WatchedBlock *blockAt(WatchList &list, uint64_t address) noexcept {
  for (WatchedBlock &block : list.blocks)
    if (block.address == address)
      return &block;
  return nullptr;
}

bool isWatched(const WatchList &list, uint64_t address) noexcept {
  for (const uint64_t &watched : list.addresses)
    if (__atomic_load_n(&watched, __ATOMIC_RELAXED) == address)
      return true;
  return false;
}

WatchList *listToLookAt(const Thread &thread) noexcept {
  WatchList *list = __atomic_load_n(&__msl_process.watches, __ATOMIC_ACQUIRE);
  const bool looks = list != nullptr && !isSandboxed() && (countOf(*list) != 0 || isClosed(*list)) &&
                     !looksNow(*list, thread) && thread.call.inside != kInsideRuntime &&
                     isEnabled(abi::EventKind::Changed);
  return looks ? list : nullptr;
}

WatchList *makeList() noexcept {
  const ArenaHeld held;
  if (held.arena() == nullptr)
    return nullptr;
  if (__msl_process.watches != nullptr)
    return __msl_process.watches;
  auto *list = static_cast<WatchList *>(mapAnonymous(sizeof(WatchList)));
  if (list != nullptr)
    setClosed(*list, session.control->watch.begin[0] != 0);
  __atomic_store_n(&__msl_process.watches, list, __ATOMIC_RELEASE);
  return list;
}

void noteUnwatched() noexcept {
  __msl_note("a block is not watched: 64 blocks are watched already, or there is no memory for its copy");
}

void noteWaits(WatchList &list) noexcept {
  if (list.is_wait_noted || session.control->watch.kind != abi::WatchKind::None)
    return;
  list.is_wait_noted = true;
  __msl_note(
      "msl_watch: while a block is watched, the program waits for each launch, copy and fill. So fewer operations run "
      "at the same time than without it");
}

void endWatch(WatchList &list, Thread &thread, WatchedBlock &block) noexcept {
  recordWatch(thread, block, 0);
  unmapOwn(block.content);
  block = {};
  tellAddress(list, block);
  setCount(list, countOf(list) - 1);
}

namespace {

void beginWatch(WatchList &list, uint64_t address, uint64_t bytes, uint64_t name, const TensorForm &form,
                bool from_birth) noexcept {
  Thread &thread = __msl_thread;
  if (WatchedBlock *before = blockAt(list, address); before != nullptr)
    endWatch(list, thread, *before);
  WatchedBlock *block = addBlock(list, address, bytes);
  if (block == nullptr)
    return noteUnwatched();
  block->name = name;
  block->form = form;
  block->from_birth = from_birth;
  block->where = whereIs(address, bytes);
  recordWatch(thread, *block, bytes);
  if (!isClosed(list) && block->where == Where::Host)
    lookFirst({list, thread, nullptr, nullptr, 0}, *block);
}

} // namespace

void watch(WatchList &list, uint64_t address, uint64_t bytes, uint64_t name, const TensorForm &form) noexcept {
  beginWatch(list, address, bytes, name, form, false);
}

void watchFromBirth(WatchList &list, uint64_t address, uint64_t bytes, uint64_t name) noexcept {
  beginWatch(list, address, bytes, name, {}, true);
}

} // namespace msleaks::runtime
