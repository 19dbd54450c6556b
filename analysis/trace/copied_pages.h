// Pages events about memory that a fork's child has inherited, and that was copied since the fork. They are in the
// collector's stream of the child.
//
// `address` and `size` are a frame of the child's memory, and `touched` the copied bytes in it. `allocated_ns` is the
// number of events that follow in this look. Only frames have events in which the number has changed.
#pragma once

#include "msleaks/abi/sampled_block.h"

#include <cstdint>

namespace msleaks::analysis::inline trace {

// A bit of PagesEvent::at_exit, beside those of sampled_block.h. From kCopiedParentBit on there is the number of the
// process in the trace from which the child was forked.
inline constexpr uint64_t kPagesCopied = 32;
static_assert((kPagesCopied & (abi::kPagesLast | abi::kPagesOfSample | abi::kPagesOfHeap | abi::kPagesOfArena |
                               abi::kPagesOfImages)) == 0);
inline constexpr unsigned kCopiedParentBit = 32;

} // namespace msleaks::analysis::inline trace
