// Looks from time to time how much of the C library's heap is resident. A report compares this with the live blocks:
// what malloc keeps of freed blocks is resident, too.
#pragma once

#include "analysis/reach/c_heap.h"
#include "analysis/reach/image_data.h"
#include "msleaks/abi/events.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace msleaks::analysis::inline reach {

class HeapLooks {
public:
  explicit HeapLooks(uint32_t pid) : pid_(pid) {}

  // Whether a look is due. Looks happen at most ten times a second, and less often in an older process. They take at
  // most a fiftieth of the time.
  bool isDue(uint64_t now_ns) const { return now_ns >= next_ns_; }
  // Returns a Pages event for each part of the heap, and one for the data of images, each of two slots. Their time is
  // the end of the look. A small heap has no events, unless the look before had some. After the look at the exit, no
  // look is due.
  const std::vector<abi::Slot> &look(uint64_t now_ns, bool at_exit = false);

private:
  uint64_t residentIn(const HeapPart &) const;

  uint32_t pid_;
  std::optional<ProcessMemory> memory_; // opened at the first look
  ImageData images_;
  uint64_t first_ns_ = 0, next_ns_ = 0;
  bool was_large_ = false; // the look before had events
  std::vector<abi::Slot> events_;
};

} // namespace msleaks::analysis::inline reach
