// A place and the size of its blocks, in the form in which two runs are compared.
#pragma once

#include "analysis/result/result.h"

#include <cstdint>
#include <string>

namespace msleaks::analysis::inline compare {

// A place and its blocks. The place has the names of the source, which are the same in other builds and on other
// machines. Outside of the user's own code, figuresOf() sets only the names `library`, `heap` and `child`.
struct PlaceFigures {
  bool own = false;
  std::string file, function, variable, type, callee, library, heap, child;
  uint32_t line = 0, column = 0;
  uint64_t offset = 0; // offset in the library; only for a place without a file
  uint64_t bytes = 0, count = 0;
  uint64_t way = 0; // a number for the functions of all paths to the place; 0: not all paths are known
};

// `heap` is the heap of the blocks, or empty if blocks of several heaps count.
PlaceFigures figuresOf(const SiteLine &line, const char *heap);

} // namespace msleaks::analysis::inline compare
