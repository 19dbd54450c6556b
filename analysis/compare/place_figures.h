// A place with its blocks, as two runs are compared: by the names of the source, which other builds and machines share.
#pragma once

#include "analysis/findings/result.h"

#include <cstdint>
#include <string>

namespace msleaks::analysis {

// Blocks of a place. Outside of the user's own code, all places of an image are one, and only `library` is known.
struct PlaceFigures {
  bool own = false;
  std::string file, function, variable, type, callee, library, heap, child;
  uint32_t line = 0, column = 0;
  uint64_t offset = 0; // in the library, of a place without a line
  uint64_t bytes = 0, count = 0;
  uint64_t way = 0; // a number for the functions of all paths to the place; 0 = not all of them are known
};

// `heap`: the heap of the blocks; empty if they may be of several.
PlaceFigures figuresOf(const SiteLine &line, const char *heap);

} // namespace msleaks::analysis
