// Records mappings of device addresses to physical blocks. Only hooks call this function.
#include "msleaks/abi/callbacks.h"
#include "msleaks/runtime/record.h"

using namespace msleaks;
using namespace msleaks::runtime;

void __msl_on_mapped(uint32_t site, uint32_t traits, const void *address, uint64_t size, const void *block,
                     uint64_t offset) noexcept {
  Thread &thread = __msl_thread;
  const abi::Traits row(traits);
  if (isStopped() || isInside(thread, row.family()))
    return;
  record(thread, abi::MappedEvent{{abi::EventKind::Mapped, row.heap(), deviceOf(thread, row), row.flags(), site, 0},
                                  reinterpret_cast<uint64_t>(address),
                                  size,
                                  abi::kContinuationTag,
                                  reinterpret_cast<uint64_t>(block),
                                  offset,
                                  0});
}
