// Records the parts of blocks that a framework's pool reports. The driver's hooks record the blocks themselves.
#pragma once

#include "msleaks/abi/hook.h"
#include "msleaks/abi/symbol.h"
#include "msleaks/runtime/note.h"
#include "msleaks/runtime/record.h"

namespace msleaks::hooks {

// Records a call in the way of a hook, but there is no real function. `record` gets the call's site and traits, and is
// not called if the session does not record the call.
template <class Record> void recordPoolCall(abi::Verb verb, const void *caller, Record record) {
  const uint32_t traits = abi::Traits(verb, abi::Family::User, abi::Heap::Pool, abi::kFromHook).packed();
  hook::Call call{traits, hook::kPass, reinterpret_cast<uint64_t>(caller), 0, 0, 0};
  __msl_hook_enter(&call);
  if (call.answer == hook::kRecord)
    record(call.site, call.traits);
}

// The pool has handed out this part of a block of the device. `caller` is the return address of the report.
inline void recordPart(const void *part, uint64_t bytes, uint32_t device, const void *caller) {
  if (!__msl_is_selected(abi::firstWord(abi::EventKind::Alloc, abi::Heap::Device, device, 0, 0)))
    return;
  recordPoolCall(abi::Verb::Alloc, caller, [&](uint32_t site, uint32_t traits) {
    __msl_before(site, traits);
    __msl_on_alloc(site, traits, part, bytes);
  });
}

// The part was given back to the pool.
inline void recordPartFreed(const void *part, const void *caller) {
  recordPoolCall(abi::Verb::Free, caller,
                 [&](uint32_t site, uint32_t traits) { __msl_on_free(site, traits, part, 0); });
}

} // namespace msleaks::hooks
