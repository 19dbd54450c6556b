// Watched blocks (msl_watch): their content is kept, and compared around each operation of the program.
#pragma once

#include "msleaks/abi/hook.h"
#include "msleaks/runtime/thread.h"

#include <atomic>

namespace msleaks::runtime {

struct WatchList;

// Whether there may be a watched block: what a callback asks first.
[[gnu::always_inline]] inline bool isWatching() noexcept {
  return __atomic_load_n(&__msl_process.watches, __ATOMIC_RELAXED) != nullptr;
}

// An operation that may change a block. A range of the program is one, too, where no other is under way in its thread.
struct Operation {
  abi::Verb verb; // Launch, Copy, Set or Access
  abi::Family family;
  uint32_t site;
  uint64_t kernel, stream;
};

// The number of the program's last step, and 1; 0 = it has said none.
extern constinit std::atomic<uint64_t> last_step;

// Before the operation begins: what has changed until now, was not it. It lasts until operationEnds, or, where nobody
// sees its end, until the next one.
void operationBegins(const Operation &) noexcept;
void operationEnds() noexcept;

// A range of the program ends, at this site.
void rangeEnds(uint32_t here) noexcept;

// What --watch may name (watch_choice.h).
void blockComes(const abi::AllocEvent &) noexcept;
void blockGoes(const abi::FreeEvent &) noexcept;

// The program is somewhere else now: in another range, at a mark, in the next step. `here`: the site of that call.
void lookBetween(uint32_t here) noexcept;

} // namespace msleaks::runtime
