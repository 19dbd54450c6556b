// Watched blocks (msl_watch): their content is kept, and compared around each operation of the program.
#pragma once

#include "msleaks/abi/hook.h"
#include "msleaks/runtime/thread.h"

#include <atomic>

namespace msleaks::runtime {

struct WatchList;

// Whether there may be a watched block. A callback checks this first.
[[gnu::always_inline]] inline bool isWatching() noexcept {
  return __atomic_load_n(&__msl_process.watches, __ATOMIC_RELAXED) != nullptr;
}

// An operation that may change a block. A range of the program is one, too, if no other operation is under way in its
// thread.
struct Operation {
  abi::Verb verb; // Launch, Copy, Set or Access
  abi::Family family;
  uint32_t site;
  uint64_t kernel, stream;
};

// The number of the program's last step + 1; 0 = it has told no step.
extern constinit std::atomic<uint64_t> last_step;

// Call this before the operation begins: earlier changes are not its own. The operation lasts until operationEnds or,
// if its end is not seen, until the next operation.
void operationBegins(const Operation &) noexcept;
void operationEnds() noexcept;

// Ends a range of the program, at this site.
void rangeEnds(uint32_t here) noexcept;

// Blocks and outputs that --watch may name (watch_choice.h).
void blockComes(const abi::AllocEvent &) noexcept;
void blockGoes(const abi::FreeEvent &) noexcept;

// The program has gone on: into another range, to a mark, or to the next step. `here` is the site of that call.
void lookBetween(uint32_t here) noexcept;

} // namespace msleaks::runtime
