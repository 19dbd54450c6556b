#include "open_calls.h"

#include "kernel.h"

#include "msleaks/runtime/errno_kept.h"

#include <csignal>
#include <sys/auxv.h>
#include <sys/syscall.h>

namespace msleaks::runtime {
namespace {

// Two addresses are on the same stack if both are at most this far below its top. The main thread's stack is below the
// bytes at AT_RANDOM, and the kernel maps nothing else at this distance. The stack of any other thread is below its
// thread pointer, in a mapping of at least PTHREAD_STACK_MIN.
constexpr uint64_t kMainStackBytes = 8 << 20, kThreadStackBytes = 16 << 10;

bool isBelow(uint64_t frame, uint64_t top, uint64_t bytes) noexcept { return frame < top && frame >= top - bytes; }

// Whether the thread may be on the stack of a signal handler. Under a seccomp filter, the runtime does not ask the
// kernel. The result is then false, since such a stack is rarely within the bounds above.
bool onSignalStack() noexcept {
  if (!mayCallKernel())
    return false;
  const ErrnoKept kept;
  stack_t stack{};
  return callKernel(SYS_sigaltstack, nullptr, &stack) != 0 || (stack.ss_flags & SS_ONSTACK) != 0;
}

// Whether both frames are on this thread's current stack.
[[gnu::noinline, gnu::cold]] bool areOfOneStack(uint64_t frame, uint64_t other) noexcept {
  const uint64_t main_top = ::getauxval(AT_RANDOM);
  const auto thread_top = reinterpret_cast<uint64_t>(__builtin_thread_pointer());
  const bool both = (isBelow(frame, main_top, kMainStackBytes) && isBelow(other, main_top, kMainStackBytes)) ||
                    (isBelow(frame, thread_top, kThreadStackBytes) && isBelow(other, thread_top, kThreadStackBytes));
  return both && !onSignalStack();
}

// Whether the call has ended: the stack pointer `frame` is the call's frame, or is above it on the same stack.
bool isOver(const OpenCall &call, uint64_t frame) noexcept {
  return call.frame == frame || (call.frame < frame && areOfOneStack(call.frame, frame));
}

// Removes the ended calls from the list, from index `first` on.
void dropOver(Thread &thread, uint32_t first, uint64_t frame) noexcept {
  uint32_t kept = first;
  for (uint32_t i = first; i < thread.call.open_calls; ++i)
    if (!isOver(thread.open[i], frame))
      thread.open[kept++] = thread.open[i];
  thread.call.open_calls = static_cast<uint16_t>(kept);
}

constexpr uint32_t kNone = UINT32_MAX;

// Returns the index of the open call of this site. If the site has several open calls, prefers the call with this
// frame, and otherwise the innermost call.
uint32_t find(const Thread &thread, uint64_t frame, uint32_t site) noexcept {
  uint32_t found = kNone;
  for (uint32_t i = thread.call.open_calls; i-- > 0;) {
    if (thread.open[i].site != site)
      continue;
    if (thread.open[i].frame == frame)
      return i;
    if (found == kNone)
      found = i;
  }
  return found;
}

} // namespace

void openCall(Thread &thread, uint64_t frame, uint32_t site, abi::Traits traits, uint64_t old) noexcept {
  dropOver(thread, 0, frame);
  uint16_t &open = thread.call.open_calls;
  if (open == kOpenCalls) {
    __builtin_memmove(&thread.open[0], &thread.open[1], sizeof(OpenCall) * (kOpenCalls - 1));
    --open;
  }
  thread.open[open++] = {frame, old, site, thread.remembered, traits.packed(), 0};
}

OpenCall closeCall(Thread &thread, uint64_t frame, uint32_t site) noexcept {
  const uint32_t at = find(thread, frame, site);
  if (at == kNone)
    return {};
  OpenCall call = thread.open[at];
  thread.open[at].frame = frame; // so dropOver() removes this call and all deeper calls
  dropOver(thread, at, frame);
  const uint32_t meanwhile = thread.remembered - call.remembered;
  call.remembered = meanwhile < kRememberedAllocs ? meanwhile : kRememberedAllocs;
  return call;
}

bool isSupply(const Thread &thread, uint64_t frame, abi::Traits traits) noexcept {
  if (traits.family() != abi::Family::Mmap)
    return false;
  for (uint32_t i = thread.call.open_calls; i-- > 0;)
    if (const OpenCall &call = thread.open[i]; abi::Traits(call.traits).family() == abi::Family::Heap &&
                                               call.frame > frame && areOfOneStack(call.frame, frame))
      return true;
  return false;
}

} // namespace msleaks::runtime
