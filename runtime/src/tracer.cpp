#include "tracer.h"

#include "system.h"

#include <cstdlib>

namespace msleaks::runtime {

constinit bool tracer_listens = false;

namespace {

long askTracer(abi::GuardCall call, uint64_t first, uint64_t second, uint64_t third) noexcept {
  const ErrnoKept kept;
  return callKernel(abi::kGuardCall, static_cast<uint64_t>(call), first, second, third);
}

// Asks the tracer whether it wants watches and ranges. This happens before the program's constructors run, since they
// may watch blocks and begin ranges.
[[gnu::constructor]] void findTracer() noexcept {
  const bool listens = ::getenv(abi::kTellVariable) != nullptr && askTracer(abi::GuardCall::Listen, 0, 0, 0) == 1;
  __atomic_store_n(&tracer_listens, listens, __ATOMIC_RELAXED);
}

} // namespace

void tellTracer(abi::GuardCall call, uint64_t first, uint64_t second, uint64_t third) noexcept {
  askTracer(call, first, second, third);
}

void tellTracer(abi::GuardCall call, const char *text) noexcept {
  askTracer(call, reinterpret_cast<uint64_t>(text), 0, 0);
}

} // namespace msleaks::runtime
