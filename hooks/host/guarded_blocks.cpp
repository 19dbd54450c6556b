#include "host/guarded_blocks.h"

#include "host/guarded_pages.h"

#include <cstdlib>

namespace msleaks::hooks {

void guardBlocks(RealFunctions &real) noexcept {
  const char *least = ::getenv(abi::kGuardVariable);
  const uint64_t least_bytes = least != nullptr ? std::strtoull(least, nullptr, 10) : 0;
  // An offer of 0 bytes shows whether there is a tracer.
  if (least_bytes == 0 || tellTracer(abi::GuardCall::Offer, 0) < 0 || !reserveGuardedRange(least_bytes))
    return;
  guardHeap(real);
  guardMappings(real);
}

} // namespace msleaks::hooks
