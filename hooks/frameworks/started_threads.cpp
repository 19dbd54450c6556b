#include "frameworks/started_threads.h"

#include "msleaks/runtime/path.h"

#include <atomic>

namespace msleaks::hooks {
namespace {

// The data of a new thread, from the call of pthread_create until the thread runs.
struct Started {
  std::atomic<bool> is_used;
  ThreadBegin begin;
  runtime::StartedBy by;
};
// If more threads start at the same time, the others do not know their starter.
constinit Started started[64] = {};

void *beginThread(void *argument) {
  auto &slot = *static_cast<Started *>(argument);
  const ThreadBegin begin = slot.begin;
  __msl_thread_begins(slot.by);
  slot.is_used.store(false, std::memory_order_release);
  return begin.function(begin.argument);
}

Started *freeSlot() {
  for (Started &slot : started)
    if (!slot.is_used.load(std::memory_order_relaxed) && !slot.is_used.exchange(true, std::memory_order_acquire))
      return &slot;
  return nullptr;
}

} // namespace

ThreadBegin withStarter(const ThreadBegin &begin) noexcept {
  const runtime::StartedBy by = __msl_starts_thread(reinterpret_cast<const void *>(begin.function));
  Started *slot = by.node != 0 ? freeSlot() : nullptr;
  if (slot == nullptr)
    return begin;
  slot->begin = begin;
  slot->by = by;
  return {&beginThread, slot};
}

void notStarted(const ThreadBegin &begin) noexcept {
  if (begin.function == &beginThread)
    static_cast<Started *>(begin.argument)->is_used.store(false, std::memory_order_release);
}

} // namespace msleaks::hooks
