// What a program says about itself (msleaks/api.h), as events.
#include "label_table.h"
#include "reach.h"
#include "ring.h"

#define MSL_API_RUNTIME
#include "msleaks/api.h"

namespace msleaks::runtime {
namespace {

// Also asks whether a malloc of the program's own, called by libc for us, has come back to us with our lock held. Until
// the process has attached, nobody knows what the session records, and no text is told for nothing.
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

// Whether it did.
template <class Event> bool recordText(const char *text) noexcept {
  if (!mayRecord(__msl_thread, Event::kKind))
    return false;
  record(__msl_thread, Event{headerOf(Event::kKind), labelOf(text), 0});
  return true;
}

} // namespace
} // namespace msleaks::runtime

using namespace msleaks::abi;
using namespace msleaks::runtime;

void __msl_step(uint64_t number) noexcept { recordNumber<StepEvent>(number); }
void __msl_mark(const char *text) noexcept {
  if (recordText<MarkEvent>(text))
    waitAtMark();
}
void __msl_range_push(const char *text) noexcept { recordText<RangeBeginEvent>(text); }
void __msl_range_pop(void) noexcept { recordNumber<RangeEndEvent>(0); }
void __msl_owner_push(const char *owner) noexcept { recordText<OwnerPushEvent>(owner); }
void __msl_owner_pop(void) noexcept { recordNumber<OwnerPopEvent>(0); }
