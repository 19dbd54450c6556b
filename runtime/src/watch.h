// Watches blocks (docs/watch.md): stores the content of each watched block, and compares it before and after each
// operation of the program.
#pragma once

#include "msleaks/abi/hook.h"
#include "msleaks/runtime/thread.h"

#include <atomic>

namespace msleaks::runtime {

struct WatchList;

// Whether there may be a watched block. Callbacks check this first.
[[gnu::always_inline]] inline bool isWatching() noexcept {
  return __atomic_load_n(&__msl_process.watches, __ATOMIC_RELAXED) != nullptr;
}

// An operation that may change a block.
struct Operation {
  abi::Verb verb; // Launch, Copy, Set or Access
  abi::Family family;
  uint32_t site;
  uint64_t kernel, stream;
};

// The number of the program's last step + 1; 0 = the program has not reported a step.
extern constinit std::atomic<uint64_t> last_step;

// Compares the blocks, and makes this the thread's current operation. Call this before the operation begins, so earlier
// changes are not reported for it. The operation ends with operationEnds or, if no callback reports its end, with the
// next operation.
void operationBegins(const Operation &) noexcept;
void operationEnds() noexcept;

// Compares the blocks. Call this when msl_range_pop ends a range. `here` is the site of the call that ends the range.
void rangeEnds(uint32_t here) noexcept;

// These functions begin and end the watch of a block that --watch chooses (watch_choice.h). Call blockComes after an
// allocation, and blockGoes before a free.
void blockComes(const abi::AllocEvent &) noexcept;
void blockGoes(const abi::FreeEvent &) noexcept;
// Ends the watches of all blocks that only this driver can read. Call this after the end of all blocks of a device.
void deviceGoes(abi::Family) noexcept;

// Compares the blocks. Call this when the program begins a range, ends a range by msl_range_end, sets a mark, or begins
// a step. `here` is the site of the program's call.
void lookBetween(uint32_t here) noexcept;

} // namespace msleaks::runtime
