// Code that memory_callbacks.cpp and operation_callbacks.cpp share.
#pragma once

#include "msleaks/abi/callbacks.h"
#include "msleaks/runtime/path.h"
#include "msleaks/runtime/pending.h"

namespace msleaks::runtime {

inline uint64_t addressOf(const void *pointer) noexcept { return reinterpret_cast<uint64_t>(pointer); }

inline abi::EventHeader headerOf(abi::EventKind kind, abi::Traits traits, uint32_t site) noexcept {
  return {kind, traits.heap(), deviceOf(__msl_thread, traits), traits.flags(), site, 0};
}

// Whether the call is not recorded, because recording is off or the call is inside another call of its family.
inline bool isLeftOut(const Thread &thread, abi::Traits row) noexcept {
  return isStopped() || isInside(thread, row.family());
}

// Whether this callback must record that the call before it has failed. Both the callback and the hook inside the call
// may find the failure. The one that runs first records it. If the event before the call had another site (launchSite),
// sets `site` to that site.
inline bool mustTell(Thread &thread, uint32_t &site, abi::Traits row, uint64_t address, int64_t status) noexcept {
  const abi::Traits left(thread.pending_traits);
  const uint64_t named = thread.pending_address;
  const bool ours = thread.call.site != 0 && left.verb() == row.verb() && left.family() == row.family() &&
                    (named == address || named == kTold);
  if (ours) {
    site = thread.call.site;
    thread.call.site = 0; // no hook has used the site, and no hook may use it from now on
  }
  if (status == 0 || (ours && named == kTold))
    return false;
  leavePending(thread, {site, row.packed(), kTold});
  return true;
}

} // namespace msleaks::runtime
