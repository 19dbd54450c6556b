// Defines the functions of msleaks/api.h, by which a program reports steps, marks, ranges, owners and watches.
#include "chosen_steps.h"
#include "drivers.h"
#include "label_table.h"
#include "python/growing_containers.h"
#include "reach.h"
#include "ring.h"
#include "tracer.h"
#include "watch.h"

#include "msleaks/abi/torch_float64.h"
#include "msleaks/abi/torch_node.h"
#include "msleaks/runtime/framework_steps.h"
#include "msleaks/runtime/path.h"
#include "msleaks/runtime/ranges.h"
#include "msleaks/runtime/took.h"
#include "msleaks/runtime/torch_float64.h"
#include "msleaks/runtime/torch_node.h"

#define MSL_API_RUNTIME
#include "msleaks/api.h"

namespace msleaks::runtime {
namespace {

// Whether an event of this kind may be recorded. The kinds that the session records are known only after the process
// has attached. So this function attaches the process. A malloc that the program defines may call this API, also when
// libc calls this malloc for the runtime. Such a call is not recorded, since the runtime may hold its lock.
bool mayRecord(Thread &thread, abi::EventKind kind) noexcept {
  if (!isEnabled(kind) || thread.call.inside == kInsideRuntime)
    return false;
  ensureAttached(thread);
  return isEnabled(kind);
}

constexpr abi::EventHeader headerOf(abi::EventKind kind) { return {kind, abi::Heap::Host, 0, 0, 0, 0}; }

template <class Event> void recordNumber(uint64_t number) noexcept {
  if (mayRecord(__msl_thread, Event::kKind))
    record(__msl_thread, Event{headerOf(Event::kKind), number, 0});
}

// Records an event with this label. Returns false if the event is not recorded.
template <class Event> bool recordLabel(uint64_t label) noexcept {
  if (!mayRecord(__msl_thread, Event::kKind))
    return false;
  record(__msl_thread, Event{headerOf(Event::kKind), label, 0});
  return true;
}

uint64_t labelFor(abi::EventKind kind, const char *text) noexcept {
  return mayRecord(__msl_thread, kind) ? labelOf(text) : 0;
}

void recordCounter(const char *text, uint64_t value) noexcept {
  if (const uint64_t label = labelFor(abi::EventKind::Counter, text); label != 0)
    record(__msl_thread, abi::CounterEvent{headerOf(abi::EventKind::Counter), label, value});
}

// Compares the content of the watched blocks. Returns the site number of the call, or 0 if no block is watched.
[[gnu::always_inline]] inline uint32_t lookFrom(const CallerFrame &caller) noexcept {
  if (!isWatching()) [[likely]]
    return 0;
  const uint32_t here = pathOfCaller(enabledWord(), caller);
  lookBetween(here);
  return here;
}

// Whether the program itself reports its steps.
constinit std::atomic<bool> names_steps{false};

// The number of the last range that msl_range_start began. No range has the number 0. A fork's child continues with its
// parent's next number.
constinit std::atomic<uint64_t> last_range{0};

} // namespace
} // namespace msleaks::runtime

using namespace msleaks::abi;
using namespace msleaks::runtime;

[[gnu::always_inline]] static inline void beginStep(uint64_t number) noexcept {
  if (hasTracer()) [[unlikely]]
    return tellTracer(GuardCall::Step, number);
  lookFrom(callerFrame());
  last_step.store(number + 1, std::memory_order_relaxed);
  recordNumber<StepEvent>(number);
  recordThreadOfStep(__msl_thread);
  enterStep(number);
  stepBegins();
  python::lookAtContainers();
}
void __msl_step(uint64_t number) noexcept {
  names_steps.store(true, std::memory_order_relaxed);
  beginStep(number);
}
void __msl_step_of_framework(uint64_t number) noexcept {
  if (!names_steps.load(std::memory_order_relaxed))
    beginStep(number);
}
void __msl_torch_node(const void *node) noexcept { recordCounter(kTorchNodeLabel, reinterpret_cast<uint64_t>(node)); }
void __msl_torch_float64(uint64_t bytes) noexcept { recordCounter(kTorchFloat64Label, bytes); }
void __msl_mark(const char *text) noexcept {
  lookFrom(callerFrame());
  if (recordLabel<MarkEvent>(labelFor(EventKind::Mark, text)))
    waitAtMark();
}
void __msl_range_push(const char *text) noexcept {
  if (hasTracer()) [[unlikely]]
    return tellTracer(GuardCall::RangeBegins, text);
  const uint32_t here = lookFrom(callerFrame());
  const uint64_t label = labelFor(EventKind::RangeBegin, text);
  const bool is_recorded = recordLabel<RangeBeginEvent>(label);
  __msl_thread.range_pushes.push(is_recorded);
  if (is_recorded)
    openRange(__msl_thread, {static_cast<uint32_t>(label), here});
}
void __msl_range_pop(void) noexcept {
  if (hasTracer()) [[unlikely]]
    return tellTracer(GuardCall::RangeEnds);
  if (!__msl_thread.range_pushes.pop()) [[unlikely]] {
    lookFrom(callerFrame());
    return;
  }
  if (isWatching()) [[unlikely]]
    rangeEnds(pathOfCaller(enabledWord(), callerFrame()));
  recordNumber<RangeEndEvent>(0);
  closeRange(__msl_thread);
}
void __msl_range_start_as(const char *text, uint64_t id) noexcept {
  lookFrom(callerFrame());
  if (mayRecord(__msl_thread, EventKind::RangeBegin))
    record(__msl_thread, RangeBeginEvent{headerOf(EventKind::RangeBegin), labelOf(text), id});
}
uint64_t __msl_range_start(const char *text) noexcept {
  lookFrom(callerFrame());
  if (!mayRecord(__msl_thread, EventKind::RangeBegin))
    return 0;
  const uint64_t id = last_range.fetch_add(1, std::memory_order_relaxed) + 1;
  record(__msl_thread, RangeBeginEvent{headerOf(EventKind::RangeBegin), labelOf(text), id});
  return id;
}
void __msl_range_end(uint64_t id) noexcept {
  lookFrom(callerFrame());
  if (id != 0)
    recordNumber<RangeEndEvent>(id);
}
void __msl_owner_push(const char *owner) noexcept {
  __msl_thread.owner_pushes.push(recordLabel<OwnerPushEvent>(labelFor(EventKind::OwnerPush, owner)));
}
void __msl_owner_pop(void) noexcept {
  if (__msl_thread.owner_pushes.pop())
    recordNumber<OwnerPopEvent>(0);
}
void __msl_own(const void *byte, const char *owner) noexcept {
  const uint64_t label = labelFor(EventKind::Owned, owner);
  if (byte != nullptr && mayRecord(__msl_thread, EventKind::Owned))
    record(__msl_thread, OwnedEvent{headerOf(EventKind::Owned), reinterpret_cast<uint64_t>(byte), label});
}
int __msl_is_recording(void) noexcept {
  if (__msl_thread.call.inside != kInsideRuntime)
    ensureAttached(__msl_thread); // until then the process does not know whether it has a session
  return isStopped() ? 0 : 1;
}
